from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404
from django.http.response import HttpResponseBase
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api import cluster_rows, rows
from api.coverage import Coverage, read_coverage
from api.links import Links
from api.renderers import JSONText, YAMLText
from api.views.base import SnapshotView
from clusters import queries as cluster_queries
from clusters.choices import POOLS
from clusters.models import Cluster
from dra import shapes
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, RESOURCE_SLICE
from objects import queries as object_queries
from pools import queries
from pools.models import Device, Pool, PoolStatusRequest, ResourceSlice
from ui.snapshot import Snapshot


class DetailView(SnapshotView):
    """One thing by its number. `find` raises ObjectDoesNotExist."""

    def find(self, snapshot: Snapshot, number: int) -> Any:
        raise NotImplementedError

    def shape(self, row: Any, coverage: Coverage, links: Links) -> Any:
        raise NotImplementedError

    def cluster_of(self, row: Any) -> int:
        return int(row.cluster_id)

    def read(self, request: Request, snapshot: Snapshot, **names: Any) -> HttpResponseBase:
        self.parameters(request).check()
        every = read_coverage(snapshot)
        row = self.found(snapshot, names["id"])
        coverage = every.of([self.cluster_of(row)])
        also = self.also(row, coverage)
        return self.unchanged(request, coverage=coverage, also=also) or self.answer(
            request, self.shape(row, coverage, Links(request)), coverage=coverage, also=also
        )

    def also(self, row: Any, coverage: Coverage) -> Sequence[Any]:
        """What else the ETag names, where the revision of clusters does not cover it."""
        del row, coverage
        return ()

    def found(self, snapshot: Snapshot, number: int) -> Any:
        try:
            return self.find(snapshot, number)
        except ObjectDoesNotExist as error:
            raise Http404 from error


class ClusterDetail(DetailView):
    """One cluster: how it is reached, what it serves, what we may do there, how far each kind was read, and its latest gaps."""

    operation_id = "cluster"
    summary = "Read one cluster"
    tag = "Clusters"
    answers: ClassVar = {"application/json": shapes.ClusterDetail}

    def find(self, snapshot: Snapshot, number: int) -> Cluster:
        return cluster_queries.cluster(snapshot, number)

    def cluster_of(self, row: Cluster) -> int:
        return row.pk

    def also(self, row: Cluster, coverage: Coverage) -> Sequence[Any]:
        """How far it was read, and when it was asked what it serves, goes on without a new revision."""
        del coverage
        return [row.discovered_at, cluster_queries.reads(row)]

    def shape(self, row: Cluster, coverage: Coverage, links: Links) -> shapes.ClusterDetail:
        gaps = list(cluster_queries.latest_gaps(coverage.snapshot, row.pk))
        return cluster_rows.cluster_with_gaps(row, coverage, links, gaps=gaps)


class PoolDetail(DetailView):
    """One pool, in the shape of the list; also one that has vanished."""

    operation_id = "pool"
    summary = "Read one pool"
    tag = "Pools"
    subjects = (POOLS,)
    answers: ClassVar = {"application/json": shapes.Pool}

    def find(self, snapshot: Snapshot, number: int) -> Pool:
        return queries.pool(snapshot, number)

    def shape(self, row: Pool, coverage: Coverage, links: Links) -> shapes.Pool:
        return rows.pool(row, coverage, links)


class DeviceDetail(DetailView):
    """One device with those who hold it: every allocation result, each share by itself, and those with admin access.

    Also one that has vanished.
    """

    operation_id = "device"
    summary = "Read one device"
    tag = "Devices"
    subjects = (POOLS,)
    answers: ClassVar = {"application/json": shapes.DeviceDetail}

    def find(self, snapshot: Snapshot, number: int) -> Device:
        return queries.device(snapshot, number)

    def shape(self, row: Device, coverage: Coverage, links: Links) -> shapes.DeviceDetail:
        holders = queries.holders(coverage.snapshot, [row]).get(row.id, [])
        return rows.device_with_holders(row, coverage, links, holders=holders)


class ResourceSliceDetail(DetailView):
    """The whole ResourceSlice as the cluster has it, without `metadata.managedFields`, as JSON or YAML."""

    operation_id = "resource_slice"
    summary = "Read one ResourceSlice"
    tag = "ResourceSlices"
    subjects = (RESOURCE_SLICE.name,)
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONText, YAMLText)
    answers: ClassVar = {
        "application/json": shapes.KubernetesResourceSlice,
        "application/yaml": shapes.KubernetesResourceSlice,
    }

    def find(self, snapshot: Snapshot, number: int) -> ResourceSlice:
        return queries.resource_slice(snapshot, number)

    def shape(self, row: ResourceSlice, coverage: Coverage, links: Links) -> dict[str, Any]:
        del links
        stored_object = object_queries.object_body(
            coverage.snapshot, row.cluster_id, row.object_id
        )
        if stored_object is None:
            raise Http404
        stored, content = stored_object
        whole = object_queries.decoded(content)
        if not isinstance(whole, dict):
            raise Http404
        return with_resource_version(whole, stored.resource_version)


class PoolStatusRequestDetail(DetailView):
    """One request with the server's whole answer, and pool by pool what differs from our figures of the same moment, and why."""

    operation_id = "pool_status_request"
    summary = "Read one pool status request"
    tag = "Pool status requests"
    subjects = (RESOURCE_POOL_STATUS_REQUEST.name, POOLS)
    answers: ClassVar = {"application/json": shapes.PoolStatusRequestDetail}

    def find(self, snapshot: Snapshot, number: int) -> PoolStatusRequest:
        return queries.status_request(snapshot, number)

    def shape(
        self, row: PoolStatusRequest, coverage: Coverage, links: Links
    ) -> shapes.PoolStatusRequestDetail:
        answers = list(queries.answers(coverage.snapshot, row))
        keys = [(each.driver, each.pool_name) for each in answers]
        pool_ids = queries.pools_of_keys(coverage.snapshot, row.cluster_id, keys)
        return rows.answered_status_request(
            row, coverage, links, answers=answers, pool_ids=pool_ids
        )


def with_resource_version(whole: dict[str, Any], resource_version: str) -> dict[str, Any]:
    """The object with its resourceVersion, which the stored content leaves out."""
    metadata = whole.get("metadata")
    if isinstance(metadata, dict):
        metadata["resourceVersion"] = resource_version
    return whole
