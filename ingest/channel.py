"""A queue from readers to the writer, bounded by the bytes that wait in it."""

from __future__ import annotations

import threading
from collections import deque

from ingest.messages import EventArrived, Message


class Closed(Exception):
    """The writer takes no more; the reader ends."""


class Channel:
    """Readers wait while more than `most_bytes` are under way, so a large list never piles up in memory."""

    def __init__(self, *, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._messages: deque[Message] = deque()
        self._changed = threading.Condition()
        self._is_closed = False

    def put(self, message: Message) -> None:
        """Raises Closed once the writer has given up."""
        size = message.size if isinstance(message, EventArrived) else 0
        with self._changed:
            # One message always passes, however large.
            while self._bytes and self._bytes + size > self._most_bytes and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                raise Closed
            self._bytes += size
            self._messages.append(message)
            self._changed.notify_all()

    def get(self, *, timeout: float) -> Message | None:
        """The next message; None when none came in time, or when it is closed and none is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._messages or self._is_closed, timeout)
            if not self._messages:
                return None
            message = self._messages.popleft()
            if isinstance(message, EventArrived):
                self._bytes -= message.size
                self._changed.notify_all()
            return message

    def close(self) -> None:
        """Wake everybody who waits; readers end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether the writer has given up."""
        return self._is_closed
