"""Partition types of one pool, and how many of each still fit under the shared counters."""

from collections.abc import Iterable, Sequence
from typing import Final

from dra.counters import CounterLedger, needs_of
from dra.sharing import has_room_when_free
from dra.values import AssessedDevice, Device, Partition, Problem, ResourceSlice

# Names, without domain, under which drivers publish what kind of partition a device is.
_TYPE_NAMES: Final = ("profile", "partitionProfile", "partitionType", "migProfile")

PartitionType = tuple[str, str]
"""Fully qualified attribute, and its value."""


def text_attribute(device: Device, *, name: str, driver: str) -> str | None:
    """The value of a text attribute by its full name; a bare one belongs to the driver's domain."""
    attribute = device.attributes.get(name)
    if attribute is None and name.startswith(f"{driver}/"):
        attribute = device.attributes.get(name.removeprefix(f"{driver}/"))
    return attribute.value if attribute is not None and attribute.kind == "string" else None


def partition_types(slices: Sequence[ResourceSlice]) -> dict[str, PartitionType]:
    """Partition type by device name.

    What slices declare in `partitionTypeAttribute` counts, and then nothing else. Where none declares one, an attribute is taken
    that drivers are known to use and that every device with counters carries.
    """
    drawing = [
        (item, device) for item in slices for device in item.devices if device.consumes_counters
    ]
    if not drawing:
        return {}
    if any(item.partition_type_attribute and item.devices for item in slices):
        pairs = [(item.partition_type_attribute, item, device) for item, device in drawing]
    else:
        usual = _usual_attribute([device for _, device in drawing], driver=slices[0].driver)
        pairs = [(usual, item, device) for item, device in drawing]
    types: dict[str, PartitionType] = {}
    for name, item, device in pairs:
        value = text_attribute(device, name=name, driver=item.driver) if name else None
        if name and value is not None:
            types[device.name] = (name, value)
    return types


def _usual_attribute(devices: Sequence[Device], *, driver: str) -> str | None:
    for name in _TYPE_NAMES:
        qualified = f"{driver}/{name}"
        if all(
            text_attribute(item, name=qualified, driver=driver) is not None for item in devices
        ):
            return qualified
    return None


def partitions_left(
    devices: Iterable[AssessedDevice],
    *,
    types: dict[str, PartitionType],
    ledger: CounterLedger,
    is_known: bool,
) -> tuple[Partition, ...]:
    """Per type, how many devices there are and how many of this type alone could still be allocated together.

    Each figure is a plan that works: devices were placed one after the other, those that need least first. Where devices of a type
    differ in what they need, a cleverer plan might hold more. Devices that are unavailable are left out.
    """
    groups: dict[PartitionType, list[AssessedDevice]] = {}
    for device in devices:
        if device.device.name in types:
            groups.setdefault(types[device.device.name], []).append(device)
    return tuple(
        Partition(
            attribute=attribute,
            type=value,
            total=len(group),
            allocatable=_fitting(group, ledger=ledger) if is_known else None,
        )
        for (attribute, value), group in sorted(groups.items())
    )


def _fitting(group: Sequence[AssessedDevice], *, ledger: CounterLedger) -> int:
    free = [
        item.device
        for item in group
        if item.state in {"available", "blocked"} and has_room_when_free(item.device)
    ]
    left = ledger.copy()
    count = 0
    for device in sorted(free, key=_least_first):
        if left.fits(device):
            left.draw(device)
            count += 1
    return count


def competing_devices(
    devices: Iterable[AssessedDevice], *, ledger: CounterLedger
) -> list[Problem]:
    """Say that available devices exclude each other, for pools whose partition types are not known."""
    free = [
        item for item in devices if item.state == "available" and item.device.consumes_counters
    ]
    together = _fitting(free, ledger=ledger)
    if together == len(free):
        return []
    return [Problem.of("available_devices_compete", available=len(free), together=together)]


def _least_first(device: Device) -> tuple[int, int, str]:
    needs = [need for need in needs_of(device).values() if need]
    return len(needs), sum(needs), device.name
