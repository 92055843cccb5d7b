"""Reads of devices, and of who holds them."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection
from django.db.models import (
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.functions import Coalesce

from pools.models import (
    Allocation,
    Device,
    Pool,
    PublishedDevice,
)
from pools.queries.conditions import device_condition, on_nodes
from pools.queries.wanted import DeviceFilter
from ui.snapshot import Snapshot


def devices(snapshot: Snapshot, wanted: DeviceFilter) -> QuerySet[Device]:
    """The devices that match, with the columns that DEVICE_ORDERS sorts by."""
    return Device.known.filter(device_condition(wanted)).annotate(
        node_sort=Coalesce("node_name", Value(""), output_field=TextField())
    )


def device(snapshot: Snapshot, device_id: int) -> Device:
    """One device, also one that has vanished; raises Device.DoesNotExist."""
    return Device.known.get(id=device_id)


def device_named(
    snapshot: Snapshot, cluster_id: int, *, driver: str, pool: str, name: str
) -> Device:
    """One device by its names in Kubernetes, also one that has vanished; raises Device.DoesNotExist."""
    return Device.known.get(cluster_id=cluster_id, driver=driver, pool_name=pool, name=name)


def capacity_of(row: Device) -> list[dict[str, Any]]:
    """Its capacity by name; of a device that has vanished it is not known what is consumed and left."""
    if row.vanished_at is None:
        return list(row.capacity)
    return [{**each, "consumed": None, "available": None} for each in row.capacity]


def devices_of_pool(snapshot: Snapshot, pool: Pool) -> QuerySet[Device]:
    """The devices of one pool."""
    return Device.objects.filter(cluster_id=pool.cluster_id, pool_id=pool.id)


_SAMPLE = """
SELECT DISTINCT d.driver, named.name, named.is_capacity
FROM unnest(%s::text[]) AS wanted(driver) CROSS JOIN LATERAL (
    SELECT driver, attributes, capacity_numbers FROM pools_publisheddevice p
    WHERE p.driver = wanted.driver AND vanished_at IS NULL ORDER BY driver, pool_name, name, id LIMIT %s
) d CROSS JOIN LATERAL (
    SELECT jsonb_object_keys(d.attributes), false UNION ALL SELECT jsonb_object_keys(d.capacity_numbers), true
) named(name, is_capacity)
"""


# Last words of attribute names that tell what a device is; they come before the others.
_TELLING = ("productname", "model", "product", "profile", "type")


def attribute_names(snapshot: Snapshot, drivers: Sequence[str], *, sample: int = 40) -> list[str]:
    """Names of capacities and attributes that the first devices of each driver have; one query.

    What tells what a device is comes first, then what most drivers have, capacities before attributes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLE, [list(drivers), sample])
        rows = cursor.fetchall()
    having: dict[str, set[str]] = {}
    capacities: set[str] = set()
    for driver, name, is_capacity in rows:
        having.setdefault(name, set()).add(driver)
        if is_capacity:
            capacities.add(name)
    return sorted(
        having, key=lambda n: (_telling_rank(n), -len(having[n]), n not in capacities, n)
    )


def _telling_rank(name: str) -> int:
    word = name.rpartition("/")[2].lower()
    return _TELLING.index(word) if word in _TELLING else len(_TELLING)


# Last words of attribute names whose value belongs to one piece of hardware, wherever it is published.
_IDENTITIES = ("uuid", "serial", "serialnumber")


# The same within one node.
_NODE_IDENTITIES = ("pcibusid", "pciaddress", "pci")


_NAMES: Final = ("driver", "pool_name", "name", "id")


def same_hardware(snapshot: Snapshot, row: Device, *, limit: int) -> list[Device]:
    """Other devices of the cluster that are the same piece of hardware or a part of it, by their attributes; one query."""
    condition = Q()
    for name, value in row.attributes.items():
        word = name.rpartition("/")[2].lower()
        if not isinstance(value, str) or not value:
            continue
        equal = Q(attributes__contains={name: value})
        if word in _IDENTITIES:
            condition |= equal
        elif word in _NODE_IDENTITIES and row.node_name:
            condition |= equal & on_nodes([row.node_name])
    if not condition:
        return []
    same = PublishedDevice.objects.filter(
        condition, cluster_id=row.cluster_id, vanished_at=None
    ).exclude(id=row.id)
    # Sorted by what no index has: Postgres would go through all devices in order, and hope to meet `limit` of these soon.
    few = same.order_by(Coalesce("driver", Value("")), *_NAMES[1:])[:limit]
    return list(Device.objects.filter(id__in=few.values("id")).order_by(*_NAMES))


def holders(snapshot: Snapshot, devices: Sequence[Device]) -> dict[int, list[Allocation]]:
    """Allocation results by device id, those with admin access among them; one query."""
    if not devices:
        return {}
    by_key = {(d.cluster_id, d.driver, d.pool_name, d.name): d.id for d in devices}
    rows = Allocation.objects.filter(
        cluster_id__in={d.cluster_id for d in devices},
        driver__in={d.driver for d in devices},
        pool_name__in={d.pool_name for d in devices},
        device__in={d.name for d in devices},
    ).order_by("claim_namespace", "claim_name", "request", "share_id", "id")
    result: dict[int, list[Allocation]] = {}
    for row in rows:
        key = (row.cluster_id, row.driver, row.pool_name, row.device)
        if key in by_key:
            result.setdefault(by_key[key], []).append(row)
    return result
