"""From documents to the report: the same values, by the same core, as from a live cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dra import shapes
from dra.parsing import (
    Parsed,
    parse_device_class,
    parse_resource_claim,
    parse_resource_slice,
    parse_taint_rule,
)
from dra.pools import Fleet, assess_fleet
from dra.values import Problem, Release, ResourceClaim, ResourceSlice, TaintRule
from dradash.inspect.documents import Document, Unreadable

_PARSERS: dict[str, Callable[..., Parsed[Any]]] = {
    "ResourceSlice": parse_resource_slice,
    "ResourceClaim": parse_resource_claim,
    "DeviceTaintRule": parse_taint_rule,
    "DeviceClass": parse_device_class,
}


@dataclass(frozen=True, slots=True)
class PlacedProblem:
    """A problem, and the file and line that it is about; None when it is about all of them."""

    problem: Problem
    place: str | None


@dataclass(slots=True)
class Dump:
    """What was found in all sources together."""

    found: dict[str, list[Any]] = field(default_factory=lambda: {kind: [] for kind in _PARSERS})
    # Kinds of which at least one object or list was there: only of these is absence known.
    kinds: set[str] = field(default_factory=set)
    problems: list[PlacedProblem] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    objects: int = 0

    def add(self, item: Document | Unreadable) -> None:
        """Take one document; what is of no concern here is only counted."""
        if isinstance(item, Unreadable):
            self.unreadable.append(item)
            return
        kind = str(item.body.get("kind", ""))
        self.kinds.add(kind.removesuffix("List"))
        if kind.endswith("List"):
            return
        self.objects += 1
        parser = _PARSERS.get(kind)
        if parser is not None:
            self._take(kind, parser, item)

    def _take(self, kind: str, parser: Callable[..., Parsed[Any]], item: Document) -> None:
        parsed = parser(item.body, api_version=str(item.body.get("apiVersion", "")))
        if parsed.value is not None:
            self.found[kind].append(parsed.value)
        self.problems.extend(PlacedProblem(each, item.place) for each in parsed.problems)

    def slices(self) -> list[ResourceSlice]:
        """All ResourceSlices; of two with one uid the newer."""
        return list(_newest(self.found["ResourceSlice"], key=lambda s: s.uid or s.name))

    def claims(self) -> list[ResourceClaim]:
        """All ResourceClaims; of two with one name or uid the newer."""
        return list(
            _newest(self.found["ResourceClaim"], key=lambda c: (c.ref.namespace, c.ref.name))
        )

    def taint_rules(self) -> list[TaintRule]:
        """All DeviceTaintRules by name; of two with one name the newer."""
        return list(_newest(self.found["DeviceTaintRule"], key=lambda rule: rule.name))


def _newest(items: Iterable[Any], *, key: Callable[[Any], Any]) -> Iterable[Any]:
    """One object can be in several dumps. The greater resourceVersion is taken; it is compared, and never shown as an age."""
    newest: dict[Any, Any] = {}
    for item in items:
        held = newest.get(key(item))
        if held is None or _version(item) >= _version(held):
            newest[key(item)] = item
    return newest.values()


def _version(item: Any) -> int:
    text = item.resource_version
    return int(text) if text.isascii() and text.isdigit() else 0


@dataclass(frozen=True, slots=True)
class Report:
    """What the dumps say."""

    fleet: Fleet
    problems: tuple[PlacedProblem, ...]
    unreadable: tuple[Unreadable, ...]
    objects: int
    are_claims_known: bool


def report(dump: Dump, *, release: Release, is_complete: bool) -> Report:
    """Assess what was dumped. With `is_complete`, kinds that are absent are known to have no object in the cluster."""
    are_claims_known = is_complete or "ResourceClaim" in dump.kinds
    fleet = assess_fleet(
        dump.slices(),
        claims=dump.claims() if are_claims_known else None,
        taint_rules=dump.taint_rules(),
        release=release,
    )
    problems = [
        *(PlacedProblem(each, None) for each in fleet.problems),
        *dump.problems,
        *(PlacedProblem(each, None) for each in _absent(dump, is_complete=is_complete)),
    ]
    return Report(fleet, tuple(problems), tuple(dump.unreadable), dump.objects, are_claims_known)


def _absent(dump: Dump, *, is_complete: bool) -> list[Problem]:
    """What a reader must know about kinds that were not dumped."""
    if is_complete or "ResourceSlice" not in dump.kinds:
        return []
    problems = []
    if "ResourceClaim" not in dump.kinds:
        problems.append(
            Problem(
                "claims_not_given",
                "There are no ResourceClaims here, so who holds what is unknown. Add the output of"
                " `kubectl get resourceclaims -A -o yaml`, or say --complete if there are none.",
            )
        )
    if "DeviceTaintRule" not in dump.kinds:
        problems.append(
            Problem(
                "taint_rules_not_given",
                "There are no DeviceTaintRules here: devices that one taints are shown as if it"
                " were not there. Add the output of `kubectl get devicetaintrules -o yaml` where"
                " the cluster serves them.",
                "info",
            )
        )
    return problems


def report_shape(found: Report) -> dict[str, Any]:
    """The report as JSON, in the shapes of the REST API."""
    return {
        "pools": [shapes.pool_shape(pool) for pool in found.fleet.pools],
        "devices": [
            shapes.device_shape(device) for pool in found.fleet.pools for device in pool.devices
        ],
        "problems": [
            *(
                {
                    "code": placed.problem.code,
                    "message": placed.problem.message,
                    "place": placed.place,
                }
                for placed in found.problems
            ),
            *(
                {"code": "unreadable", "message": each.message, "place": each.place}
                for each in found.unreadable
            ),
        ],
    }
