"""Field and label selectors, as far as `=`, `==`, `!=`, `in`, `notin`, a bare key and `!key` go."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from simulator import statuses
from simulator.kinds import Resource, Surface
from simulator.store import Stored

Predicate = Callable[[Stored], bool]
_Test = Callable[[Mapping[str, str]], bool]

_FIELD: Final = re.compile(r"\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*")
_LABEL: Final = re.compile(
    r"\s*(?:"
    r"(?P<key>[\w./-]+)\s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)"
    r"|(?P<set_key>[\w./-]+)\s+(?P<word>in|notin)\s*\((?P<values>[^)]*)\)"
    r"|(?P<absent>!)?\s*(?P<bare>[\w./-]+)"
    r")\s*(?:,|$)",
    re.ASCII,
)


def everything(_: Stored) -> bool:
    return True


def parse(
    *, surface: Surface, resource: Resource, api_version: str, fields: str, labels: str
) -> Predicate:
    """What both selectors let through. Raises the API's refusal for what it does not know."""
    tests_fields = [_field_test(surface, resource, api_version, part) for part in _parts(fields)]
    tests_labels = _label_tests(labels)
    if not tests_fields and not tests_labels:
        return everything

    def matches(stored: Stored) -> bool:
        return all(test(stored.fields) for test in tests_fields) and all(
            test(stored.labels) for test in tests_labels
        )

    return matches


def _parts(fields: str) -> list[str]:
    return [part for part in fields.split(",") if part.strip()]


def _field_test(surface: Surface, resource: Resource, api_version: str, part: str) -> _Test:
    match = _FIELD.fullmatch(part)
    if match is None:
        raise statuses.bad_request(
            f"invalid selector: '{part}'; can't understand '{part}'",
        )
    label, sign, wanted = match.groups()
    if not surface.supports_field(resource, label):
        raise statuses.unsupported_field_label(resource, api_version, label)
    if sign == "!=":
        return lambda fields: fields.get(label, "") != wanted
    return lambda fields: fields.get(label, "") == wanted


def _label_tests(labels: str) -> list[_Test]:
    tests: list[_Test] = []
    position = 0
    while position < len(labels.rstrip()):
        match = _LABEL.match(labels, position)
        if match is None or match.end() == position:
            raise statuses.bad_request(f"unable to parse requirement: {labels[position:]}")
        tests.append(_label_test(match))
        position = match.end()
    return tests


def _label_test(match: re.Match[str]) -> _Test:
    if key := match["key"]:
        return _one_of(key, {match["value"]}, is_negated=match["sign"] == "!=")
    if key := match["set_key"]:
        values = {value.strip() for value in match["values"].split(",")}
        return _one_of(key, values, is_negated=match["word"] == "notin")
    bare = match["bare"]
    if match["absent"]:
        return lambda labels: bare not in labels
    return lambda labels: bare in labels


def _one_of(key: str, values: set[str], *, is_negated: bool) -> _Test:
    """A missing label is none of any values, so a negated test holds for it."""
    if is_negated:
        return lambda labels: labels.get(key) not in values
    return lambda labels: labels.get(key) in values
