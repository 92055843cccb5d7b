"""Query parameters of the API: refuses what it does not know, and says what to write."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.http import QueryDict
from django.utils.translation import gettext as _

from api.problems import InvalidParameters, ParameterProblem
from pools.filters import FilterProblem
from ui.paging import MAX_PAGE_SIZE

DEFAULT_LIMIT = 100
LONGEST_CURSOR = 2000

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,8})([smhd]?)")
_RELATIVE = re.compile(r"-([0-9]{1,8})([smhd])")
# A plus sign in a URL reads as a blank.
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+\- ]\d\d:\d\d)", re.ASCII
)


class Parameters:
    """Reads parameters one by one and gathers what is wrong; `check` raises it all at once."""

    def __init__(self, given: QueryDict, *, allowed: Sequence[str]) -> None:
        unknown = [name for name in given if name not in allowed]
        if unknown:
            message = _("There is no such parameter here.")
            problems = [ParameterProblem(name, message) for name in unknown]
            raise InvalidParameters(problems, allowed=allowed)
        self._given = given
        self._problems: list[ParameterProblem] = []

    def check(self) -> None:
        if self._problems:
            raise InvalidParameters(self._problems)

    def refuse(self, parameter: str, message: str) -> None:
        self._problems.append(ParameterProblem(parameter, message))

    def take(self, problems: Sequence[FilterProblem]) -> None:
        """Add what a filter of the pages could not read."""
        for each in problems:
            self.refuse(each.param, each.message)

    def one(self, name: str) -> str | None:
        values = self._given.getlist(name)
        if len(values) > 1:
            self.refuse(name, _("Give this parameter once."))
            return None
        return values[0] if values else None

    def limit(self) -> int | None:
        text = self.one("limit")
        if text is None:
            return None
        is_number = re.fullmatch("[0-9]{1,4}", text)
        if is_number and 1 <= int(text) <= MAX_PAGE_SIZE:
            return int(text)
        self.refuse("limit", _("Write a number from 1 to %(most)s.") % {"most": MAX_PAGE_SIZE})
        return None

    def cursor(self) -> str | None:
        text = self.one("cursor")
        if text is not None and not 0 < len(text) <= LONGEST_CURSOR:
            self.refuse_cursor()
            return None
        return text

    def refuse_cursor(self) -> None:
        self.refuse("cursor", _("Take it from `next` or `previous` of an answer to this list."))

    def ordering(self, words: Sequence[str], *, default: str) -> str:
        name = "ordering" if "ordering" in self._given else "sort"
        text = self.one(name)
        if text is None:
            return default
        if text.removeprefix("-") in words:
            return text
        known = {"known": ", ".join(words)}
        self.refuse(name, _("Write one of %(known)s, or the same after a minus.") % known)
        return default

    def moment(self, name: str, *, now: datetime, default: datetime) -> datetime:
        """RFC 3339 with a zone, or `-24h` counted back from now."""
        text = self.one(name)
        if text is None:
            return default
        found = _read_moment(text, now=now)
        if found is None:
            self.refuse(name, _("Write a time such as 2026-03-01T12:00:00Z, or -24h or -7d."))
        return found or default

    def step(self) -> timedelta | None:
        text = self.one("step")
        if text is None:
            return None
        match = _DURATION.fullmatch(text)
        seconds = int(match[1]) * _UNITS[match[2] or "s"] if match else 0
        if not 1 <= seconds <= 366 * 86_400:
            self.refuse("step", _("Write seconds, or a duration such as 5m, 1h or 1d."))
            return None
        return timedelta(seconds=seconds)


def _read_moment(text: str, *, now: datetime) -> datetime | None:
    if match := _RELATIVE.fullmatch(text):
        try:
            return now - timedelta(seconds=int(match[1]) * _UNITS[match[2]])
        except OverflowError:
            return None
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper().replace(" ", "+")).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def filter_values(given: QueryDict) -> Mapping[str, Sequence[str]]:
    """The parameters in the form that the pages' filters read."""
    return {name: given.getlist(name) for name in given}
