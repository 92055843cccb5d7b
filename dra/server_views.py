"""The two summaries of a pool status answer of 1.37: partition types, and capacity of shareable devices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dra.partitions import text_attribute
from dra.quantity import ZERO, Quantity
from dra.sharing import consumed_by
from dra.values import AllocationResult, Device, ResourceSlice

_LIST_LIMIT: Final = 32


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """One partition type of an answer."""

    attribute: str
    type: str
    total: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class CapacityStatus:
    """One capacity key of an answer."""

    name: str
    total: Quantity
    consumed: Quantity
    available: Quantity


@dataclass(frozen=True, slots=True)
class ShareableStatus:
    """Shareable devices of an answer. Partially available ones include those that are full."""

    fully_available: int
    partially_available: int
    capacity: tuple[CapacityStatus, ...]


@dataclass(frozen=True, slots=True)
class PoolViews:
    """Summaries of one pool, and the first reason why one is missing."""

    partitions: tuple[PartitionStatus, ...] | None
    shareable: ShareableStatus | None
    error: str | None


class _ViewError(Exception):
    """Why a summary cannot be computed, in the server's words."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A device with the attribute that groups it, None where none does."""

    device: Device
    attribute: str | None


class _Counters:
    """Counters left as the controller keeps them: of two sets of one name the counters met last win."""

    def __init__(self, slices: Iterable[ResourceSlice] = ()) -> None:
        self._left: dict[tuple[str, str], int] = {}
        self.is_empty = True
        for item in slices:
            for counter_set in item.counter_sets:
                self.is_empty = False
                for name, amount in counter_set.counters.items():
                    self._left[counter_set.name, name] = amount.nanos

    def copy(self) -> "_Counters":
        counters = _Counters()
        counters._left = dict(self._left)
        return counters

    def draw(self, device: Device) -> None:
        for use in device.consumes_counters:
            for name, amount in use.counters.items():
                if (use.counter_set, name) in self._left:
                    self._left[use.counter_set, name] -= amount.nanos

    def fits(self, device: Device) -> bool:
        """Only what the device itself needs is looked at; the scheduler looks at all counters."""
        return all(
            (use.counter_set, name) in self._left
            and self._left[use.counter_set, name] >= amount.nanos
            for use in device.consumes_counters
            for name, amount in use.counters.items()
        )


def pool_views(
    slices: Sequence[ResourceSlice],
    *,
    holding: Sequence[AllocationResult],
    default_attribute: str | None,
) -> PoolViews:
    """Both summaries of one complete pool. An error of either drops the partitions, and keeps the rest."""
    name = f"{slices[0].driver}/{slices[0].pool}"
    in_use: set[str] = {result.key.device for result in holding}
    errors: list[str] = []
    partitions = shareable = None
    try:
        partitions = _partitions(slices, name=name, in_use=in_use, default=default_attribute)
    except _ViewError as error:
        errors.append(str(error))
    try:
        shareable = _shareable(slices, name=name, in_use=in_use, holding=holding)
    except _ViewError as error:
        errors.append(str(error))
    return PoolViews(
        partitions=None if errors else partitions,
        shareable=shareable,
        error=errors[0] if errors else None,
    )


def _records(slices: Iterable[ResourceSlice], *, default: str | None) -> list[_Record]:
    """As soon as one device has an attribute from its slice, the request's default is ignored for all."""
    records = [
        _Record(device, item.partition_type_attribute)
        for item in slices
        for device in item.devices
    ]
    if any(record.attribute for record in records):
        return records
    return [_Record(record.device, default) for record in records]


def _partitions(
    slices: Sequence[ResourceSlice], *, name: str, in_use: set[str], default: str | None
) -> tuple[PartitionStatus, ...] | None:
    records = _records(slices, default=default)
    if not any(record.attribute for record in records):
        return None
    counters = _Counters(slices)
    if counters.is_empty:
        message = f"PartitionTypeMissing: pool {name} declares partitionTypeAttribute but publishes no sharedCounters"
        raise _ViewError(message)
    groups = _groups(records, driver=slices[0].driver, name=name)
    for record in records:
        if record.device.name in in_use:
            counters.draw(record.device)
    partitions = [
        PartitionStatus(attribute, value, len(group), _allocatable(group, in_use, counters))
        for (attribute, value), group in sorted(groups.items())
    ]
    if len(partitions) > _LIST_LIMIT:
        message = f"PartitionSummaryOverCap: pool {name} has {len(partitions)} partition types, exceeding the maximum of 32"
        raise _ViewError(message)
    return tuple(partitions)


def _groups(
    records: Iterable[_Record], *, driver: str, name: str
) -> dict[tuple[str, str], list[Device]]:
    groups: dict[tuple[str, str], list[Device]] = {}
    for record in records:
        device, attribute = record.device, record.attribute
        if not device.consumes_counters or not attribute:
            continue
        value = text_attribute(device, name=attribute, driver=driver)
        if value is None:
            message = (
                f'PartitionTypeMissing: device "{device.name}" in pool {name} '
                f'does not carry partition type attribute "{attribute}"'
            )
            raise _ViewError(message)
        group = groups.setdefault((attribute, value), [])
        if group and _cost(group[0]) != _cost(device):
            message = f'PartitionCostMismatch: devices of partition type "{value}" in pool {name} consume different counters'
            raise _ViewError(message)
        group.append(device)
    return groups


def _cost(device: Device) -> list[str]:
    """Counters as text: `1Gi` and `1073741824` are different costs to the server."""
    return sorted(
        f"{use.counter_set}/{name}={amount}"
        for use in device.consumes_counters
        for name, amount in use.counters.items()
    )


def _allocatable(group: Iterable[Device], in_use: set[str], baseline: _Counters) -> int:
    left = baseline.copy()
    count = 0
    for device in group:
        if device.name not in in_use and left.fits(device):
            left.draw(device)
            count += 1
    return count


def _shareable(
    slices: Iterable[ResourceSlice],
    *,
    name: str,
    in_use: set[str],
    holding: Iterable[AllocationResult],
) -> ShareableStatus | None:
    devices = [
        device for item in slices for device in item.devices if device.allows_multiple_allocations
    ]
    if not devices:
        return None
    totals: dict[str, Quantity] = {}
    for device in devices:
        for key, capacity in device.capacity.items():
            totals[key] = totals.get(key, ZERO) + capacity.value
    if len(totals) > _LIST_LIMIT:
        message = f"ShareableSummaryOverCap: pool {name} has {len(totals)} shareable capacity keys, exceeding the maximum of 32"
        raise _ViewError(message)
    used = sum(1 for device in devices if device.name in in_use)
    return ShareableStatus(
        fully_available=len(devices) - used,
        partially_available=used,
        capacity=_capacity(totals, consumed=consumed_by(holding)),
    )


def _capacity(
    totals: Mapping[str, Quantity], *, consumed: Mapping[str, Quantity]
) -> tuple[CapacityStatus, ...]:
    """Whatever results of the pool consumed of a key counts, also of devices that cannot be shared or are gone."""
    capacities = []
    for key, total in sorted(totals.items()):
        used = consumed.get(key, ZERO)
        left = total - used
        capacities.append(CapacityStatus(key, total, used, max(left, ZERO)))
    return tuple(capacities)
