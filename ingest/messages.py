"""What readers tell the writer, in the order in which it happened to each kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusters.services import KindFailure
    from dra.catalogue import Statement
    from objects.services.log import NewEvent


@dataclass(frozen=True, slots=True)
class ReadingBegan:
    """A full read of a kind has begun."""

    kind: str


@dataclass(frozen=True, slots=True)
class EventArrived:
    """What was said of an object, which may be news; `resource_version` is where a watch goes on, None within a full read."""

    kind: str
    event: NewEvent
    resource_version: str | None

    @property
    def size(self) -> int:
        """Bytes that it holds in memory, roughly."""
        return len(self.event.content)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many objects a full read has met so far."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class CursorMoved:
    """A watch has come to this resourceVersion without an object that may be news."""

    kind: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class ReadingDone:
    """A full read has met everything that there is, by uid; `missing` are ids of objects it did not meet."""

    kind: str
    resource_version: str
    api_version: str
    seen: frozenset[str]
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CursorLost:
    """Everything of the kind must be read anew. The reader waits until what it told before is stored."""

    kind: str
    reason: str
    failure: Statement | None
    is_stored: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class WindowEnded:
    """A watch ended as agreed: what was told is what the server has."""

    kind: str


@dataclass(frozen=True, slots=True)
class ReadFailed:
    """The kind cannot be read now; its reader has given up."""

    kind: str
    failure: KindFailure


@dataclass(frozen=True, slots=True)
class ReaderCrashed:
    """A bug: the writer raises it."""

    kind: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class ReaderEnded:
    """The reader's thread is over; nothing of the kind comes after this."""

    kind: str


Message = (
    ReadingBegan
    | EventArrived
    | Counted
    | CursorMoved
    | ReadingDone
    | CursorLost
    | WindowEnded
    | ReadFailed
    | ReaderCrashed
    | ReaderEnded
)
