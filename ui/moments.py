"""Moments as people and programs write them in an address: RFC 3339, `-2h`, or `2h ago`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

AT: Final = "at"
# Older than anything that a cluster can tell, and far enough from where the calendar begins to count back from.
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Seconds by the letter that a unit begins with.
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
# Patterns as the OpenAPI document has them too, so without what Python alone knows.
BACK: Final = "-([0-9]{1,8})([smhdw])"
AGO: Final = (
    "([0-9]{1,8}) ?(s|m|h|d|w|sec|secs|seconds?|min|mins|minutes?|hours?|days?|weeks?) ago"
)
PLAIN: Final = "([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?( UTC)?"
# A plus sign in a URL reads as a blank.
_RFC_3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+\- ]\d\d:\d\d)", re.ASCII
)


class NotAMoment(ValueError):
    """What was written is no moment of the past; the message says what to write."""


def read_time(text: str, *, now: datetime) -> datetime | None:
    """A moment from 1970 on, in any of the ways, before or after `now`; None for everything else."""
    written = " ".join(text.split())
    if back := re.fullmatch(BACK, written) or re.fullmatch(AGO, written.lower()):
        return _back(back, now=now)
    if plain := re.fullmatch(PLAIN, written):
        # As people write it and as browsers send it from a field for a time; without a zone it is UTC.
        return _read(f"{plain[1]}T{plain[2]}{plain[3] or ':00'}+00:00")
    if _RFC_3339.fullmatch(written):
        return _read(written.upper().replace(" ", "+"))
    return None


def read_moment(text: str, *, now: datetime) -> datetime:
    """A moment before `now`, in any of the ways; raises NotAMoment."""
    moment = read_time(text, now=now)
    if moment is None:
        message = _("“%(text)s” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z.")
        raise NotAMoment(message % {"text": text})
    if moment > now:
        message = _("%(text)s is in the future. Write a time before now, such as 2h ago.")
        raise NotAMoment(message % {"text": text})
    return moment


def moment_text(at: datetime) -> str:
    """The moment as an address has it, which `read_moment` takes back as the same."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _back(match: re.Match[str], *, now: datetime) -> datetime | None:
    try:
        return _not_too_early(now - timedelta(seconds=int(match[1]) * UNITS[match[2][0]]))
    except OverflowError:
        return None


def _read(text: str) -> datetime | None:
    try:
        return _not_too_early(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _not_too_early(moment: datetime) -> datetime | None:
    return moment.astimezone(UTC) if moment >= EARLIEST else None
