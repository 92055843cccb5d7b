"""What each pool offers now: every device in one state, the counts that follow, what still fits, and what is wrong.

Order never matters: slices, claims and rules may come in any. `None` for claims or rules means that they could not be read, and
then nothing is derived from their absence.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra.catalogue import first_names
from dra.counters import CounterLedger
from dra.findings import (
    counters_beside_devices,
    device_problems,
    overdrawn_counters,
    overlapping_devices,
    slice_problems,
    unpublished_problems,
)
from dra.generations import PoolSlices, Taking, mixed, newest_slices, node_of, node_term
from dra.partitions import competing_devices, partition_types, partitions_left
from dra.sharing import (
    capacity_of_device,
    capacity_of_pool,
    has_room_for_share,
    has_room_when_free,
)
from dra.tainting import blocks, rule_problems, rules_for_pool, taints_of
from dra.values import (
    AllocationResult,
    AssessedDevice,
    AssessedPool,
    Device,
    DeviceCounts,
    DeviceKey,
    DeviceState,
    NodeSelection,
    Partition,
    PoolKey,
    Problem,
    Release,
    ResourceClaim,
    ResourceSlice,
    TaintRule,
)

Holders = Mapping[str, Sequence[AllocationResult]]
"""Allocation results by device name."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """All pools of one cluster, in order of driver and pool, and what belongs to no pool."""

    pools: tuple[AssessedPool, ...]
    unpublished: tuple[AllocationResult, ...]
    """Allocations of devices that no pool publishes in its newest generation."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Situation:
    """What holds for all devices of one pool while they are assessed."""

    pool: PoolSlices
    rules: tuple[TaintRule, ...] | None
    release: Release | None
    holders: Holders | None
    ledger: CounterLedger


def assess_fleet(
    slices: Iterable[ResourceSlice],
    *,
    claims: Iterable[ResourceClaim] | None,
    taint_rules: Sequence[TaintRule] | None,
    release: Release | None,
) -> Fleet:
    """Assess every pool that has a slice."""
    by_pool: dict[PoolKey, list[ResourceSlice]] = {}
    for item in slices:
        by_pool.setdefault(item.pool_key, []).append(item)
    results = None if claims is None else [result for claim in claims for result in claim.results]
    results_by_pool: dict[PoolKey, list[AllocationResult]] = {}
    for result in results or ():
        results_by_pool.setdefault(result.key.pool_key, []).append(result)
    pools = tuple(
        assess_pool(
            key,
            by_pool[key],
            allocations=None if results is None else results_by_pool.get(key, ()),
            taint_rules=taint_rules,
            release=release,
        )
        for key in sorted(by_pool)
    )
    homeless = [
        item for key in results_by_pool.keys() - by_pool.keys() for item in results_by_pool[key]
    ]
    unpublished = [*homeless, *(result for pool in pools for result in pool.unpublished)]
    problems = [
        *rule_problems(taint_rules or (), release=release),
        *unpublished_problems(homeless, is_complete=True),
    ]
    return Fleet(pools, tuple(sorted(unpublished, key=_result_order)), tuple(sorted(problems)))


def assess_pool(
    key: PoolKey,
    slices: Iterable[ResourceSlice],
    *,
    allocations: Sequence[AllocationResult] | None,
    taint_rules: Sequence[TaintRule] | None,
    release: Release | None,
) -> AssessedPool:
    """Assess one pool; slices and allocations of other pools are ignored."""
    pool = newest_slices(key, slices, release=release)
    published = _published(pool.slices)
    holders = None if allocations is None else _holders(key, allocations)
    situation = _Situation(
        pool=pool,
        rules=None
        if taint_rules is None
        else rules_for_pool(taint_rules, key=key, release=release),
        release=release,
        holders=holders,
        ledger=_ledger(pool.slices, published=published, holders=holders or {}),
    )
    devices = tuple(_assess_device(situation, places) for _, places in sorted(published.items()))
    unpublished = [
        result
        for name, results in sorted((holders or {}).items())
        if name not in published
        for result in results
    ]
    counts = _counts(devices, taking=pool.taking, is_known=holders is not None)
    return AssessedPool(
        key=key,
        generation=pool.generation,
        is_complete=pool.is_complete,
        is_valid=pool.is_valid,
        slices_seen=len(pool.slices),
        slices_expected=pool.expected,
        node=node_of(pool.slices),
        counts=counts,
        partitions=_partitions(situation, devices),
        capacity=capacity_of_pool(devices),
        counters=situation.ledger.counters(is_known=holders is not None),
        devices=devices,
        problems=_pool_problems(situation, devices, unpublished=unpublished),
        older_generations=pool.older_generations,
        unpublished=tuple(unpublished),
        device_entries=sum(len(item.devices) for item in pool.slices),
    )


_Places = list[tuple[ResourceSlice, Device]]


def _published(slices: Iterable[ResourceSlice]) -> dict[str, _Places]:
    """Devices by name; more than one place only in an invalid pool."""
    places: dict[str, _Places] = {}
    for item in slices:
        for device in item.devices:
            places.setdefault(device.name, []).append((item, device))
    return places


def _holders(
    key: PoolKey, allocations: Iterable[AllocationResult]
) -> dict[str, list[AllocationResult]]:
    holders: dict[str, list[AllocationResult]] = {}
    for result in sorted(allocations, key=_result_order):
        if result.key.pool_key == key:
            holders.setdefault(result.key.device, []).append(result)
    return holders


def _result_order(result: AllocationResult) -> tuple[Any, ...]:
    claim = result.claim
    consumed = sorted((name, amount.nanos) for name, amount in result.consumed_capacity.items())
    named = (result.key, claim.namespace, claim.name, claim.uid, result.request)
    return (*named, result.share_id or "", result.has_admin_access, consumed)


def _exclusive(results: Iterable[AllocationResult]) -> list[AllocationResult]:
    """Admin access looks at a device without taking it."""
    return [result for result in results if not result.has_admin_access]


def _ledger(
    slices: Iterable[ResourceSlice], *, published: Mapping[str, _Places], holders: Holders
) -> CounterLedger:
    """Counters left: each allocated device draws once, however many claims share it."""
    ledger = CounterLedger(cs for item in slices for cs in item.counter_sets)
    for name, results in holders.items():
        if name in published and _exclusive(results):
            ledger.draw(published[name][0][1])
    return ledger


def _assess_device(situation: _Situation, places: _Places) -> AssessedDevice:
    item, device = places[0]
    pool = situation.pool
    key = DeviceKey(pool.key.driver, pool.key.pool, device.name)
    taints, is_sure = taints_of(
        key, published=device.taints, rules=situation.rules or (), release=situation.release
    )
    results = () if situation.holders is None else situation.holders.get(device.name, ())
    exclusive = _exclusive(results)
    is_sure = is_sure and situation.rules is not None
    state = _state(
        situation, device, holders=exclusive, is_tainted=blocks(taints), is_sure=is_sure
    )
    return AssessedDevice(
        key=key,
        device=device,
        slice_name=item.name,
        slice_uid=item.uid,
        generation=pool.generation,
        node=_device_node(places),
        state=state,
        is_partly_used=_partly_used(
            situation, device, holders=exclusive, is_tainted=blocks(taints), is_sure=is_sure
        ),
        taints=taints,
        holders=tuple(results),
        capacity=capacity_of_device(
            device, holders=None if situation.holders is None else exclusive
        ),
        problems=tuple(sorted(set(device_problems(device, taints=taints, holders=exclusive)))),
    )


def _state(
    situation: _Situation,
    device: Device,
    *,
    holders: Sequence[AllocationResult],
    is_tainted: bool,
    is_sure: bool,
) -> DeviceState:
    if holders:
        return "allocated"
    if situation.holders is None or situation.pool.taking != "all":
        return "unknown"
    if is_tainted:
        return "unavailable"
    if not is_sure:
        return "unknown"
    fits = has_room_when_free(device) and situation.ledger.fits(device)
    return "available" if fits else "blocked"


def _partly_used(
    situation: _Situation,
    device: Device,
    *,
    holders: Sequence[AllocationResult],
    is_tainted: bool,
    is_sure: bool,
) -> bool | None:
    """Whether a claim that asks for this allocated device alone still gets a share; None when that is not known.

    Its counters are drawn already, so they are not looked at again.
    """
    if situation.holders is None:
        return None
    taking = situation.pool.taking
    if not holders or not device.allows_multiple_allocations or is_tainted or taking == "nothing":
        return False
    if not has_room_for_share(device, holders=holders):
        return False
    return True if is_sure and taking == "all" else None


def _device_node(places: _Places) -> NodeSelection:
    nodes = [device.node or item.node for item, device in places]
    if len(set(nodes)) == 1:
        return nodes[0]
    return mixed(nodes)


def _counts(devices: Sequence[AssessedDevice], *, taking: Taking, is_known: bool) -> DeviceCounts:
    """Count by state; `is_known` tells whether claims are. What an unknown device might add to is unknown."""
    by_state = Counter(device.state for device in devices)
    is_settled = taking == "all" and not by_state["unknown"]
    available = by_state["available"] if is_settled else None
    if taking == "nothing" or (is_known and not is_settled and not by_state["unknown"]):
        available = 0
    partly = Counter(device.is_partly_used for device in devices)
    return DeviceCounts(
        total=len(devices) if taking == "all" else None,
        seen=len(devices),
        allocated=by_state["allocated"] if is_known else None,
        partly_used=None if partly[None] else partly[True],
        unavailable=by_state["unavailable"] if is_settled else None,
        blocked=by_state["blocked"] if is_settled else None,
        available=available,
        admin_access=_admin_access(devices) if is_known else None,
    )


def _admin_access(devices: Iterable[AssessedDevice]) -> int:
    return sum(
        1 for device in devices if any(holder.has_admin_access for holder in device.holders)
    )


def _partitions(situation: _Situation, devices: Sequence[AssessedDevice]) -> tuple[Partition, ...]:
    """Nothing fits into a pool from which the scheduler takes nothing, so there only the totals are told."""
    types = partition_types(situation.pool.slices)
    if not types:
        return ()
    is_known = situation.pool.taking == "all" and all(
        device.state != "unknown" for device in devices
    )
    return partitions_left(devices, types=types, ledger=situation.ledger, is_known=is_known)


def _pool_problems(
    situation: _Situation,
    devices: Sequence[AssessedDevice],
    *,
    unpublished: Sequence[AllocationResult],
) -> tuple[Problem, ...]:
    """Problems of the pool, and those of its devices that are more than information."""
    pool = situation.pool
    problems = {
        *pool.problems,
        *slice_problems(pool.slices),
        *counters_beside_devices(pool.slices, release=situation.release),
        *overdrawn_counters(situation.ledger),
        *overlapping_devices((device.device for device in devices), key=pool.key),
        *unpublished_problems(unpublished, is_complete=pool.is_complete),
        *rule_problems(situation.rules or (), release=situation.release),
        *(p for device in devices for p in device.problems if p.severity != "info"),
    }
    if not partition_types(pool.slices):
        problems.update(competing_devices(devices, ledger=situation.ledger))
    node = node_of(pool.slices)
    if pool.taking == "all" and not devices and node.kind != "none":
        problems.add(Problem("no_devices"))
    if node.kind == "mixed":
        names, count = first_names(node_term(item.node) for item in pool.slices)
        problems.add(Problem.of("mixed_nodes", nodes=names, node_count=count))
    return tuple(sorted(problems))
