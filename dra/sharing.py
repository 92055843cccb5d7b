"""Capacity of devices, and whether a device that allows multiple allocations has room for another share."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from dra.quantity import ZERO, Quantity, QuantityFormat
from dra.values import AllocationResult, AssessedDevice, Capacity, CapacityUse, Device


def default_share(capacity: Capacity) -> Quantity:
    """What a claim that does not name this capacity consumes: the policy's default, or all of it."""
    if capacity.policy and capacity.policy.default is not None:
        return capacity.policy.default
    return capacity.value


def has_room_for_share(device: Device, *, holders: Sequence[AllocationResult]) -> bool:
    """Whether a claim that asks for this device alone, and names no capacity, still gets a share.

    `holders` are without admin access. A result without share id holds the whole device.
    """
    if any(holder.share_id is None for holder in holders):
        return False
    consumed = consumed_by(holders)
    return all(
        consumed.get(name, ZERO).nanos + default_share(capacity).nanos <= capacity.value.nanos
        for name, capacity in device.capacity.items()
    )


def has_room_when_free(device: Device) -> bool:
    """Whether its capacity is enough for what a share takes by default; of one that cannot be shared it always is."""
    return not device.allows_multiple_allocations or has_room_for_share(device, holders=())


def consumed_by(holders: Iterable[AllocationResult]) -> dict[str, Quantity]:
    """Consumed capacity of all holders together."""
    consumed: dict[str, Quantity] = {}
    for holder in holders:
        for name, amount in holder.consumed_capacity.items():
            consumed[name] = consumed[name] + amount if name in consumed else amount
    return consumed


def capacity_of_device(
    device: Device, *, holders: Sequence[AllocationResult] | None
) -> tuple[CapacityUse, ...]:
    """Each capacity of one device; `holders` (without admin access) None means that claims are not known.

    A holder without share id holds all of it. A memory of 0 is what drivers publish that cannot tell: nothing is computed from it.
    """
    if not device.capacity:
        return ()
    if not holders:
        return tuple(
            _whole_use(name, value.nanos, value.format, is_known=holders is not None)
            for name, value in sorted((n, c.value) for n, c in device.capacity.items())
        )
    is_whole = any(holder.share_id is None for holder in holders)
    consumed = consumed_by(holders)
    uses = []
    for name, capacity in sorted(device.capacity.items()):
        used = capacity.value if is_whole else consumed.get(name, ZERO)
        is_known = not is_unknown_amount(name, capacity.value)
        uses.append(_capacity_use(name, capacity.value, consumed=used if is_known else None))
    return tuple(uses)


@lru_cache(maxsize=1 << 14)
def _whole_use(
    name: str, nanos: int, quantity_format: QuantityFormat, *, is_known: bool
) -> CapacityUse:
    """Of a device that nobody holds. The same value for the same amount: fleets repeat a few on every device."""
    value = Quantity(nanos, quantity_format)
    is_known = is_known and not is_unknown_amount(name, value)
    return _capacity_use(name, value, consumed=ZERO if is_known else None)


def is_unknown_amount(name: str, value: Quantity) -> bool:
    """Whether a capacity says nothing: memory of 0 means that the driver may not read it."""
    return value.is_zero and name.rpartition("/")[2].lower() == "memory"


def capacity_of_pool(devices: Iterable[AssessedDevice]) -> tuple[CapacityUse, ...]:
    """Sums over the devices that allow multiple allocations; unknown as soon as one summand is."""
    sums: dict[str, tuple[Quantity, Quantity | None]] = {}
    for device in devices:
        if not device.device.allows_multiple_allocations:
            continue
        for use in device.capacity:
            total, consumed = sums.get(use.name, (ZERO, ZERO))
            both = None if consumed is None or use.consumed is None else consumed + use.consumed
            sums[use.name] = (total + use.total, both)
    return tuple(
        _capacity_use(name, total, consumed=consumed)
        for name, (total, consumed) in sorted(sums.items())
    )


def _capacity_use(name: str, total: Quantity, *, consumed: Quantity | None) -> CapacityUse:
    if consumed is None:
        return CapacityUse(name, total, consumed=None, available=None)
    left = total - consumed
    return CapacityUse(name, total, consumed, left if left.nanos > 0 else ZERO)
