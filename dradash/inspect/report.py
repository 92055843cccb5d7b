"""From documents to the report: the same values, by the same core, as from a live cluster."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Struct

from dra import shapes
from dra.device_classes import parse_device_class
from dra.findings import UNPUBLISHED
from dra.parsing import (
    Parsed,
    parse_resource_claim,
    parse_resource_slice,
    parse_taint_rule,
)
from dra.pools import Fleet, assess_fleet
from dra.values import Problem, Release, ResourceClaim, ResourceSlice, TaintRule
from dradash.inspect.reading import Document, ListHead, Unreadable
from dradash.inspect.shapes import (
    InspectedClaim,
    PlacedProblemShape,
    inspected_claim,
    inspected_counters,
    placed_problem,
)
from dradash.inspect.status_requests import (
    AskedStatus,
    ComparedRequest,
    compare_request,
    compared_request_shape,
    parse_asked_status,
)

# The newest release whose rules the core knows.
NEWEST = Release(1, 37)

_PARSERS: dict[str, Callable[..., Parsed[Any]]] = {
    "ResourceSlice": parse_resource_slice,
    "ResourceClaim": parse_resource_claim,
    "DeviceTaintRule": parse_taint_rule,
    "DeviceClass": parse_device_class,
    "ResourcePoolStatusRequest": parse_asked_status,
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

    def add(self, item: Document | ListHead | Unreadable) -> None:
        """Take one document; what is of no concern here is only counted."""
        if isinstance(item, Unreadable):
            self.unreadable.append(item)
        elif isinstance(item, ListHead):
            self.kinds.add(item.kind)
        else:
            self._take(item)

    def _take(self, document: Document) -> None:
        kind = document.body.get("kind")
        if not isinstance(kind, str) or not kind:
            self._note([Problem("no_kind")], document.place)
            return
        self.objects += 1
        self.kinds.add(kind)
        parser = _PARSERS.get(kind)
        if parser is None:
            return
        parsed = parser(document.body, api_version=str(document.body.get("apiVersion", "")))
        if parsed.value is not None:
            self.found[kind].append(parsed.value)
        self._note(parsed.problems, document.place)

    def _note(self, problems: Iterable[Problem], place: str) -> None:
        self.problems.extend(PlacedProblem(each, place) for each in problems)

    @property
    def is_empty(self) -> bool:
        """Whether there was neither an object nor a list, which may have none."""
        return not self.objects and not self.kinds

    def slices(self) -> list[ResourceSlice]:
        """All ResourceSlices; of two with one name the newer."""
        return list(_newest(self.found["ResourceSlice"], key=lambda s: s.name or s.uid or id(s)))

    def claims(self) -> list[ResourceClaim]:
        """All ResourceClaims; of two with one name the newer."""
        key: Callable[[ResourceClaim], Any] = lambda c: (c.ref.namespace, c.ref.name)  # noqa: E731 -- typed
        return sorted(_newest(self.found["ResourceClaim"], key=key), key=key)

    def taint_rules(self) -> list[TaintRule]:
        """All DeviceTaintRules by name; of two with one name the newer."""
        return list(_newest(self.found["DeviceTaintRule"], key=lambda rule: rule.name))

    def status_requests(self) -> list[AskedStatus]:
        """All ResourcePoolStatusRequests in order of name; of two with one name the newer."""
        newest = _newest(self.found["ResourcePoolStatusRequest"], key=lambda asked: asked.name)
        return sorted(newest, key=lambda asked: asked.name)


def _newest(items: Iterable[Any], *, key: Callable[[Any], Any]) -> Iterable[Any]:
    """One object can be in several dumps. The greater resourceVersion is taken; it is compared, and never shown as an age."""
    newest: dict[Any, Any] = {}
    for item in items:
        held = newest.get(key(item))
        if held is None or _version(item) >= _version(held):
            newest[key(item)] = item
    return newest.values()


def _version(item: Any) -> tuple[int, str]:
    """Digits compare by their number; the length stands in front, so that no number is made of them."""
    text = item.resource_version.lstrip("0")
    return (len(text), text) if text.isascii() and text.isdigit() else (0, "")


@dataclass(frozen=True, slots=True)
class Report:
    """What the dumps say."""

    fleet: Fleet
    claims: tuple[ResourceClaim, ...]
    status_requests: tuple[ComparedRequest, ...]
    problems: tuple[PlacedProblem, ...]
    unreadable: tuple[Unreadable, ...]
    objects: int
    are_slices_known: bool
    """Whether what is not published here is not published at all."""
    are_claims_known: bool


def report(dump: Dump, *, release: Release | None, is_complete: bool) -> Report:
    """Assess what was dumped. With `is_complete`, kinds that are absent are known to have no object in the cluster.

    Without a release the newest one's rules hold, except where an answer of the server shows that it is older.
    """
    are_slices_known = is_complete or "ResourceSlice" in dump.kinds
    are_claims_known = is_complete or "ResourceClaim" in dump.kinds
    slices, claims = dump.slices(), dump.claims()
    fleet = assess_fleet(
        slices,
        claims=claims if are_claims_known else None,
        taint_rules=dump.taint_rules(),
        release=release or NEWEST,
    )
    if not are_slices_known:
        fleet = _without_absences(fleet)
    requests = dump.status_requests()
    pools = {pool.key: pool for pool in fleet.pools}
    results = [result for claim in claims for result in claim.results] if requests else []
    compared = [
        compare_request(each, pools=pools, slices=slices, allocations=results, release=release)
        for each in requests
    ]
    problems = [
        *(PlacedProblem(each, None) for each in fleet.problems),
        *dump.problems,
        *(PlacedProblem(each, None) for each in _absent(dump, is_complete=is_complete)),
    ]
    return Report(
        fleet=fleet,
        claims=tuple(claims),
        status_requests=tuple(compared),
        problems=tuple(problems),
        unreadable=tuple(dump.unreadable),
        objects=dump.objects,
        are_slices_known=are_slices_known,
        are_claims_known=are_claims_known,
    )


def _without_absences(fleet: Fleet) -> Fleet:
    """Where no slices were dumped, nothing follows from a device's being in none."""
    problems = tuple(each for each in fleet.problems if each.code not in UNPUBLISHED)
    return replace(fleet, unpublished=(), problems=problems)


def _absent(dump: Dump, *, is_complete: bool) -> list[Problem]:
    """What a reader must know about kinds that were not dumped."""
    if is_complete or not dump.kinds & set(_PARSERS):
        return []
    return [problem for kind, problem in _ABSENT.items() if kind not in dump.kinds]


_ABSENT = {
    "ResourceSlice": Problem("slices_not_given"),
    "ResourceClaim": Problem("claims_not_given"),
    "DeviceTaintRule": Problem("taint_rules_not_given"),
}


def report_sections(full_report: Report) -> dict[str, Iterator[Struct]]:
    """The report in shapes, many of them those of the REST API, section by section."""
    pools = full_report.fleet.pools
    return {
        "pools": (shapes.pool_figures(pool) for pool in pools),
        "devices": (shapes.device_figures(device) for pool in pools for device in pool.devices),
        "counters": (counter for pool in pools for counter in inspected_counters(pool)),
        "claims": _claims(full_report),
        "pool_status_requests": map(compared_request_shape, full_report.status_requests),
        "problems": _problems(full_report),
    }


def _claims(full_report: Report) -> Iterator[InspectedClaim]:
    published = {device.key for pool in full_report.fleet.pools for device in pool.devices}
    for claim in full_report.claims:
        yield inspected_claim(claim, published=published if full_report.are_slices_known else None)


def _problems(full_report: Report) -> Iterator[PlacedProblemShape]:
    for placed in full_report.problems:
        yield placed_problem(placed.problem, place=placed.place)
    for each in full_report.unreadable:
        yield PlacedProblemShape(
            code="unreadable", message=each.message, parameters={}, place=each.place
        )
