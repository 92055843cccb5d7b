"""Time limits for whole answers, all kept by one thread: a thread for each of a thousand open watches would cost more than the watches."""

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable

import urllib3


class Watchdog:
    """Cuts a response off when its time is up, however slowly bytes still drip in.

    A socket timeout alone starts anew with every byte.
    """

    def __init__(self, seconds: float) -> None:
        self.has_fired = False
        self._response: urllib3.BaseHTTPResponse | None = None
        self._seconds = seconds
        self._alarm: _Alarm | None = None

    def guard(self, response: urllib3.BaseHTTPResponse) -> None:
        """Start the clock for this response."""
        self._response = response
        self.restart(self._seconds)

    def restart(self, seconds: float) -> None:
        """From now on, `seconds` more."""
        self.cancel()
        self._alarm = _clock.set(seconds, self._fire)

    def cancel(self) -> None:
        """Stop the clock."""
        if self._alarm is not None:
            _clock.cancel(self._alarm)
            self._alarm = None

    def cut(self) -> None:
        """End the response now, from any thread."""
        if self._response is not None:
            try:
                self._response.shutdown()
            except (OSError, ValueError, RuntimeError):
                return  # the response had just ended

    def _fire(self) -> None:
        self.has_fired = True
        self.cut()


class _Alarm:
    """A call at a moment; without one it was cancelled."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call


class _Clock:
    """Calls what is due. Its thread runs while there is anything to wait for, and for a while after."""

    _PATIENCE_SECONDS = 60.0

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        self._changed = threading.Condition()
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, _Alarm]] = []
        self._cancelled = 0
        self._thread: threading.Thread | None = None

    def set(self, seconds: float, call: Callable[[], None]) -> _Alarm:
        alarm = _Alarm(call)
        entry = (time.monotonic() + seconds, next(self._order), alarm)
        with self._changed:
            heapq.heappush(self._waiting, entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                self._thread.start()
            elif self._waiting[0] is entry:
                self._changed.notify()
        return alarm

    def cancel(self, alarm: _Alarm) -> None:
        """Nearly every alarm is cancelled, so those are swept out when they are the most."""
        with self._changed:
            if alarm.call is None:
                return
            alarm.call = None
            self._cancelled += 1
            if self._cancelled > len(self._waiting) // 2:
                self._waiting = [entry for entry in self._waiting if entry[2].call is not None]
                heapq.heapify(self._waiting)
                self._cancelled = 0

    def _run(self) -> None:
        while (due := self._next()) is not None:
            due()

    def _next(self) -> Callable[[], None] | None:
        """What is due, once it is; None when nothing has been waited for in a while."""
        with self._changed:
            while True:
                if not self._waiting:
                    if not self._changed.wait(self._PATIENCE_SECONDS) and not self._waiting:
                        self._thread = None
                        return None
                    continue
                at, _, alarm = self._waiting[0]
                if (left := at - time.monotonic()) > 0:
                    self._changed.wait(left)
                    continue
                heapq.heappop(self._waiting)
                call, alarm.call = alarm.call, None
                if call is not None:
                    return call
                self._cancelled -= 1


_clock = _Clock()
# A forked process has none of its parent's threads, and perhaps a lock that nobody gives back.
os.register_at_fork(after_in_child=_clock.begin_anew)
