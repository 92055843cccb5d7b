"""When a thread lets go of its connection to Postgres."""

from __future__ import annotations

from django.db import connection


def give_back() -> None:
    """Return this thread's connection to the pool, so that nobody holds one while waiting for something else.

    Where connections are not pooled they stay open, and within a transaction there is nothing to return yet.
    """
    is_pooled = bool(connection.settings_dict["OPTIONS"].get("pool"))
    if is_pooled and not connection.in_atomic_block:
        connection.close()
