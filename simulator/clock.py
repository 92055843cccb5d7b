"""Simulated time: it moves only when it is stepped, so that whatever happens can be repeated."""

import heapq
import itertools
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Action = Callable[[], None]


class Schedule:
    """A clock and what is due on it. Actions run in order of their time, then of their making."""

    def __init__(self, start: datetime) -> None:
        self._start = start.astimezone(UTC)
        self._elapsed = 0.0
        self._due: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()
        self._lock = threading.RLock()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def stamp(self) -> str:
        """Now, as Kubernetes writes moments: whole seconds, UTC."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def after(self, seconds: float, action: Action) -> None:
        with self._lock:
            heapq.heappush(self._due, (self._elapsed + seconds, next(self._numbers), action))

    def every(self, seconds: float, action: Action) -> None:
        def again() -> None:
            action()
            self.after(seconds, again)

        self.after(seconds, again)

    def step(self, seconds: float) -> None:
        """Let time pass, and do what falls due meanwhile at the moment it is due."""
        with self._lock:
            end = self._elapsed + seconds
            while self._due and self._due[0][0] <= end:
                moment, _, action = heapq.heappop(self._due)
                self._elapsed = max(self._elapsed, moment)
                action()
            self._elapsed = end
