"""Pool status requests: what was asked of the server, its answer, and how our figures differ."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from dra.shapes.members import (
    ClusterId,
    ClusterName,
    Count,
    Driver,
    Id,
    Moment,
    PoolId,
    PoolName,
    PoolUrl,
    Url,
)
from dra.shapes.parts import Parameters, Problem
from dra.shapes.pools import PoolFigures

Outcome = Literal[
    "pending",
    "answered",
    "unanswered",
    "not_served",
    "refused",
    "nobody_answers",
    "blocked",
    "failed",
]


class Blocker(Struct, frozen=True, kw_only=True):
    """A pool that most likely keeps the server from answering."""

    driver: Driver
    pool: PoolName
    code: Annotated[
        str,
        Meta(description="Why: stable, for machines.", examples=["blocked_by_missing_slices"]),
    ]
    reason: Annotated[
        str, Meta(description="Why, in words.", examples=["incomplete: 1 of 2 slices"])
    ]
    parameters: Parameters


class PoolStatusRequest(Struct, frozen=True, kw_only=True):
    """A ResourcePoolStatusRequest that DRA-Dash has made."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    name: Annotated[
        str,
        Meta(description="Name of the ResourcePoolStatusRequest.", examples=["dradash-4f2a"]),
    ]
    driver: Driver
    pool: Annotated[
        str | None,
        Meta(description="The one pool asked for; null: all of the driver.", examples=["node-7"]),
    ]
    partition_type_attribute: Annotated[
        str | None,
        Meta(
            description="The attribute that the server was to group partitions by.",
            examples=["gpu.example.com/profile"],
        ),
    ]
    outcome: Annotated[Outcome, Meta(description="What became of it.", examples=["answered"])]
    message: Annotated[
        str, Meta(description="The same in words, where there is more to say.", examples=[""])
    ]
    notes: Annotated[
        Sequence[Problem], Meta(description="What the message says, each with its code.")
    ]
    created_at: Annotated[Moment, Meta(description="When it was made.")]
    answered_at: Annotated[Moment | None, Meta(description="When the answer came.")]
    removed: Annotated[
        bool,
        Meta(
            description="Whether the object is known to be gone from the cluster.",
            examples=[True],
        ),
    ]
    pool_count: Annotated[
        Count | None, Meta(description="Pools that matched on the server.", examples=[12])
    ]
    pools_answered: Annotated[
        Count | None, Meta(description="Pools in the answer.", examples=[12])
    ]
    pools_differing: Annotated[
        Count | None,
        Meta(description="Pools for which the server counts otherwise.", examples=[1]),
    ]
    blocked_by: Annotated[
        Sequence[Blocker], Meta(description="Pools that most likely block the answer.")
    ]


class Difference(Struct, frozen=True, kw_only=True):
    """One figure that differs, and why."""

    field: Annotated[
        str,
        Meta(description="Which figure: stable, for machines.", examples=["partition_total"]),
    ]
    parameters: Annotated[
        Mapping[str, str],
        Meta(
            description="Of which partition or capacity; empty: of the pool.",
            examples=[{"attribute": "gpu.example.com/profile", "type": "1g.10gb"}],
        ),
    ]
    name: Annotated[
        str,
        Meta(
            description="Which figure, in words.",
            examples=["partition gpu.example.com/profile=1g.10gb total"],
        ),
    ]
    ours: Annotated[
        int | str | None, Meta(description="Our figure; null: not known.", examples=[2])
    ]
    server: Annotated[
        int | str | None,
        Meta(description="The server's figure; null: not given.", examples=[1]),
    ]
    reason: Annotated[
        str,
        Meta(description="Why, in words.", examples=["the server counts each share of a device"]),
    ]
    reasons: Annotated[
        Sequence[str],
        Meta(
            description="Why, as codes that are stable. Empty for what an earlier release stored.",
            examples=[["server_counts_shares"]],
        ),
    ]


class PoolComparison(Struct, frozen=True, kw_only=True):
    """What the server says of one pool, beside our own figures of the same moment."""

    pool_id: PoolId
    pool_url: PoolUrl
    driver: Driver
    pool: PoolName
    observed_at: Annotated[Moment, Meta(description="When the answer was read.")]
    server: Annotated[Mapping[str, Any], Meta(description="The entry of `status.pools`, whole.")]
    ours: Annotated[
        PoolFigures | None, Meta(description="Null when there are none of the same moment.")
    ]
    differences: Annotated[
        Sequence[Difference] | None, Meta(description="Empty: equal. Null: not compared.")
    ]


class PoolStatusRequestDetail(PoolStatusRequest, frozen=True, kw_only=True):
    """A pool status request with its answer."""

    pools: Annotated[
        Sequence[PoolComparison],
        Meta(description="Pool by pool, those that differ first."),
    ]
    answer: Annotated[
        Mapping[str, Any] | None,
        Meta(description="The object as the server returned it last."),
    ]
