"""A list, declared once: what it can be asked for, its orders, its columns and its query.

The page, its live part, the filter box, the API, CSV, OpenAPI and the reference of filters read it (docs/adding-a-list.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from ui.filter_box import split_texts
from ui.moments import AT
from ui.paging import order_columns
from ui.parameters import Box, Match, Parameter, Params, Refusal, Text, not_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.utils.functional import Promise
    from msgspec import Struct

    from ui.lists import Column
    from ui.snapshot import Snapshot

M = TypeVar("M", bound=Model)
W = TypeVar("W")

# Parameters of a page that filter nothing.
PAGE_PARAMETERS: Final = ("sort", "cursor", AT)

NUL: Final = "\0"
REPLACEMENT: Final = "\ufffd"
# What compares, before what names a filter: an attribute's value may have a colon in it.
_COMPARES: Final = re.compile(r"[^<>=!\s]+\s*(?:>=|<=|!=|=|>|<).*", re.DOTALL)
# What is left of a comparison that was written with blanks.
_SIGN: Final = re.compile(r"[<>=]")


@dataclass(frozen=True, slots=True)
class Read(Generic[W]):
    """What a URL asks for, made of what could be read, and what could not."""

    wanted: W
    problems: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[M, W]):
    """One list. `wanted` is the class of its filter value, whose members the parameters fill."""

    # Id of its element on the page: "pool-list".
    id: str
    title: Promise | str
    # What a row is, in the plural.
    noun: Promise | str
    # The subject whose revision tells whether it has changed.
    subject: str
    wanted: type[W]
    parameters: tuple[Parameter, ...]
    # Columns of the query by the word in the URL; each ends in what makes it unique.
    orders: Mapping[str, tuple[str, ...]]
    default_order: str
    columns: tuple[Column, ...]
    query: Callable[[Snapshot, W], QuerySet[M]]
    # What a row is for programs: in JSON, as columns of CSV, and in the OpenAPI document.
    shape: type[Struct]
    # Name of the URL of the same list in the API.
    api_url: str
    # The template of its rows, under templates/rows.
    rows: str
    placeholder: Promise | str = ""
    # Other subjects, where its rows show something of them as well.
    also_subjects: tuple[str, ...] = ()
    # Columns of the query that no row of the page shows, and which are not fetched for it.
    unshown: tuple[str, ...] = ()
    # How many rows match, where something cheaper than the query can tell.
    count: Callable[[Snapshot, W], int] | None = None
    # Parameters of the page beside filters, sort and cursor.
    page_parameters: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the filters, in the order of their declaration."""
        return tuple(each.name for each in self.parameters)

    def read(self, params: Params) -> Read[W]:
        """What `params` ask for, parameters of other things left alone. `absent` belongs to it."""
        reading = _Reading(self.parameters, params)
        return Read(self.wanted(**reading.values()), tuple(reading.problems))

    def absent(self, snapshot: Snapshot, wanted: W) -> tuple[Refusal, ...]:
        """Values that are a mistake since nothing in the database has them; asks it only where such a value is given."""
        problems = []
        for each in self.parameters:
            if isinstance(each, Text) and each.offered:
                given = [text for text in getattr(wanted, each.field) if text not in each.special]
                known = (*each.special, *each.offered(snapshot)) if given else ()
                problems += [
                    Refusal(each.name, not_one_of(text, known), known)
                    for text in given
                    if text not in known
                ]
        return tuple(problems)

    def unknown(self, params: Params) -> tuple[Refusal, ...]:
        """Parameters of a page's address that this list does not have."""
        allowed = (*self.names, *PAGE_PARAMETERS, *self.page_parameters)
        message = _("There is no such filter here; there are: %(names)s.")
        words = {"names": ", ".join(self.names)}
        return tuple(Refusal(name, message % words) for name in params if name not in allowed)

    def order(self, word: str) -> tuple[str, ...]:
        """Columns to sort by; `order_problem` refuses the words that have none."""
        return order_columns(self.orders, word)

    def order_problem(self, word: str) -> Refusal | None:
        """Why the list cannot be sorted by this word."""
        if word.removeprefix("-") in self.orders:
            return None
        message = _("Write one of %(known)s, or the same after a minus.")
        return Refusal("sort", message % {"known": ", ".join(self.orders)})


class _Reading:
    """Takes parameters one by one and gathers what is wrong with them."""

    def __init__(self, parameters: Sequence[Parameter], params: Params) -> None:
        self.problems: list[Refusal] = []
        self._parameters = parameters
        self._box = next((each for each in parameters if isinstance(each, Box)), None)
        self._texts = {
            each.name: [
                self._without_nul(each.name, text) for text in params.get(each.name, ()) if text
            ]
            for each in parameters
        }
        self._compared: list[str] = []
        if self._box:
            self._open_box(self._box)

    def values(self) -> dict[str, Any]:
        """By member of the filter value. What several parameters say of one member is put together."""
        by_field: dict[str, Any] = {}
        for each in self._parameters:
            texts = self._texts[each.name]
            self._add(by_field, each, texts, name=each.name)
        if self._box and self._box.match:
            self._add(by_field, self._box.match, self._compared, name=self._box.name)
        return by_field

    def _add(
        self, by_field: dict[str, Any], parameter: Parameter, texts: Sequence[str], *, name: str
    ) -> None:
        value = parameter.read(
            texts, lambda message: self._refuse(name, message, allowed=parameter.closed_set)
        )
        is_more = isinstance(parameter, Match) and parameter.field in by_field
        by_field[parameter.field] = by_field[parameter.field] + value if is_more else value

    def _open_box(self, box: Box) -> None:
        """Put each term where it belongs; only plain words stay in the box."""
        words: list[str] = []
        for text in self._texts[box.name]:
            for term in split_texts(text):
                self._place(term, words, box=box)
        self._texts[box.name] = words

    def _place(self, term: str, words: list[str], *, box: Box) -> None:
        name, colon, value = term.partition(":")
        if colon and name in self._texts and name != box.name:
            self._take_value(name, value, box=box)
        elif _COMPARES.fullmatch(term) or (box.match and _SIGN.search(term)):
            self._compare(term, box=box)
        elif colon:
            self._refuse(box.name, self._no_such_filter(name, box=box))
        else:
            words.append(term)

    def _take_value(self, name: str, value: str, *, box: Box) -> None:
        if value:
            self._texts[name].append(value)
        else:
            message = _("Write what to look for after “%(name)s:”.")
            self._refuse(box.name, message % {"name": name})

    def _compare(self, term: str, *, box: Box) -> None:
        if box.match:
            self._compared.append(term)
            return
        message = _(
            "“%(term)s” compares something, and nothing of this list can be compared. Filters: %(names)s."
        )
        self._refuse(box.name, message % {"term": term, "names": self._filters(box)})

    def _no_such_filter(self, name: str, *, box: Box) -> str:
        message = _("There is no filter “%(name)s:”. There are: %(names)s.")
        return message % {"name": name, "names": self._filters(box)}

    def _filters(self, box: Box) -> str:
        return ", ".join(f"{name}:" for name in self._texts if name != box.name)

    def _without_nul(self, name: str, text: str) -> str:
        """Postgres takes no NUL, and no name has one. In its place stands what no name has either, so that it matches nothing."""
        if NUL in text:
            message = _("Nothing holds the character NUL (%00), so this matches nothing.")
            self._refuse(name, message)
        return text.replace(NUL, REPLACEMENT)

    def _refuse(self, name: str, message: str, *, allowed: tuple[str, ...] = ()) -> None:
        self.problems.append(Refusal(name, message, allowed))
