from collections.abc import Sequence
from typing import Any

from api import cluster_rows, rows
from api.coverage import Coverage
from api.links import Links
from api.views.listing import ListView
from clusters import queries as cluster_queries
from clusters.listings import CLUSTERS
from clusters.models import Cluster
from dra import shapes
from pools import listings, queries
from pools.models import Device, Pool, PoolStatusRequest, ResourceSlice


class PoolList(ListView[Pool]):
    """All pools that match the filters, with their figures as they are now."""

    operation_id = "pools"
    summary = "List pools"
    tag = "Pools"
    listing = listings.POOLS
    page = shapes.PoolList

    def shape(self, row: Pool, coverage: Coverage, links: Links) -> shapes.Pool:
        return rows.pool(row, coverage, links)


class DeviceList(ListView[Device]):
    """All devices that match the filters: the newest generation of each pool, and the state each device is in."""

    operation_id = "devices"
    summary = "List devices"
    tag = "Devices"
    listing = listings.DEVICES
    page = shapes.DeviceList

    def shape(self, row: Device, coverage: Coverage, links: Links) -> shapes.Device:
        return rows.device(row, coverage, links)


class ResourceSliceList(ListView[ResourceSlice]):
    """All living ResourceSlices that match the filters, those of older generations among them."""

    operation_id = "resource_slices"
    summary = "List ResourceSlices"
    tag = "ResourceSlices"
    listing = listings.SLICES
    page = shapes.ResourceSliceList

    def shape(self, row: ResourceSlice, coverage: Coverage, links: Links) -> shapes.ResourceSlice:
        """For CSV, which has no links: the ids of pools are read for a whole page only."""
        return rows.resource_slice(row, coverage, links, pool_ids={})

    def shown(
        self, slices: Sequence[ResourceSlice], coverage: Coverage, links: Links
    ) -> list[shapes.ResourceSlice]:
        pool_ids = queries.pool_ids(coverage.snapshot, slices)
        return [rows.resource_slice(row, coverage, links, pool_ids=pool_ids) for row in slices]


class PoolStatusRequestList(ListView[PoolStatusRequest]):
    """The ResourcePoolStatusRequests that DRA-Dash has made, newest first, and what became of each."""

    operation_id = "pool_status_requests"
    summary = "List pool status requests"
    tag = "Pool status requests"
    listing = listings.STATUS_REQUESTS
    page = shapes.PoolStatusRequestList

    def shape(
        self, row: PoolStatusRequest, coverage: Coverage, links: Links
    ) -> shapes.PoolStatusRequest:
        return rows.status_request(row, coverage, links)


class ClusterList(ListView[Cluster]):
    """All clusters that are, or were, watched."""

    operation_id = "clusters"
    summary = "List clusters"
    tag = "Clusters"
    listing = CLUSTERS
    page = shapes.ClusterList

    def shape(self, row: Cluster, coverage: Coverage, links: Links) -> shapes.Cluster:
        return cluster_rows.cluster(row, coverage, links)

    def is_known(self, coverage: Coverage) -> bool:
        """Nothing has to be read to know which clusters are watched."""
        del coverage
        return True

    def also(self, coverage: Coverage) -> Sequence[Any]:
        """How far a cluster was read, and when it was asked what it serves, goes on without a new revision."""
        return [
            (each.discovered_at, cluster_queries.reads(each))
            for each in coverage.clusters.values()
        ]
