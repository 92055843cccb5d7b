"""What pools, devices and slices are made of."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from dra.shapes.members import Count
from dra.values import NodeKind

Parameters = Annotated[
    Mapping[str, Any],
    Meta(description="What the words name; each code has its own.", examples=[{"seen": 1}]),
]


class Problem(Struct, frozen=True, kw_only=True):
    """Something a person should know."""

    code: Annotated[
        str,
        Meta(description="Stable, for machines: docs/problems.md.", examples=["incomplete_pool"]),
    ]
    message: Annotated[str, Meta(description="In words.", examples=["1 of 2 slices are there."])]
    parameters: Parameters


Problems = Annotated[
    Sequence[Problem],
    Meta(description="What a person should know about it, the worst first."),
]


class SliceCounts(Struct, frozen=True, kw_only=True):
    """ResourceSlices of the newest generation of a pool."""

    seen: Annotated[Count, Meta(description="Slices that are there.", examples=[2])]
    expected: Annotated[
        Count | None,
        Meta(
            description="Slices that they say there are; null when they disagree.",
            examples=[2],
        ),
    ]


class NodeSelection(Struct, frozen=True, kw_only=True):
    """Where devices can be used."""

    kind: Annotated[NodeKind, Meta(description="How the slices say it.", examples=["node"])]
    text: Annotated[
        str,
        Meta(
            description="The node's name, or the selector; of mixed ones all that the slices say, such as `allNodes, node-7`.",
            examples=["node-7"],
        ),
    ]


class DeviceCounts(Struct, frozen=True, kw_only=True):
    """Devices by state. Known ones add up: total = allocated + unavailable + blocked + available."""

    total: Annotated[
        Count | None,
        Meta(
            description="Devices of the newest generation; null while the pool is incomplete or invalid.",
            examples=[8],
        ),
    ]
    seen: Annotated[Count, Meta(description="Devices in the slices that are there.", examples=[8])]
    allocated: Annotated[
        Count | None,
        Meta(
            description="Held by at least one claim without admin access, however many shares.",
            examples=[5],
        ),
    ]
    partly_used: Annotated[
        Count | None,
        Meta(
            description="Of the allocated: shareable, with capacity left for another share.",
            examples=[0],
        ),
    ]
    unavailable: Annotated[
        Count | None,
        Meta(description="Not allocated, and tainted NoSchedule or NoExecute.", examples=[1]),
    ]
    blocked: Annotated[
        Count | None,
        Meta(
            description="Not allocated and not tainted, but the shared counters left do not cover it.",
            examples=[0],
        ),
    ]
    available: Annotated[
        Count | None,
        Meta(
            description="A claim that asks for this device alone could get it now.",
            examples=[2],
        ),
    ]
    admin_access: Annotated[
        Count | None,
        Meta(
            description="Named by a result with admin access; such a result holds nothing.",
            examples=[0],
        ),
    ]


class Partition(Struct, frozen=True, kw_only=True):
    """Devices of one partition type."""

    attribute: Annotated[
        str,
        Meta(description="What tells the types apart.", examples=["gpu.example.com/profile"]),
    ]
    type: Annotated[str, Meta(description="Its value.", examples=["1g.10gb"])]
    total: Annotated[Count, Meta(description="Devices of this type.", examples=[7])]
    allocatable: Annotated[
        Count | None,
        Meta(
            description="How many of this type alone could still be allocated; null: not known.",
            examples=[4],
        ),
    ]


class Capacity(Struct, frozen=True, kw_only=True):
    """One kind of capacity, as Kubernetes quantities."""

    name: Annotated[str, Meta(description="Name of the capacity.", examples=["memory"])]
    total: Annotated[str, Meta(description="All of it.", examples=["80Gi"])]
    consumed: Annotated[str | None, Meta(description="What shares take.", examples=["20Gi"])]
    available: Annotated[str | None, Meta(description="What is left.", examples=["60Gi"])]


class Counter(Struct, frozen=True, kw_only=True):
    """One shared counter of a pool, and what is left of it."""

    counter_set: Annotated[str, Meta(description="Its counter set.", examples=["gpu-0"])]
    name: Annotated[str, Meta(description="Name of the counter.", examples=["memory"])]
    total: Annotated[str, Meta(description="All of it.", examples=["80Gi"])]
    left: Annotated[str | None, Meta(description="What is left.", examples=["60Gi"])]


class Taint(Struct, frozen=True, kw_only=True):
    """A taint of a device."""

    key: Annotated[str, Meta(description="Key.", examples=["example.com/unhealthy"])]
    value: Annotated[str, Meta(description="Value; may be empty.", examples=["true"])]
    effect: Annotated[
        str,
        Meta(
            description="NoSchedule, NoExecute, or what a later release says.",
            examples=["NoExecute"],
        ),
    ]
    added_at: Annotated[
        str | None,
        Meta(description="When, as the object says.", examples=["2026-03-01T12:00:00Z"]),
    ]
    rule: Annotated[
        str | None,
        Meta(
            description="The DeviceTaintRule that sets it; null: the slice carries it.",
            examples=["drain-node-7"],
        ),
    ]
