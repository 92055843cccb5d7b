"""Contradictions in a pool that a person should know of: things given away twice, or more of them than there are."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from dra.catalogue import first_names, list_words
from dra.counters import CounterLedger
from dra.partitions import text_attribute
from dra.sharing import consumed_by, is_unknown_amount
from dra.tainting import KNOWN_EFFECTS, unknown_effect
from dra.values import AllocationResult, Device, PoolKey, Problem, Release, ResourceSlice, Taint

# A device and the attribute by which another one names it as its parent, as drivers publish them.
_PARENT_ATTRIBUTES: Final = (("parentUUID", "uuid"), ("parentDeviceID", "deviceID"))
UNPUBLISHED: Final = frozenset({"unpublished_allocation", "unseen_allocation"})
# From here on a slice holds either counters or devices.
_SPLIT_SINCE: Final = Release(1, 35)


def device_problems(
    device: Device, *, taints: Sequence[Taint], holders: Sequence[AllocationResult]
) -> list[Problem]:
    """Problems of one device; `holders` are without admin access."""
    problems = list(device.problems)
    problems += [
        unknown_effect(taint, of="device", name=device.name)
        for taint in taints
        if taint.effect not in KNOWN_EFFECTS
    ]
    problems += [
        Problem.of("unknown_capacity", capacity=name)
        for name, capacity in device.capacity.items()
        if is_unknown_amount(name, capacity.value)
    ]
    if len(holders) > 1:
        problems += _held_twice(device, holders=holders)
    if holders and device.capacity:
        problems += _overdrawn_capacity(device, holders=holders)
    return problems


def _held_twice(device: Device, *, holders: Sequence[AllocationResult]) -> list[Problem]:
    """A device that cannot be shared, or is held as a whole, belongs to one result."""
    is_shared = all(holder.share_id is not None for holder in holders)
    if device.allows_multiple_allocations and is_shared:
        return []
    claims, count = first_names(claim_words(holder) for holder in holders)
    problem = Problem.of(
        "device_allocated_twice",
        device=device.name,
        times=len(holders),
        claims=claims,
        claim_count=count,
    )
    return [problem]


def _overdrawn_capacity(device: Device, *, holders: Sequence[AllocationResult]) -> list[Problem]:
    consumed = consumed_by(holders)
    return [
        Problem.of(
            "capacity_overdrawn",
            device=device.name,
            capacity=name,
            total=str(capacity.value),
            consumed=str(consumed[name]),
        )
        for name, capacity in device.capacity.items()
        if name in consumed and consumed[name] > capacity.value
    ]


def claim_words(holder: AllocationResult) -> str:
    """Name the claim of a result."""
    return f"{holder.claim.namespace}/{holder.claim.name}"


def in_words(names: Iterable[str]) -> str:
    """A short list of names, each once, in order."""
    named, total = first_names(names)
    return list_words(named, total=total)


def slice_problems(slices: Iterable[ResourceSlice]) -> list[Problem]:
    """What could not be read of the slices, and slices that no node can use."""
    problems = []
    for item in slices:
        problems += [problem.in_slice(item.name) for problem in item.problems]
        if item.node.kind == "none":
            problems.append(Problem.of("no_node_selection", slice=item.name))
    return problems


def counters_beside_devices(
    slices: Iterable[ResourceSlice], *, release: Release | None
) -> list[Problem]:
    """Slices of the shape that 1.34 asks for and later releases refuse; those that are stored already stay as they are."""
    if release is not None and release < _SPLIT_SINCE:
        return []
    names = [item.name for item in slices if item.counter_sets and item.devices]
    if not names:
        return []
    named, count = first_names(names)
    return [Problem.of("counters_beside_devices", slices=named, slice_count=count)]


def overdrawn_counters(ledger: CounterLedger) -> list[Problem]:
    """Counters of which allocated devices draw more than there is."""
    return [
        Problem.of("counter_overdrawn", counter_set=counter_set, counter=name, amount=str(amount))
        for (counter_set, name), amount in ledger.overdrawn
    ]


def unpublished_problems(
    unpublished: Sequence[AllocationResult], *, is_complete: bool
) -> list[Problem]:
    """Allocations of devices that are not there, those of one claim in one pool together.

    `is_complete`: all slices of the pool are known, so that what is in none of them is published no more.
    """
    devices: dict[tuple[str, PoolKey], set[str]] = {}
    for result in unpublished:
        held = devices.setdefault((claim_words(result), result.key.pool_key), set())
        held.add(result.key.device)
    return [
        _absent(claim, key, devices=names, is_complete=is_complete)
        for (claim, key), names in devices.items()
    ]


def _absent(claim: str, key: PoolKey, *, devices: Collection[str], is_complete: bool) -> Problem:
    names, count = first_names(devices)
    return Problem.of(
        "unpublished_allocation" if is_complete else "unseen_allocation",
        claim=claim,
        driver=key.driver,
        pool=key.pool,
        devices=names,
        device_count=count,
    )


def overlapping_devices(devices: Iterable[Device], *, key: PoolKey) -> list[Problem]:
    """Devices that are a part of another published one while no common counter set keeps them apart."""
    ordered = sorted(devices, key=lambda device: device.name)
    problems = []
    for child_name, parent_name in _PARENT_ATTRIBUTES:
        families = _by_attribute(ordered, name=child_name, key=key)
        parents = _by_attribute(ordered, name=parent_name, key=key) if families else {}
        for value, children in families.items():
            for parent in parents.get(value, ()):
                unsafe = [child.name for child in children if not _share_counters(child, parent)]
                if unsafe:
                    problems.append(_overlap(parent, unsafe))
    return problems


def _overlap(parent: Device, children: Sequence[str]) -> Problem:
    parts, count = first_names(children)
    return Problem.of("overlapping_devices", device=parent.name, parts=parts, part_count=count)


def _by_attribute(
    devices: Iterable[Device], *, name: str, key: PoolKey
) -> dict[str, list[Device]]:
    qualified = f"{key.driver}/{name}"
    devices_by_value: dict[str, list[Device]] = {}
    for device in devices:
        value = text_attribute(device, name=qualified, driver=key.driver)
        if value:
            devices_by_value.setdefault(value, []).append(device)
    return devices_by_value


def _share_counters(one: Device, other: Device) -> bool:
    theirs = {use.counter_set for use in other.consumes_counters}
    return one is other or any(use.counter_set in theirs for use in one.consumes_counters)
