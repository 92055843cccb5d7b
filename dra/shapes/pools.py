"""Pools, as they are and as they were."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct, field

from dra.shapes.members import (
    Average,
    ClusterId,
    ClusterName,
    Driver,
    Generation,
    Id,
    Moment,
    NodeName,
    ObservedAt,
    PoolName,
    ResourceVersions,
    Source,
    Url,
)
from dra.shapes.parts import (
    Capacity,
    DeviceCounts,
    NodeSelection,
    Partition,
    Problems,
    SliceCounts,
)

Complete = Annotated[
    bool,
    Meta(description="Whether all slices of the newest generation are there.", examples=[True]),
]
Slices = Annotated[SliceCounts, Meta(description="ResourceSlices of the newest generation.")]
Selection = Annotated[NodeSelection, Meta(description="Where the devices can be used.")]
Counts = Annotated[DeviceCounts, Meta(description="Devices by state.")]
Partitions = Annotated[
    Sequence[Partition],
    Meta(description="Partition types; alternatives, never to be added up."),
]
PoolCapacity = Annotated[
    Sequence[Capacity],
    Meta(description="Over the shareable devices; empty when there is none."),
]


class PoolFigures(Struct, frozen=True, kw_only=True):
    """What follows from the objects of a pool, wherever they were read: in a cluster or in a file."""

    driver: Driver
    pool: PoolName
    generation: Generation
    complete: Complete
    slices: Slices
    node: NodeName
    node_selection: Selection
    devices: Counts
    partitions: Partitions
    capacity: PoolCapacity
    problems: Problems


class Pool(Struct, frozen=True, kw_only=True):
    """A pool, as derived from its newest generation: its figures, and where and when they are from."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    driver: Driver
    pool: PoolName
    generation: Generation
    complete: Complete
    slices: Slices
    node: NodeName
    node_selection: Selection
    devices: Counts
    partitions: Partitions
    capacity: PoolCapacity
    problems: Problems
    vanished_at: Annotated[
        Moment | None,
        Meta(description="When its last ResourceSlice was missed; null while it has any."),
    ]
    observed_at: ObservedAt
    source: Source
    resource_versions: ResourceVersions


def _mean(description: str) -> Meta:
    return Meta(description=description, examples=[8])


class HistoryFigures(Struct, frozen=True, kw_only=True):
    """Figures of a pool; with a step, of the time in it that was known."""

    total: Annotated[Average | None, _mean("Devices of the newest generation.")]
    allocated: Annotated[Average | None, _mean("Held by at least one claim.")]
    partly_used: Annotated[Average | None, _mean("Of the allocated: with room for another share.")]
    unavailable: Annotated[Average | None, _mean("Not allocated, and tainted.")]
    blocked: Annotated[Average | None, _mean("The shared counters left do not cover it.")]
    available: Annotated[Average | None, _mean("A claim for it alone could get it.")]


class HistoryPoint(Struct, frozen=True, kw_only=True):
    """The figures from one moment on."""

    at: Annotated[Moment, Meta(description="Beginning of the point.")]
    generation: Generation
    complete: Annotated[bool | None, Meta(description="Null with a step.", examples=[True])]
    devices: Annotated[HistoryFigures, Meta(description="Devices by state.")]
    least: Annotated[
        HistoryFigures | None, Meta(description="Least within the step; null without one.")
    ]
    most: Annotated[
        HistoryFigures | None, Meta(description="Most within the step; null without one.")
    ]


class Span(Struct, frozen=True, kw_only=True):
    """A time in which something may have been missed."""

    started_at: Annotated[Moment, Meta(description="Beginning.")]
    ended_at: Annotated[Moment | None, Meta(description="End; null while it lasts.")]


class PoolHistory(Struct, frozen=True, kw_only=True):
    """A pool's figures over a time."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    driver: Driver
    pool: PoolName
    start: Annotated[Moment, Meta(description="Beginning, as it was used.")] = field(name="from")
    end: Annotated[Moment, Meta(description="End, as it was used.")] = field(name="to")
    step_seconds: Annotated[
        int | None,
        Meta(description="Length of a step; null: every change is a point.", examples=[3600]),
    ]
    points: Annotated[
        Sequence[HistoryPoint],
        Meta(description="In order of time; each holds until the next."),
    ]
    gaps: Annotated[Sequence[Span], Meta(description="In order of time.")]
    observed_at: ObservedAt
    source: Source
    resource_versions: ResourceVersions
