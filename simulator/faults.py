"""Errors on demand: what goes wrong, for which requests, how often or how long."""

import re
import threading
import time
from dataclasses import dataclass
from typing import Final, Literal, get_args

from simulator import statuses

How = Literal["reset", "hang", "garble", "truncate", "stall", "slow"]

_WAYS: Final = frozenset(get_args(How))


@dataclass(slots=True)
class Fault:
    """One way in which answers go wrong.

    reset: the connection is reset before an answer. hang: no answer ever. garble: bytes in the middle are not JSON.
    truncate: the connection closes in the middle of the body. stall: the body stops in the middle, and the connection
    stays open. slow: the body comes at so many bytes a second. A number is an HTTP status.
    """

    pattern: re.Pattern[str]
    how: int | How
    method: str | None
    times: int | None
    until: float | None
    after_bytes: int
    bytes_per_second: float

    def applies(self, method: str, target: str) -> bool:
        if self.method not in {None, method} or self.times == 0:
            return False
        if self.until is not None and time.monotonic() > self.until:
            return False
        return self.pattern.search(target) is not None

    def refusal(self) -> statuses.Refusal | None:
        """The answer, when this fault is an HTTP status."""
        if not isinstance(self.how, int):
            return None
        made = {
            401: statuses.unauthorized,
            404: statuses.not_served,
            405: statuses.method_not_allowed,
            406: statuses.not_acceptable,
            410: statuses.list_version_expired,
            415: statuses.unsupported_media_type,
            429: statuses.too_many_requests,
            500: statuses.internal_error,
        }.get(self.how)
        return made() if made else statuses.unavailable(self.how)


class Faults:
    """All faults that are armed. The first that applies to a request is used."""

    def __init__(self) -> None:
        self._armed: list[Fault] = []
        self._lock = threading.Lock()

    def arm(
        self,
        path_pattern: str,
        how: int | How,
        *,
        method: str | None = None,
        times: int | None = None,
        seconds: float | None = None,
        after_bytes: int = 200,
        bytes_per_second: float = 0.0,
    ) -> Fault:
        """Without `times` and `seconds`: the next request only. `path_pattern` is searched in path and query."""
        if not isinstance(how, int) and how not in _WAYS:
            message = f"unknown fault {how!r}: an HTTP status or one of {sorted(_WAYS)}"
            raise ValueError(message)
        if times is None and seconds is None:
            times = 1
        fault = Fault(
            pattern=re.compile(path_pattern),
            how=how,
            method=method,
            times=times,
            until=None if seconds is None else time.monotonic() + seconds,
            after_bytes=after_bytes,
            bytes_per_second=bytes_per_second,
        )
        with self._lock:
            self._armed.append(fault)
        return fault

    def disarm(self) -> None:
        with self._lock:
            self._armed.clear()

    def take(self, method: str, target: str) -> Fault | None:
        """The fault for this request, used up by one."""
        with self._lock:
            for fault in self._armed:
                if fault.applies(method, target):
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None
