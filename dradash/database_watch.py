"""Lets go of a Postgres that went silent in the middle of a request: frozen, or behind a network that drops everything.

Postgres enforces its own time limits, so they end nothing when it does not run at all; and a socket has no limit that
holds for unix sockets too.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

SILENT_SECONDS = 3.0
CONNECT_SECONDS = 2


@contextmanager
def watched_database(alias: str = "default", *, seconds: float = SILENT_SECONDS) -> Iterator[None]:
    """While the block runs: every `seconds`, find out whether Postgres still takes connections, and cut ours when not.

    A query that is only slow goes on. What waits for a cut connection gets an OperationalError.
    """
    watch = _Watch(connections[alias], seconds=seconds)
    threading.Thread(target=watch.run, name="database watch", daemon=True).start()
    try:
        yield
    finally:
        watch.end()


class _Watch:
    def __init__(self, wrapper: BaseDatabaseWrapper, *, seconds: float) -> None:
        self._wrapper = wrapper
        self._seconds = seconds
        self._is_over = threading.Event()
        # The connection is not cut when it serves the next request already.
        self._lock = threading.Lock()

    def run(self) -> None:
        while not self._is_over.wait(self._seconds):
            if _is_silent(self._wrapper.get_connection_params()):
                self._cut()

    def end(self) -> None:
        with self._lock:
            self._is_over.set()

    def _cut(self) -> None:
        with self._lock:
            opened: psycopg.Connection[Any] | None = self._wrapper.connection
            if self._is_over.is_set() or opened is None or opened.closed:
                return
            with socket.socket(fileno=os.dup(opened.fileno())) as copy:
                copy.shutdown(socket.SHUT_RDWR)


def _is_silent(parameters: dict[str, Any]) -> bool:
    """Neither a connection nor a refusal: a server that refuses, or is gone, ends its connections itself."""
    try:
        psycopg.connect(**parameters | {"connect_timeout": CONNECT_SECONDS}).close()
    except psycopg.errors.ConnectionTimeout:
        return True
    except psycopg.Error:
        return False
    return False
