"""Lists and watches as events, with memory for one object at a time."""

from __future__ import annotations

from collections.abc import Iterator

from kube.connect import Connection
from kube.kinds import ServedResource
from kube.objects import Bookmark, InitialDone, Seen

__all__ = [
    "Bookmark",
    "InitialDone",
    "Seen",
    "is_from_the_future",
    "read_initial",
    "watch_window",
]


def read_initial(
    connection: Connection,
    served: ServedResource,
    *,
    prefer_watchlist: bool = True,
    timeout_seconds: float = 300.0,
    window_seconds: float = 0.0,
) -> Iterator[Seen | Bookmark | InitialDone]:
    raise NotImplementedError


def watch_window(
    connection: Connection,
    served: ServedResource,
    *,
    resource_version: str,
    timeout_seconds: int,
    field_selector: str = "",
) -> Iterator[Seen | Bookmark]:
    raise NotImplementedError


def is_from_the_future(
    connection: Connection, served: ServedResource, resource_version: str
) -> bool:
    raise NotImplementedError
