"""Our figures of a pool beside those of a pool status answer, and every difference with its reasons.

The server's way of counting is applied to our own objects first. What it explains is named; what it does not explain is said to be
unexplained, since objects may have changed between the two readings.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dra.reasons import UNEXPLAINED
from dra.server import PoolStatus
from dra.tainting import blocks
from dra.values import AllocationResult, AssessedPool, Release

_COUNTS_DEVICES_SINCE: Final = Release(1, 37)

Figure = int | str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that is not the same: codes of `dra.reasons` for it and for the reasons, which are about the server."""

    field: str
    parameters: Mapping[str, str]
    """Of which partition or capacity; empty: of the pool."""
    ours: Figure
    server: Figure
    reasons: tuple[str, ...]

    @property
    def is_explained(self) -> bool:
        """Whether the server's way of counting explains it, so that both read the same objects."""
        return UNEXPLAINED not in self.reasons


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the server's arithmetic needs, taken from our own reading."""

    pool: AssessedPool
    counts_devices: bool
    """1.37 counts devices, 1.36 allocation results."""

    @property
    def results(self) -> list[AllocationResult]:
        held = [holder for device in self.pool.devices for holder in device.holders]
        return [*held, *self.pool.unpublished]

    @property
    def holding(self) -> list[AllocationResult]:
        return [result for result in self.results if not result.has_admin_access]

    @property
    def tainted(self) -> int:
        return sum(1 for device in self.pool.devices if blocks(device.taints))

    @property
    def allocated_and_tainted(self) -> int:
        return sum(
            1
            for device in self.pool.devices
            if device.state == "allocated" and blocks(device.taints)
        )

    @property
    def allocated(self) -> int:
        if self.counts_devices:
            return len({result.key.device for result in self.holding})
        return len(self.results)

    @property
    def unavailable(self) -> int:
        return self.tainted if self.counts_devices else 0

    @property
    def available(self) -> int:
        return max(0, self.pool.device_entries - self.allocated - self.unavailable)


def compare_with_server(
    pool: AssessedPool, status: PoolStatus, *, release: Release
) -> tuple[Difference, ...]:
    """Every figure of the answer that differs from ours. `pool` was assessed from objects of about the same moment."""
    facts = _Facts(pool, counts_devices=release >= _COUNTS_DEVICES_SINCE)
    counts = pool.counts
    pairs = [
        ("generation", pool.generation, status.generation, pool.generation, []),
        ("slices", pool.slices_seen, status.resource_slice_count, pool.slices_seen, []),
        ("total", counts.total, status.total, pool.device_entries, _total_reasons(facts)),
        (
            "allocated",
            counts.allocated,
            status.allocated,
            facts.allocated,
            _allocated_reasons(facts),
        ),
        (
            "unavailable",
            counts.unavailable,
            status.unavailable,
            facts.unavailable,
            _unavailable_reasons(facts),
        ),
        (
            "available",
            counts.available,
            status.available,
            facts.available,
            _available_reasons(facts),
        ),
        ("node", pool.node.node_name, status.node_name, pool.node.node_name, []),
    ]
    differences = [
        Difference(name, {}, ours, server, _reasons(server, expected=expected, reasons=reasons))
        for name, ours, server, expected, reasons in pairs
        if ours != server
    ]
    return (
        *differences,
        *_partition_differences(facts, status),
        *_capacity_differences(facts, status),
    )


def _reasons(server: Figure, *, expected: Figure, reasons: Iterable[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(reasons))
    return named if named and server == expected else (*named, UNEXPLAINED)


def _or_unexplained(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(reasons) or (UNEXPLAINED,)


def _unknown_reasons(facts: _Facts) -> list[str]:
    """Why a figure of ours is null."""
    if not facts.pool.is_complete or not facts.pool.is_valid:
        return ["pool_not_taken"]
    if any(device.state == "unknown" for device in facts.pool.devices):
        return ["not_readable"]
    return []


def _total_reasons(facts: _Facts) -> list[str]:
    reasons = _unknown_reasons(facts) if facts.pool.counts.total is None else []
    if facts.pool.device_entries > len(facts.pool.devices):
        reasons.append("server_counts_names_twice")
    return reasons


def _allocated_reasons(facts: _Facts) -> list[str]:
    reasons = [] if facts.pool.counts.allocated is not None else ["not_readable"]
    if facts.pool.unpublished:
        reasons.append("server_counts_unpublished")
    if facts.counts_devices:
        return reasons
    if any(result.has_admin_access for result in facts.results):
        reasons.append("server_counts_admin_access")
    devices = {result.key for result in facts.holding}
    if len(facts.holding) > len(devices):
        reasons.append("server_counts_shares")
    return reasons


def _unavailable_reasons(facts: _Facts) -> list[str]:
    reasons = _unknown_reasons(facts)
    if not facts.counts_devices and facts.tainted:
        reasons.append("server_ignores_taints")
    if facts.counts_devices and facts.allocated_and_tainted:
        reasons.append("server_counts_allocated_as_unavailable")
    return reasons


def _available_reasons(facts: _Facts) -> list[str]:
    reasons = [*_total_reasons(facts), *_unknown_reasons(facts), *_allocated_reasons(facts)]
    if facts.counts_devices and facts.allocated_and_tainted:
        reasons.append("server_subtracts_twice")
    if not facts.counts_devices and facts.tainted:
        reasons.append("server_ignores_taints")
    if facts.pool.counts.blocked:
        reasons.append("server_knows_no_blocked")
    return reasons


def _partition_differences(facts: _Facts, status: PoolStatus) -> list[Difference]:
    """Only what the server answered is compared; 1.36 has no summaries."""
    ours = {(item.attribute, item.type): item for item in facts.pool.partitions}
    differences = []
    for theirs in status.partitions or ():
        of = {"attribute": theirs.attribute, "type": theirs.type}
        own = ours.get((theirs.attribute, theirs.type))
        if own is None:
            reasons: tuple[str, ...] = ("server_groups_otherwise",)
            differences.append(Difference("partition", of, None, theirs.allocatable, reasons))
            continue
        if own.total != theirs.total:
            reasons = _or_unexplained(_total_reasons(facts))
            differences.append(Difference("partition_total", of, own.total, theirs.total, reasons))
        if own.allocatable != theirs.allocatable:
            reasons = _allocatable_reasons(facts)
            differences.append(
                Difference(
                    "partition_allocatable", of, own.allocatable, theirs.allocatable, reasons
                )
            )
    return differences


def _allocatable_reasons(facts: _Facts) -> tuple[str, ...]:
    reasons = _unknown_reasons(facts)
    if facts.tainted > facts.allocated_and_tainted:
        reasons.append("server_counts_tainted_as_allocatable")
    if any(problem.code == "counter_overdrawn" for problem in facts.pool.problems):
        reasons.append("server_looks_at_needed_counters")
    return _or_unexplained(reasons)


def _capacity_differences(facts: _Facts, status: PoolStatus) -> list[Difference]:
    if status.shareable is None:
        return []
    ours = {use.name: use for use in facts.pool.capacity}
    differences = []
    for theirs in status.shareable.capacity:
        own, of = ours.get(theirs.name), {"capacity": theirs.name}
        if own is None or own.consumed is None:
            reasons = _or_unexplained(_unknown_reasons(facts))
            differences.append(Difference("capacity", of, None, str(theirs.consumed), reasons))
        elif own.consumed != theirs.consumed:
            difference = Difference(
                "capacity_consumed",
                of,
                str(own.consumed),
                str(theirs.consumed),
                _consumed_reasons(facts, name=theirs.name),
            )
            differences.append(difference)
    return differences


def _consumed_reasons(facts: _Facts, *, name: str) -> tuple[str, ...]:
    reasons = []
    if any(name in result.consumed_capacity for result in facts.pool.unpublished):
        reasons.append("server_counts_unpublished_consumption")
    shareable = [item for item in facts.pool.devices if item.device.allows_multiple_allocations]
    if any(holder.share_id is None for item in shareable for holder in item.holders):
        reasons.append("server_counts_no_whole_device")
    others = [item for item in facts.pool.devices if not item.device.allows_multiple_allocations]
    if any(name in holder.consumed_capacity for item in others for holder in item.holders):
        reasons.append("server_counts_unshared_consumption")
    return _or_unexplained(reasons)
