"""Who works on what at this moment, in Postgres: a lease names its holder, and runs out unless it is renewed.

A lease needs no connection while it is held, which a session's advisory lock does. It keeps two workers from doing the same work
twice; what makes that harmless, should it happen, are the cursors (`clusters.services.lock_kinds`). All times are those of Postgres,
so that the clocks of several hosts need not agree.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Final

from django.db import connection
from django.db.utils import Error as DatabaseError

from ingest.database import give_back

if TYPE_CHECKING:
    from collections.abc import Iterator

# For how long a lease is renewed each time, and how long before its end.
LEASE_SECONDS: Final = 30.0
_RENEWED_BEFORE_SECONDS: Final = 12.0
_LOOK_SECONDS: Final = 4.0

_TAKE: Final = """
INSERT INTO clusters_lease AS l (name, holder, token, expires_at)
VALUES (%s, %s, %s, clock_timestamp() + make_interval(secs => %s))
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, token = excluded.token, expires_at = excluded.expires_at
WHERE l.expires_at <= clock_timestamp()
RETURNING 1
"""
_RENEW: Final = """
UPDATE clusters_lease SET expires_at = clock_timestamp() + make_interval(secs => %s)
WHERE token = %s AND name = ANY(%s)
RETURNING name
"""
_END: Final = """
UPDATE clusters_lease SET expires_at = clock_timestamp() WHERE token = %s AND name = %s
"""
_END_OF_PREDECESSOR: Final = """
UPDATE clusters_lease SET expires_at = clock_timestamp()
WHERE holder = %s AND token <> %s AND expires_at > clock_timestamp()
"""


class Holder:
    """One process that takes leases; a thread of its own renews those that it holds for long."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._token = uuid.uuid4()
        self._lock = threading.Lock()
        # When each lease that is held runs out, by the clock of this process.
        self._ends: dict[str, float] = {}
        self._renewer: threading.Thread | None = None

    def replace_predecessor(self) -> None:
        """A process of this name that was killed cannot give back what it held."""
        with connection.cursor() as cursor:
            cursor.execute(_END_OF_PREDECESSOR, [self.name, self._token])
        give_back()

    @contextmanager
    def held(self, name: str, *, seconds: float = LEASE_SECONDS) -> Iterator[bool]:
        """Whether the lease is ours; then it stays so until the block ends, however long it takes."""
        is_ours = self.take(name, seconds=seconds)
        try:
            yield is_ours
        finally:
            if is_ours:
                self.end(name)

    def take(self, name: str, *, seconds: float = LEASE_SECONDS) -> bool:
        """Take a lease that nobody has; whether that succeeded."""
        asked = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute(_TAKE, [name, self.name, self._token, seconds])
            is_ours = cursor.fetchone() is not None
        give_back()
        if is_ours:
            with self._lock:
                self._ends[name] = asked + seconds
                self._start_renewing()
        return is_ours

    def end(self, name: str) -> None:
        """Give a lease back. Where the database is away it runs out by itself."""
        with self._lock:
            self._ends.pop(name, None)
        with suppress(DatabaseError):
            with connection.cursor() as cursor:
                cursor.execute(_END, [self._token, name])
            give_back()

    def end_all(self) -> None:
        """Give back whatever this process holds."""
        for name in list(self._ends):
            self.end(name)

    def holds(self, name: str) -> bool:
        """Whether a lease that was taken has not run out, as far as this process knows."""
        with self._lock:
            return self._ends.get(name, 0.0) > time.monotonic()

    def renew(self, *, within_seconds: float = _RENEWED_BEFORE_SECONDS) -> None:
        """Renew what would run out within so many seconds, all in one statement. What another has taken meanwhile is ours no more."""
        asked = time.monotonic()
        with self._lock:
            due = [name for name, end in self._ends.items() if end - asked < within_seconds]
        if not due:
            return
        with connection.cursor() as cursor:
            cursor.execute(_RENEW, [LEASE_SECONDS, self._token, due])
            renewed = {name for (name,) in cursor.fetchall()}
        give_back()
        end = asked + LEASE_SECONDS
        with self._lock:
            self._ends |= {name: end for name in renewed if name in self._ends}
            for name in set(due) - renewed:
                self._ends.pop(name, None)

    def _start_renewing(self) -> None:
        if self._renewer is None or not self._renewer.is_alive():
            self._renewer = threading.Thread(
                target=self._keep_renewing, name="renew leases", daemon=True
            )
            self._renewer.start()

    def _keep_renewing(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            with self._lock:
                if not self._ends:
                    self._renewer = None
                    break
            with suppress(DatabaseError):
                self.renew()
            connection.close()


@cache
def holder() -> Holder:
    """That of this process, under a name that nobody else has."""
    return Holder(f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}")


def begin_as(name: str) -> None:
    """This process is the worker of that name, and takes the place of one that had it before."""
    holder().name = name
    holder().replace_predecessor()


def held_names(prefix: str) -> set[str]:
    """The leases of this prefix that somebody holds, without it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM clusters_lease"
            " WHERE starts_with(name, %s) AND expires_at > clock_timestamp()",
            [prefix],
        )
        held = {name.removeprefix(prefix) for (name,) in cursor.fetchall()}
    give_back()
    return held
