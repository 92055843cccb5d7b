"""Contradictions in a pool that a person should know of: things given away twice, or more of them than there are."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from dra.counters import CounterLedger
from dra.partitions import text_attribute
from dra.sharing import consumed_by, is_unknown_amount
from dra.tainting import KNOWN_EFFECTS, unknown_effect
from dra.values import AllocationResult, Device, PoolKey, Problem, Release, ResourceSlice, Taint

# A device and the attribute by which another one names it as its parent, as drivers publish them.
_PARENT_ATTRIBUTES: Final = (("parentUUID", "uuid"), ("parentDeviceID", "deviceID"))
_NAMED_AT_MOST: Final = 5
# From here on a slice holds either counters or devices.
_SPLIT_SINCE: Final = Release(1, 35)


def device_problems(
    device: Device, *, taints: Sequence[Taint], holders: Sequence[AllocationResult]
) -> list[Problem]:
    """Problems of one device; `holders` are without admin access."""
    problems = list(device.problems)
    problems += [
        unknown_effect(taint, of=f"device {device.name}")
        for taint in taints
        if taint.effect not in KNOWN_EFFECTS
    ]
    problems += [
        Problem("unknown_capacity", f"{name} is published as 0: its size is not known", "info")
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
    claims = in_words(claim_words(holder) for holder in holders)
    message = f"device {device.name} is allocated {len(holders)} times, to {claims}, and cannot be shared"
    return [Problem("device_allocated_twice", message, "error")]


def _overdrawn_capacity(device: Device, *, holders: Sequence[AllocationResult]) -> list[Problem]:
    consumed = consumed_by(holders)
    return [
        Problem(
            "capacity_overdrawn",
            f"device {device.name} has {capacity.value} of {name}, but {consumed[name]} are consumed",
            "error",
        )
        for name, capacity in device.capacity.items()
        if name in consumed and consumed[name] > capacity.value
    ]


def claim_words(holder: AllocationResult) -> str:
    """Name the claim of a result."""
    return f"{holder.claim.namespace}/{holder.claim.name}"


def in_words(names: Iterable[str]) -> str:
    """A short list of names, each once, in order."""
    ordered = sorted(set(names))
    named = ordered[:_NAMED_AT_MOST]
    more = len(ordered) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def slice_problems(slices: Iterable[ResourceSlice]) -> list[Problem]:
    """What could not be read of the slices, and slices that no node can use."""
    problems = []
    for item in slices:
        for problem in item.problems:
            message = f"slice {item.name}: {problem.message}"
            problems.append(Problem(problem.code, message, problem.severity))
        if item.node.kind == "none":
            message = f"slice {item.name} names no node that can use it: the scheduler ignores it"
            problems.append(Problem("no_node_selection", message, "warning"))
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
    message = (
        f"slices with both counters and devices ({in_words(names)}) are refused since 1.35, and its scheduler leaves out their devices: "
        "the driver has to publish them anew"
    )
    return [Problem("counters_beside_devices", message, "warning")]


def overdrawn_counters(ledger: CounterLedger) -> list[Problem]:
    """Counters of which allocated devices draw more than there is."""
    return [
        Problem(
            "counter_overdrawn",
            f"allocated devices draw {amount} more of {name} in counter set {counter_set} than there is",
            "error",
        )
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
    words = _unpublished if is_complete else _unseen
    return [
        Problem("unpublished_allocation", words(claim, key, devices=names), "warning")
        for (claim, key), names in devices.items()
    ]


def _unpublished(claim: str, key: PoolKey, *, devices: Collection[str]) -> str:
    pool = f"{key.driver}/{key.pool}"
    if len(devices) == 1:
        (device,) = devices
        return f"claim {claim} holds device {device} of {pool}, which is not published any more"
    return f"claim {claim} holds {len(devices)} devices of {pool} that are not published any more: {in_words(devices)}"


def _unseen(claim: str, key: PoolKey, *, devices: Collection[str]) -> str:
    pool = f"{key.driver}/{key.pool}"
    if len(devices) == 1:
        (device,) = devices
        return f"claim {claim} holds device {device} of {pool}, which is in none of the slices that are there"
    return f"claim {claim} holds {len(devices)} devices of {pool} that are in none of the slices that are there: {in_words(devices)}"


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
    message = (
        f"device {parent.name} and its parts {in_words(children)} are the same hardware, and no shared counter says so: "
        "what is free cannot be relied on"
    )
    return Problem("overlapping_devices", message, "warning")


def _by_attribute(
    devices: Iterable[Device], *, name: str, key: PoolKey
) -> dict[str, list[Device]]:
    qualified = f"{key.driver}/{name}"
    found: dict[str, list[Device]] = {}
    for device in devices:
        value = text_attribute(device, name=qualified, driver=key.driver)
        if value:
            found.setdefault(value, []).append(device)
    return found


def _share_counters(one: Device, other: Device) -> bool:
    theirs = {use.counter_set for use in other.consumes_counters}
    return one is other or any(use.counter_set in theirs for use in one.consumes_counters)
