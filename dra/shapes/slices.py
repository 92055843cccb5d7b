"""ResourceSlices in lists. One alone is shown whole, as Kubernetes has it."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from dra.shapes.members import (
    ClusterId,
    ClusterName,
    Count,
    Driver,
    Generation,
    Id,
    Moment,
    NodeName,
    ObservedAt,
    PoolId,
    PoolName,
    PoolUrl,
    ResourceVersions,
    Source,
    Url,
)
from dra.shapes.parts import Problems
from dra.values import NodeKind


class ResourceSlice(Struct, frozen=True, kw_only=True):
    """A living ResourceSlice."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    name: Annotated[
        str,
        Meta(description="Name of the ResourceSlice.", examples=["node-7-gpu.example.com-x7k2p"]),
    ]
    api_version: Annotated[
        str, Meta(description="The version it was read in.", examples=["resource.k8s.io/v1"])
    ]
    driver: Driver
    pool: PoolName
    pool_id: PoolId
    pool_url: PoolUrl
    generation: Generation
    resource_slice_count: Annotated[
        int | None, Meta(description="Slices of the pool, as this one says.", examples=[2])
    ]
    node: NodeName
    node_kind: Annotated[
        NodeKind,
        Meta(description="How it says where its devices can be used.", examples=["node"]),
    ]
    device_count: Annotated[
        Count | None,
        Meta(description="Devices in it; null until they were read.", examples=[8]),
    ]
    problems: Problems
    changed_at: Annotated[Moment, Meta(description="When its latest change was seen.")]
    observed_at: ObservedAt
    source: Source
    resource_versions: ResourceVersions


class KubernetesResourceSlice(Struct, frozen=True, kw_only=True):
    """A ResourceSlice of Kubernetes, in the version it was read in, with whatever members that version has."""

    api_version: Annotated[
        str, Meta(description="Group and version.", examples=["resource.k8s.io/v1"])
    ] = field(name="apiVersion")
    kind: Annotated[str, Meta(description="ResourceSlice.", examples=["ResourceSlice"])]
    metadata: Annotated[
        Mapping[str, Any],
        Meta(description="Without managedFields.", examples=[{"name": "slice-a"}]),
    ]
