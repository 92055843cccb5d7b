"""Query parameters of the API: refuses what it does not know, and says what to write."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _
from msgspec import UNSET

from api.problems import InvalidParameters
from dra.shapes import ParameterError
from ui.moments import AT, UNITS, NotAMoment, read_moment, read_time
from ui.paging import MAX_PAGE_SIZE
from ui.parameters import Refusal

DEFAULT_LIMIT = 100
LONGEST_CURSOR = 2000

# As the OpenAPI document has it too.
DURATION = "([0-9]{1,8})([smhdw]?)"


class Parameters:
    """Reads parameters one by one and gathers what is wrong; `check` raises it all at once."""

    def __init__(self, given: QueryDict, *, allowed: Sequence[str]) -> None:
        unknown = [name for name in given if name not in allowed]
        if unknown:
            message = _("There is no such parameter here.")
            problems = [ParameterError(parameter=name, message=message) for name in unknown]
            raise InvalidParameters(problems, allowed=allowed)
        self._given = given
        self._problems = [
            ParameterError(
                parameter=name, message=_("Give it a value, or leave the parameter out.")
            )
            for name, values in given.lists()
            if "" in values
        ]

    def check(self) -> None:
        if self._problems:
            raise InvalidParameters(self._problems)

    def refuse(self, parameter: str, message: str, *, allowed: Sequence[str] = ()) -> None:
        said = ParameterError(parameter=parameter, message=message, allowed=allowed or UNSET)
        self._problems.append(said)

    def take(self, problems: Sequence[Refusal]) -> None:
        """Add what a filter of the pages could not read, but for what is refused already."""
        refused = {each.parameter for each in self._problems}
        for each in problems:
            if each.param not in refused:
                self.refuse(each.param, each.message, allowed=each.allowed)

    def one(self, name: str) -> str | None:
        values = self._given.getlist(name)
        if len(values) > 1:
            self.refuse(name, _("Give this parameter once."))
            return None
        return values[0] if values else None

    def flag(self, name: str) -> None:
        """Refuse what is neither true nor false; `any` is what the pages send where false is the default."""
        text = self.one(name)
        if text not in {None, "", "true", "false", "any"}:
            self.refuse(name, _("Write true or false, not “%(value)s”.") % {"value": text})

    def limit(self) -> int | None:
        text = self.one("limit")
        if not text:
            return None
        is_number = re.fullmatch("[0-9]{1,4}", text)
        if is_number and 1 <= int(text) <= MAX_PAGE_SIZE:
            return int(text)
        self.refuse("limit", _("Write a number from 1 to %(most)s.") % {"most": MAX_PAGE_SIZE})
        return None

    def cursor(self) -> str | None:
        text = self.one("cursor")
        if text and len(text) > LONGEST_CURSOR:
            self.refuse_cursor()
            return None
        return text or None

    def refuse_cursor(self) -> None:
        self.refuse(
            "cursor",
            _(
                "Take it from `next` or `previous` of an answer to this list, with its filters and order."
            ),
        )

    def ordering(self, words: Sequence[str], *, default: str) -> str:
        if "ordering" in self._given and "sort" in self._given:
            self.refuse("sort", _("This is another word for `ordering`; give one of them."))
        name = "ordering" if "ordering" in self._given else "sort"
        text = self.one(name)
        if not text:
            return default
        if text.removeprefix("-") in words:
            return text
        known = {"known": ", ".join(words)}
        self.refuse(name, _("Write one of %(known)s, or the same after a minus.") % known)
        return default

    def moment(self, name: str, *, now: datetime, default: datetime) -> datetime:
        """A time in any of the ways of `at`, also one after now."""
        text = self.one(name)
        if not text:
            return default
        moment = read_time(text, now=now)
        if moment is None:
            self.refuse(name, _("Write a time such as 2026-03-01T12:00:00Z, -24h, or 7d ago."))
        return moment or default

    def at(self, *, now: datetime) -> datetime | None:
        """The moment of the past that is asked for; None: now."""
        text = self.one(AT)
        if not text:
            return None
        try:
            moment = read_moment(text, now=now)
        except NotAMoment as error:
            self.refuse(AT, str(error))
            return None
        days = settings.DRADASH.retention_days
        if moment < now - timedelta(days=days):
            message = _("Everything is kept for %(days)s days. Write a later time.")
            self.refuse(AT, message % {"days": days})
        return moment

    def step(self) -> timedelta | None:
        text = self.one("step")
        if not text:
            return None
        match = re.fullmatch(DURATION, text)
        seconds = int(match[1]) * UNITS[match[2] or "s"] if match else 0
        if not 1 <= seconds <= 366 * 86_400:
            self.refuse("step", _("Write seconds, or a duration such as 5m, 1h or 1d."))
            return None
        return timedelta(seconds=seconds)


def filter_values(given: QueryDict) -> Mapping[str, Sequence[str]]:
    """The parameters in the form that the pages' filters read."""
    return {name: given.getlist(name) for name in given}
