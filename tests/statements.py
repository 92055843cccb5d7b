"""Statements as Postgres gets them, whichever cursor sends them; Django counts those of its own alone."""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Iterator

# As libpq traces what it sends: a statement at once, or one that was prepared.
_SENT = re.compile(r"^F\t\d+\t(?:Query|Execute)\t", re.MULTILINE)


@contextmanager
def sent_statements() -> Iterator[list[str]]:
    """A list with one entry for each, filled when the block ends."""
    connection.ensure_connection()
    found: list[str] = []
    with tempfile.TemporaryFile("w+") as trace:
        pgconn = connection.connection.pgconn
        pgconn.trace(trace.fileno())
        pgconn.set_trace_flags(1)
        try:
            yield found
        finally:
            pgconn.untrace()
        trace.seek(0)
        found += _SENT.findall(trace.read())
