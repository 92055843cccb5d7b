"""Devices, and who holds them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from dra.shapes.members import (
    ClusterId,
    ClusterName,
    DeviceName,
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
from dra.shapes.parts import Capacity, Problems, Taint
from dra.values import DeviceState

State = Annotated[
    DeviceState,
    Meta(
        description="Exactly one; unknown while the pool is incomplete or invalid.",
        examples=["allocated"],
    ),
]
PartlyUsed = Annotated[
    bool | None,
    Meta(
        description="Allocated, with room for another share; null while that is not known.",
        examples=[False],
    ),
]
Attributes = Annotated[
    Mapping[str, Any],
    Meta(
        description="Values by name as published: numbers, booleans, text, lists of them; versions are text."
    ),
]
Capacities = Annotated[Sequence[Capacity], Meta(description="Capacity by name.")]
Taints = Annotated[Sequence[Taint], Meta(description="Of the slice and of DeviceTaintRules.")]


class DeviceFigures(Struct, frozen=True, kw_only=True):
    """What follows from the objects for one device, wherever they were read: in a cluster or in a file."""

    driver: Driver
    pool: PoolName
    device: DeviceName
    node: NodeName
    generation: Generation
    state: State
    partly_used: PartlyUsed
    attributes: Attributes
    capacity: Capacities
    taints: Taints
    problems: Problems


class Device(Struct, frozen=True, kw_only=True):
    """A device of the newest generation of its pool; of one that has vanished, what was last published."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    driver: Driver
    pool: PoolName
    pool_id: PoolId
    pool_url: PoolUrl
    device: DeviceName
    node: NodeName
    generation: Generation
    state: State
    partly_used: PartlyUsed
    attributes: Attributes
    capacity: Capacities
    taints: Taints
    problems: Problems
    slice_id: Annotated[
        Id,
        Meta(description="Id of the ResourceSlice that publishes it.", extra={"csv": False}),
    ]
    slice_url: Annotated[
        Url | None,
        Meta(
            description="Where this API has the ResourceSlice that publishes it; null: none does any more.",
            extra={"csv": False},
        ),
    ]
    vanished_at: Annotated[
        Moment | None,
        Meta(description="When it was missed; null while its pool publishes it."),
    ]
    observed_at: ObservedAt


class Allocation(Struct, frozen=True, kw_only=True):
    """One allocation result: which claim holds which device."""

    driver: Driver
    pool: PoolName
    device: DeviceName
    namespace: Annotated[str, Meta(description="Of the claim.", examples=["training"])]
    claim: Annotated[
        str, Meta(description="Name of the ResourceClaim.", examples=["worker-0-gpu"])
    ]
    claim_uid: Annotated[
        str,
        Meta(description="Of the claim.", examples=["7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77"]),
    ]
    request: Annotated[str, Meta(description="The claim's request that got it.", examples=["gpu"])]
    share_id: Annotated[
        str | None,
        Meta(
            description="Which share of a shareable device.",
            examples=["7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77"],
        ),
    ]
    admin_access: Annotated[
        bool, Meta(description="Looks on, and holds nothing.", examples=[False])
    ]
    consumed_capacity: Annotated[
        Mapping[str, str],
        Meta(
            description="What this share takes, as quantities by name.",
            examples=[{"memory": "10Gi"}],
        ),
    ]


class DeviceDetail(Device, frozen=True, kw_only=True):
    """A device with its holders."""

    holders: Annotated[
        Sequence[Allocation], Meta(description="Who holds it, each share by itself.")
    ]
    source: Source
    resource_versions: ResourceVersions
