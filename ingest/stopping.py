"""How this process ends within moments, whatever its threads wait for: nothing has to be finished first."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_lock: Final = threading.Lock()
_stops: Final[list[Callable[[], None]]] = []
_is_stopping: Final = threading.Event()


@contextmanager
def stopped_by(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block, `stop` is called from another thread when the process is to end; at once if it ends already."""
    with _lock:
        _stops.append(stop)
        if _is_stopping.is_set():
            stop()
    try:
        yield
    finally:
        with _lock:
            _stops.remove(stop)


def stop_all() -> None:
    """Stop everything in this process, and let nothing begin any more."""
    with _lock:
        _is_stopping.set()
        for stop in _stops:
            stop()


def begin_anew() -> None:
    """Undo `stop_all`, for a process that goes on."""
    _is_stopping.clear()


def is_stopping() -> bool:
    """Whether this process ends."""
    return _is_stopping.is_set()


def pause(seconds: float) -> bool:
    """Sleep, unless the process ends; whether it goes on."""
    return not _is_stopping.wait(seconds)
