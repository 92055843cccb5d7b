"""Conditions on attributes and capacities, from their text: `model=A100`, `memory>=40Gi`."""

import re
from collections.abc import Sequence
from typing import cast

from django.utils.translation import gettext as _

from dra.quantity import parse_quantity
from pools.queries import AttributeMatch, CapacityMatch, Comparison

Alternatives = Sequence[AttributeMatch | CapacityMatch]

_MATCH = re.compile(r"(?P<name>[^<>=!\s]+)\s*(?P<comparison>>=|<=|!=|=|>|<)\s*(?P<value>.*)", re.S)
# No name has one.
_SIGN = re.compile(r"[<>=]")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


def attribute_match(text: str) -> Alternatives | str:
    """What an attribute must be, or why the text says no such thing."""
    parts = _parts(text)
    if parts is None and _SIGN.search(text):
        return _(
            "Write the name of an attribute before “%(text)s”, without blanks: model=A100."
        ) % {"text": text}
    if parts is None:
        return [AttributeMatch(text.strip(), "exists")]
    name, comparison, value = parts
    if comparison in {"=", "!="}:
        return [AttributeMatch(name, comparison, _json_values(value))]
    if not _WHOLE_NUMBER.fullmatch(value):
        return _("%(name)s can be compared with a whole number only, not with “%(value)s”.") % {
            "name": name,
            "value": value,
        }
    return [AttributeMatch(name, comparison, (int(value),))]


def capacity_match(text: str) -> Alternatives | str:
    """What a capacity must be, or why the text says no such thing."""
    parts = _parts(text)
    if parts is None:
        return _("Write a capacity as name>=quantity, such as memory>=40Gi, not “%(text)s”.") % {
            "text": text
        }
    name, comparison, value = parts
    if comparison == "!=":
        return _("%(name)s is a capacity: compare it by =, >=, <=, > or <, not by !=.") % {
            "name": name
        }
    quantity = parse_quantity(value)
    if quantity is None:
        return _("“%(value)s” is no quantity; write one such as 40Gi, 100M or 8.") % {
            "value": value
        }
    return [CapacityMatch(name, comparison, quantity.number)]


def either_match(text: str) -> Alternatives | str:
    """A term of the filter box names an attribute or a capacity, whichever a device has."""
    readings = [
        each for each in (attribute_match(text), capacity_match(text)) if not isinstance(each, str)
    ]
    if not readings:
        return _(
            "“%(text)s” is no condition on an attribute or a capacity. Write one such as model=A100 or memory>=40Gi, without blanks."
        ) % {"text": text}
    return [match for each in readings for match in each]


def _parts(text: str) -> tuple[str, Comparison, str] | None:
    match = _MATCH.fullmatch(text.strip())
    if match is None:
        return None
    return match["name"], cast("Comparison", match["comparison"]), match["value"]


def _json_values(text: str) -> tuple[str | int | bool, ...]:
    """What a text may stand for in JSON: itself, a whole number, true or false."""
    values: list[str | int | bool] = [text]
    if _WHOLE_NUMBER.fullmatch(text):
        values.append(int(text))
    if text in {"true", "false"}:
        values.append(text == "true")
    return tuple(values)
