"""From the words of a URL to filter values. The same words hold for pages, the API and the filter box.

The box takes `driver:gpu.example.com node:node-7 memory>=40Gi`; what is no such term is text that a name must contain.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from django.utils.translation import gettext as _

from dra.quantity import parse_quantity
from pools.choices import DeviceState, Outcome
from pools.queries import (
    AttributeMatch,
    CapacityMatch,
    Comparison,
    DeviceFilter,
    PoolFilter,
    SliceFilter,
    StatusFilter,
)

F = TypeVar("F", PoolFilter, DeviceFilter, SliceFilter, StatusFilter)

# Lists of values by parameter, as a QueryDict has them.
Params = Mapping[str, Sequence[str]]

POOL_PARAMS = (
    "cluster",
    "driver",
    "node",
    "complete",
    "problem",
    "fits",
    "vanished",
    "q",
)
DEVICE_PARAMS = (
    "cluster",
    "driver",
    "pool",
    "node",
    "state",
    "partly_used",
    "tainted",
    "attribute",
    "capacity",
    "q",
)
SLICE_PARAMS = ("cluster", "driver", "pool", "node", "q")
STATUS_PARAMS = ("cluster", "driver", "outcome", "differing", "q")

_MATCH = re.compile(r"(?P<name>[^<>=!\s]+)\s*(?P<comparison>>=|<=|!=|=|>|<)\s*(?P<value>.*)", re.S)
NUL = "\0"
REPLACEMENT = "\ufffd"
_TRUE = {"true", "yes", "1", "on"}
_FALSE = {"false", "no", "0", "off"}


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """A value that cannot be a filter: which parameter, and what to write instead."""

    param: str
    message: str


@dataclass(frozen=True, slots=True)
class Read(Generic[F]):
    """A filter made of what could be read, and what could not."""

    wanted: F
    problems: tuple[FilterProblem, ...] = ()


class _Reader:
    """Takes parameters one by one and gathers what is wrong with them."""

    def __init__(self, params: Params, *, allowed: Iterable[str]) -> None:
        self.allowed = tuple(allowed)
        self.problems: list[FilterProblem] = []
        self.values: dict[str, list[str]] = {
            name: [self._without_nul(name, value) for value in params.get(name, ()) if value]
            for name in self.allowed
        }
        self.terms: list[str] = []
        self.words: list[str] = []
        for text in self.values.get("q", []):
            self._read_box(text)

    def _without_nul(self, name: str, value: str) -> str:
        """Postgres takes no NUL, and no name has one. In its place stands what no name has either, so that it matches nothing."""
        if NUL in value:
            self.problem(
                name, _("Nothing holds the character NUL (%00), so this matches nothing.")
            )
        return value.replace(NUL, REPLACEMENT)

    def _read_box(self, text: str) -> None:
        for term in _split(text):
            name, colon, value = term.partition(":")
            if colon and value and name in self.allowed and name != "q":
                self.values[name].append(value)
            elif _MATCH.fullmatch(term) and "attribute" in self.allowed:
                self.terms.append(term)
            else:
                self.words.append(term)

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values[name]))

    def text(self) -> str:
        return " ".join(self.words)

    def one_of(self, name: str, *, choices: Iterable[str]) -> tuple[str, ...]:
        known = list(choices)
        for value in self.texts(name):
            if value not in known:
                self.problem(
                    name,
                    _("“%(value)s” is not one of %(known)s.")
                    % {"value": value, "known": ", ".join(known)},
                )
        return tuple(value for value in self.texts(name) if value in known)

    def boolean(self, name: str, *, default: bool | None = None) -> bool | None:
        values = self.texts(name)
        if not values:
            return default
        word = values[-1].lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        if word == "any":
            return None
        self.problem(name, _("Write true, false or any, not “%(value)s”.") % {"value": word})
        return default

    def matches(
        self,
        texts: Iterable[str],
        *,
        param: str,
        read: Callable[[str], Sequence[_Match] | str],
    ) -> tuple[tuple[_Match, ...], ...]:
        result = []
        for text in texts:
            found = read(text)
            if isinstance(found, str):
                self.problem(param, found)
            else:
                result.append(tuple(found))
        return tuple(result)

    def problem(self, param: str, message: str) -> None:
        self.problems.append(FilterProblem(param, message))


_Match = AttributeMatch | CapacityMatch


def read_pool_filter(params: Params) -> Read[PoolFilter]:
    """Which pools a URL asks for."""
    reader = _Reader(params, allowed=POOL_PARAMS)
    wanted = PoolFilter(
        clusters=reader.texts("cluster"),
        drivers=reader.texts("driver"),
        nodes=reader.texts("node"),
        is_complete=reader.boolean("complete"),
        problems=reader.texts("problem"),
        fits=reader.texts("fits"),
        text=reader.text(),
        has_vanished=reader.boolean("vanished", default=False),
    )
    return Read(wanted, tuple(reader.problems))


def read_device_filter(params: Params) -> Read[DeviceFilter]:
    """Which devices a URL asks for."""
    reader = _Reader(params, allowed=DEVICE_PARAMS)
    attributes = reader.matches(reader.texts("attribute"), param="attribute", read=_attribute)
    capacities = reader.matches(reader.texts("capacity"), param="capacity", read=_capacity)
    terms = reader.matches(reader.terms, param="q", read=_either)
    wanted = DeviceFilter(
        clusters=reader.texts("cluster"),
        drivers=reader.texts("driver"),
        pools=reader.texts("pool"),
        nodes=reader.texts("node"),
        states=reader.one_of("state", choices=DeviceState.values),
        is_partly_used=reader.boolean("partly_used"),
        is_tainted=reader.boolean("tainted"),
        matches=attributes + capacities + terms,
        text=reader.text(),
    )
    return Read(wanted, tuple(reader.problems))


def read_slice_filter(params: Params) -> Read[SliceFilter]:
    """Which ResourceSlices a URL asks for."""
    reader = _Reader(params, allowed=SLICE_PARAMS)
    wanted = SliceFilter(
        clusters=reader.texts("cluster"),
        drivers=reader.texts("driver"),
        pools=reader.texts("pool"),
        nodes=reader.texts("node"),
        text=reader.text(),
    )
    return Read(wanted, tuple(reader.problems))


def read_status_filter(params: Params) -> Read[StatusFilter]:
    """Which pool status requests a URL asks for."""
    reader = _Reader(params, allowed=STATUS_PARAMS)
    wanted = StatusFilter(
        clusters=reader.texts("cluster"),
        drivers=reader.texts("driver"),
        outcomes=reader.one_of("outcome", choices=Outcome.values),
        is_differing=reader.boolean("differing"),
    )
    return Read(wanted, tuple(reader.problems))


def _split(text: str) -> list[str]:
    """Terms of the filter box; quotes hold blanks together, and a lone quote is an ordinary character."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _parts(text: str) -> tuple[str, Comparison, str] | None:
    match = _MATCH.fullmatch(text.strip())
    if match is None:
        return None
    return match["name"], cast("Comparison", match["comparison"]), match["value"]


def _attribute(text: str) -> list[_Match] | str:
    parts = _parts(text)
    if parts is None:
        return [AttributeMatch(text.strip(), "exists")]
    name, comparison, value = parts
    if comparison in {"=", "!="}:
        return [AttributeMatch(name, comparison, _json_values(value))]
    if not re.fullmatch(r"-?\d{1,18}", value):
        return _("%(name)s can be compared with a whole number only, not with “%(value)s”.") % {
            "name": name,
            "value": value,
        }
    return [AttributeMatch(name, comparison, (int(value),))]


def _capacity(text: str) -> list[_Match] | str:
    parts = _parts(text)
    if parts is None:
        return _("Write a capacity as name>=quantity, such as memory>=40Gi, not “%(text)s”.") % {
            "text": text
        }
    name, comparison, value = parts
    quantity = parse_quantity(value)
    if quantity is None or comparison == "!=":
        return _("“%(value)s” is no quantity; write one such as 40Gi, 100M or 8.") % {
            "value": value
        }
    return [CapacityMatch(name, comparison, quantity.number)]


def _either(text: str) -> list[_Match] | str:
    """A term of the filter box names an attribute or a capacity, whichever a device has."""
    found = [each for each in (_attribute(text), _capacity(text)) if not isinstance(each, str)]
    if not found:
        return _("“%(text)s” is neither a condition on an attribute nor on a capacity.") % {
            "text": text
        }
    return [match for each in found for match in each]


def _json_values(text: str) -> tuple[str | int | bool, ...]:
    """What a text may stand for in JSON: itself, a whole number, true or false."""
    values: list[str | int | bool] = [text]
    if re.fullmatch(r"-?\d{1,18}", text):
        values.append(int(text))
    if text in {"true", "false"}:
        values.append(text == "true")
    return tuple(values)
