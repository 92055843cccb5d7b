"""Pools as they were when a server answered, from the log: to compare figures of one moment, not of two."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from clusters import registry
from dra.parsing import parse_resource_claim, parse_taint_rule
from dra.pools import assess_pool
from kube.kinds import DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from objects import queries
from objects.choices import Op
from objects.queries import Version
from pools.services.allocations import allocations_of_pools
from pools.services.derive import Knowledge, UnreadableSlice, parsed_slices, slice_rows
from pools.services.slices import slice_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from uuid import UUID

    from dra.values import AllocationResult, AssessedPool, PoolKey, TaintRule
    from objects.services.staging import Cursor


# Kind, uid, API version, and id in the log.
_Object = tuple[str, "UUID", str, int]

_TICK: Final = timedelta(microseconds=1)
# It bounds memory: a roll-out changes every slice.
_BODIES_AT_ONCE: Final = 500
# Clocks of workers on several hosts differ.
_CLOCK_SLACK: Final = timedelta(seconds=10)
# Those of an etcd have 64 bits.
_NUMBER: Final = re.compile("[0-9]{1,20}")
_RESYNCS: Final = frozenset({Op.RESYNC_ADDED, Op.RESYNC_MODIFIED, Op.RESYNC_DELETED})


@dataclass(frozen=True, slots=True)
class Moment:
    """Between the resourceVersion that a request was made with and that of its answer."""

    asked_at: datetime
    """Our clock, before the request was made."""
    created: str
    answered: str


@dataclass(slots=True)
class _Past:
    """How objects that are different now were at the answer, and which pools changed, or may have, while the request was under way."""

    slices: dict[int, tuple[Version | None, str]] = field(default_factory=dict)
    claims: dict[UUID, Version | None] = field(default_factory=dict)
    rules: dict[UUID, Version | None] = field(default_factory=dict)
    changed: set[PoolKey] = field(default_factory=set)
    may_all_have_changed: bool = False


@dataclass(frozen=True, slots=True)
class _Event:
    at: datetime
    op: int
    resource_version: str
    version: Version | None
    """None: it was deleted."""


def pools_at(
    cursor: Cursor,
    cluster_id: int,
    keys: Sequence[PoolKey],
    knowledge: Knowledge,
    *,
    moment: Moment,
) -> dict[PoolKey, AssessedPool]:
    """Those pools that did not change while the request was under way, as they were at its answer.

    The log must have come past the answer already.
    """
    past = _past(cursor, cluster_id, moment)
    if past.may_all_have_changed:
        return {}
    wanted = [key for key in keys if key not in past.changed]
    rows = [row for rows in slice_rows(cursor, cluster_id, wanted).values() for row in rows]
    rows = [row for row in rows if row[0] not in past.slices]
    rows += [
        (object_id, version.digest, version.generation, api_version)
        for object_id, (version, api_version) in past.slices.items()
        if version is not None
    ]
    try:
        stored = parsed_slices(cluster_id, rows)
    except UnreadableSlice:
        return {}
    rules = _rules(cluster_id, knowledge, past)
    allocations = (
        _allocations(cursor, cluster_id, wanted, past) if knowledge.are_claims_known else None
    )
    return {
        key: assess_pool(
            key,
            [each.slice for each in stored[key]],
            allocations=None if allocations is None else allocations.get(key, []),
            taint_rules=rules,
            release=knowledge.release,
        )
        for key in wanted
        if key in stored
    }


def _allocations(
    cursor: Cursor, cluster_id: int, keys: Sequence[PoolKey], past: _Past
) -> dict[PoolKey, list[AllocationResult]]:
    uids = {str(uid) for uid in past.claims}
    by_pool: dict[PoolKey, list[AllocationResult]] = defaultdict(list)
    for key, results in allocations_of_pools(cursor, cluster_id, keys).items():
        by_pool[key] = [result for result in results if result.claim.uid not in uids]
    versions = [version for version in past.claims.values() if version is not None]
    for content in queries.bodies(cluster_id, [version.digest for version in versions]).values():
        for result in _results(content):
            by_pool[result.key.pool_key].append(result)
    return by_pool


def _rules(cluster_id: int, knowledge: Knowledge, past: _Past) -> tuple[TaintRule, ...] | None:
    if knowledge.taint_rules is None or not past.rules:
        return knowledge.taint_rules
    changed = {str(uid) for uid in past.rules}
    versions = [version for version in past.rules.values() if version is not None]
    contents = queries.bodies(cluster_id, [version.digest for version in versions]).values()
    then = [parse_taint_rule(queries.decoded(content)).value for content in contents]
    same = [rule for rule in knowledge.taint_rules if rule.uid not in changed]
    return (*same, *(rule for rule in then if rule is not None))


def _past(cursor: Cursor, cluster_id: int, moment: Moment) -> _Past:
    cursor.execute(
        "SELECT o.kind, o.uid, o.api_version, e.object_id, e.at, e.op, e.resource_version, e.digest,"
        " e.generation FROM objects_objectevent e"
        " JOIN objects_kubeobject o ON o.cluster_id = e.cluster_id AND o.id = e.object_id"
        " WHERE e.cluster_id = %s AND e.at >= %s AND o.kind = ANY(%s) ORDER BY e.object_id, e.at",
        (cluster_id, moment.asked_at - _CLOCK_SLACK, list(registry.figure_kinds())),
        binary=True,
    )
    by_object: dict[_Object, list[_Event]] = defaultdict(list)
    for (
        kind,
        uid,
        api_version,
        object_id,
        at,
        op,
        version,
        digest,
        generation,
    ) in cursor.fetchall():
        after = None if digest is None else Version(digest, generation)
        event = _Event(at, op, version, after)
        by_object[kind, uid, api_version, object_id].append(event)
    past = _Past()
    before = _before(cluster_id, by_object)
    touching: dict[str, list[Version | None]] = defaultdict(list)
    for (kind, uid, api_version, object_id), events in by_object.items():
        has_changed, then = _at_answer(events, before.get(object_id), moment)
        if has_changed and kind == DEVICE_TAINT_RULE.name:
            past.may_all_have_changed = True
        elif has_changed:
            touching[kind] += [before.get(object_id), *(event.version for event in events)]
        elif kind == RESOURCE_SLICE.name:
            past.slices[object_id] = (then, api_version)
        elif kind == RESOURCE_CLAIM.name:
            past.claims[uid] = then
        else:
            past.rules[uid] = then
    for kind, versions in touching.items():
        past.changed |= _touched(cluster_id, kind, versions)
    return past


def _before(cluster_id: int, by_object: Mapping[_Object, Sequence[_Event]]) -> dict[int, Version]:
    """What each object was before the first of its events, if it was live; two queries for each kind."""
    moments: dict[str, dict[int, datetime]] = defaultdict(dict)
    for (kind, _, _, object_id), events in by_object.items():
        moments[kind][object_id] = events[0].at - _TICK
    found: dict[int, Version] = {}
    for kind, wanted in moments.items():
        found |= queries.versions_at(cluster_id, wanted, kind=kind)
    return found


def _at_answer(
    events: Sequence[_Event], before: Version | None, moment: Moment
) -> tuple[bool, Version | None]:
    """Whether an object changed meanwhile, or may have; and what it was at the answer.

    Of one store, resourceVersions of all kinds are moments of one clock.
    """
    created, answered = _number(moment.created), _number(moment.answered)
    then = before
    for event in events:
        number = _number(event.resource_version)
        if event.op in _RESYNCS and event.at < moment.asked_at:
            then = event.version
            continue
        # A full read tells that something changed, but not when.
        if number is None or created is None or answered is None or event.op in _RESYNCS:
            return True, None
        if created < number <= answered:
            return True, None
        if number <= created:
            then = event.version
    return False, then


def _number(resource_version: str) -> int | None:
    return int(resource_version) if _NUMBER.fullmatch(resource_version) else None


def _touched(cluster_id: int, kind: str, versions: Iterable[Version | None]) -> set[PoolKey]:
    digests = list({version.digest for version in versions if version is not None})
    found: set[PoolKey] = set()
    for start in range(0, len(digests), _BODIES_AT_ONCE):
        part = queries.bodies(cluster_id, digests[start : start + _BODIES_AT_ONCE])
        for content in part.values():
            found.update(_pools_of(content, kind))
    return found


def _pools_of(content: bytes, kind: str) -> Iterator[PoolKey]:
    if kind == RESOURCE_CLAIM.name:
        yield from (result.key.pool_key for result in _results(content))
    elif head := slice_head(content):
        yield head.key


def _results(content: bytes) -> tuple[AllocationResult, ...]:
    claim: Any = parse_resource_claim(queries.decoded(content)).value
    return claim.results if claim else ()
