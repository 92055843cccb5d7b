from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, ClassVar

from django.db.models import QuerySet

from api import cluster_shapes, shapes
from api.csv_text import Columns, codes
from api.known import Known
from api.views.base import Json
from api.views.listing import LIST_PARAMS, ListView
from clusters import queries as cluster_queries
from clusters.choices import POOLS
from clusters.models import Cluster
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, RESOURCE_SLICE
from pools import filters, queries
from pools.filters import Params, Read
from pools.models import Device, Pool, PoolStatusRequest, ResourceSlice
from pools.queries import DeviceFilter, PoolFilter, SliceFilter, StatusFilter
from ui.snapshot import Snapshot


def _plain(*names: str) -> Columns:
    return {name: itemgetter(name) for name in names}


def _inside(member: str, *names: str) -> Columns:
    return {f"{member}_{name}": _member_of(member, name) for name in names}


def _member_of(outer: str, inner: str) -> Callable[[Json], Any]:
    return lambda row: row[outer][inner]


def _problems() -> Columns:
    return {"problems": lambda row: codes(row["problems"])}


class PoolList(ListView[Pool]):
    """All pools that match the filters, with their figures as they are now."""

    operation_id = "pools"
    summary = "List pools"
    tag = "Pools"
    subjects = (POOLS,)
    answers: ClassVar = {"application/json": "PoolList", "text/csv": "CSV"}
    allowed = (*filters.POOL_PARAMS, *LIST_PARAMS)
    orders = queries.POOL_ORDERS
    default_ordering = "problems"
    columns: ClassVar[Columns] = {
        **_plain("id", "cluster", "driver", "pool", "generation", "complete"),
        **_inside("slices", "seen", "expected"),
        **_plain("node"),
        **_inside("node_selection", "kind", "text"),
        **_inside(
            "devices",
            "total",
            "seen",
            "allocated",
            "partly_used",
            "unavailable",
            "blocked",
            "available",
            "admin_access",
        ),
        **_plain("partitions", "capacity"),
        **_problems(),
        **_plain("observed_at", "source"),
    }

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[PoolFilter]:
        return filters.read_pool_filter(snapshot, params)

    def find(self, snapshot: Snapshot, wanted: PoolFilter) -> QuerySet[Pool]:
        return queries.pools(snapshot, wanted)

    def shape(self, row: Pool, known: Known) -> Json:
        return shapes.pool(row, known)


class DeviceList(ListView[Device]):
    """All devices that match the filters: the newest generation of each pool, and the state each device is in."""

    operation_id = "devices"
    summary = "List devices"
    tag = "Devices"
    subjects = (POOLS,)
    answers: ClassVar = {"application/json": "DeviceList", "text/csv": "CSV"}
    allowed = (*filters.DEVICE_PARAMS, *LIST_PARAMS)
    orders = queries.DEVICE_ORDERS
    default_ordering = "name"
    columns: ClassVar[Columns] = {
        **_plain("id", "cluster", "driver", "pool", "device", "node", "generation", "state"),
        **_plain("partly_used", "attributes", "capacity", "taints"),
        **_problems(),
        **_plain("observed_at"),
    }

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[DeviceFilter]:
        return filters.read_device_filter(snapshot, params)

    def find(self, snapshot: Snapshot, wanted: DeviceFilter) -> QuerySet[Device]:
        return queries.devices(snapshot, wanted)

    def shape(self, row: Device, known: Known) -> Json:
        return shapes.device(row, known)


class ResourceSliceList(ListView[ResourceSlice]):
    """All living ResourceSlices that match the filters, those of older generations among them."""

    operation_id = "resource_slices"
    summary = "List ResourceSlices"
    tag = "ResourceSlices"
    subjects = (RESOURCE_SLICE.name,)
    answers: ClassVar = {"application/json": "ResourceSliceList", "text/csv": "CSV"}
    allowed = (*filters.SLICE_PARAMS, *LIST_PARAMS)
    orders: ClassVar = {"name": queries.SLICE_ORDER}
    default_ordering = "name"
    columns: ClassVar[Columns] = {
        **_plain("id", "cluster", "name", "api_version", "driver", "pool", "generation"),
        **_plain("resource_slice_count", "node", "node_kind", "device_count"),
        **_problems(),
        **_plain("changed_at", "observed_at", "source"),
    }

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[SliceFilter]:
        return filters.read_slice_filter(snapshot, params)

    def find(self, snapshot: Snapshot, wanted: SliceFilter) -> QuerySet[ResourceSlice]:
        return queries.slices(snapshot, wanted)

    def shape(self, row: ResourceSlice, known: Known) -> Json:
        return shapes.resource_slice(row, known)


class PoolStatusRequestList(ListView[PoolStatusRequest]):
    """The ResourcePoolStatusRequests that DRA-Dash has made, newest first, and what became of each."""

    operation_id = "pool_status_requests"
    summary = "List pool status requests"
    tag = "Pool status requests"
    subjects = (RESOURCE_POOL_STATUS_REQUEST.name,)
    answers: ClassVar = {"application/json": "PoolStatusRequestList", "text/csv": "CSV"}
    allowed = (*filters.STATUS_PARAMS, *LIST_PARAMS)
    orders: ClassVar = {"newest": queries.STATUS_ORDER}
    default_ordering = "newest"
    columns: ClassVar[Columns] = {
        **_plain("id", "cluster", "name", "driver", "pool", "partition_type_attribute"),
        **_plain("outcome", "message", "created_at", "answered_at", "removed", "pool_count"),
        **_plain("pools_answered", "pools_differing", "blocked_by"),
    }

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[StatusFilter]:
        return filters.read_status_filter(snapshot, params)

    def find(self, snapshot: Snapshot, wanted: StatusFilter) -> QuerySet[PoolStatusRequest]:
        return queries.status_requests(snapshot, wanted)

    def shape(self, row: PoolStatusRequest, known: Known) -> Json:
        return shapes.status_request(row, known)


class ClusterList(ListView[Cluster]):
    """All clusters that are, or were, watched."""

    operation_id = "clusters"
    summary = "List clusters"
    tag = "Clusters"
    answers: ClassVar = {"application/json": "ClusterList", "text/csv": "CSV"}
    allowed = LIST_PARAMS
    orders: ClassVar = {"name": ("name", "id")}
    default_ordering = "name"
    columns: ClassVar[Columns] = {
        **_plain("id", "name", "origin", "simulated", "context", "url", "watched", "paused"),
        **_plain("pool_status_requests"),
        **_inside("reach", "state", "message", "changed_at"),
        **_plain("server_version", "discovered_at", "versions", "rights", "gates"),
        **_plain("observed_at", "source", "stale"),
    }

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[Any]:
        del snapshot, params
        return Read(None)

    def find(self, snapshot: Snapshot, wanted: None) -> QuerySet[Cluster]:
        del wanted
        return cluster_queries.clusters(snapshot)

    def shape(self, row: Cluster, known: Known) -> Json:
        return cluster_shapes.cluster(row, known)

    def also(self, known: Known) -> Sequence[Any]:
        """How far a cluster was read, and when it was asked what it serves, goes on without a new revision."""
        return [
            (each.discovered_at, cluster_queries.reads(each)) for each in known.clusters.values()
        ]
