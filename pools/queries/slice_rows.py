"""Reads of living ResourceSlices."""

from django.db.models import (
    F,
    Q,
    QuerySet,
)

from pools.models import (
    Device,
    Pool,
    ResourceSlice,
)
from pools.queries.conditions import places
from pools.queries.wanted import SliceFilter
from ui.snapshot import Snapshot


def slices(snapshot: Snapshot, wanted: SliceFilter) -> QuerySet[ResourceSlice]:
    """The living ResourceSlices that match."""
    condition = places(wanted.clusters, wanted.drivers, wanted.nodes)
    if wanted.pools:
        condition &= Q(pool_name__in=wanted.pools)
    if wanted.names:
        condition &= Q(name__in=wanted.names)
    if wanted.text:
        condition &= Q(name__icontains=wanted.text) | Q(pool_name__icontains=wanted.text)
    return ResourceSlice.objects.filter(condition)


def resource_slice(snapshot: Snapshot, object_id: int) -> ResourceSlice:
    """One living ResourceSlice; raises ResourceSlice.DoesNotExist."""
    return ResourceSlice.objects.get(object_id=object_id)


def slice_of_device(snapshot: Snapshot, device: Device) -> ResourceSlice | None:
    """The living ResourceSlice that publishes a device."""
    return ResourceSlice.objects.filter(
        cluster_id=device.cluster_id, object_id=device.slice_object_id
    ).first()


def slices_of_pool(snapshot: Snapshot, pool: Pool) -> QuerySet[ResourceSlice]:
    """The slices of one pool, newest generation first."""
    return ResourceSlice.objects.filter(
        cluster_id=pool.cluster_id, driver=pool.driver, pool_name=pool.name
    ).order_by(F("generation").desc(nulls_last=True), "name")
