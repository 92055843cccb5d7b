"""Moments as people and programs write them in an address: RFC 3339, `-2h`, or `2h ago`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

AT: Final = "at"
# Older than anything that a cluster can tell, and far enough from where the calendar begins to count back from.
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BACK: Final = re.compile(r"-(?P<count>[0-9]{1,8})(?P<unit>[smhdw])")
_AGO: Final = re.compile(
    r"(?P<count>[0-9]{1,8})\s*"
    r"(?P<unit>s|m|h|d|w|sec|secs|seconds?|min|mins|minutes?|hours?|days?|weeks?)\s+ago"
)
# A plus sign in a URL reads as a blank.
_RFC_3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+\- ]\d\d:\d\d)", re.ASCII
)
# As people write it and as browsers send it from a field for a time; without a zone it is UTC.
_PLAIN: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?( UTC)?", re.ASCII)


class NotAMoment(ValueError):
    """What was written is no moment of the past; the message says what to write."""


def read_time(text: str, *, now: datetime) -> datetime | None:
    """RFC 3339 with a zone, or `-24h` counted back from `now`, from 1970 on; None for everything else."""
    if back := _BACK.fullmatch(text):
        return _back(back, now=now)
    if not _RFC_3339.fullmatch(text):
        return None
    try:
        return _not_too_early(datetime.fromisoformat(text.upper().replace(" ", "+")))
    except (ValueError, OverflowError):
        return None


def read_moment(text: str, *, now: datetime) -> datetime:
    """A moment before `now`, in any of the ways; raises NotAMoment."""
    written = " ".join(text.split())
    found = _ago(written, now=now) or _plain(written) or read_time(written, now=now)
    if found is None:
        message = _("“%(text)s” is no time. Write 2h ago, -2h, or 2026-03-01T12:00:00Z.")
        raise NotAMoment(message % {"text": text})
    if found > now:
        message = _("%(text)s is in the future. Write a time before now, such as 2h ago.")
        raise NotAMoment(message % {"text": text})
    return found


def moment_text(at: datetime) -> str:
    """The moment as an address has it, which `read_moment` takes back as the same."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _ago(text: str, *, now: datetime) -> datetime | None:
    found = _AGO.fullmatch(text.lower())
    return _back(found, now=now) if found else None


def _back(found: re.Match[str], *, now: datetime) -> datetime | None:
    try:
        return _not_too_early(
            now - timedelta(seconds=int(found["count"]) * _UNITS[found["unit"][0]])
        )
    except OverflowError:
        return None


def _plain(text: str) -> datetime | None:
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    try:
        return _not_too_early(
            datetime.fromisoformat(f"{found[1]}T{found[2]}{found[3] or ':00'}+00:00")
        )
    except ValueError:
        return None


def _not_too_early(found: datetime) -> datetime | None:
    return found.astimezone(UTC) if found >= EARLIEST else None
