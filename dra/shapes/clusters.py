"""Clusters: how each is reached, what it serves, what we may do there, how far each kind was read, and what was missed."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from dra.shapes.members import (
    ClusterId,
    ClusterName,
    Count,
    Id,
    Kind,
    Moment,
    ObservedAt,
    ResourceVersions,
    Source,
    Stale,
    Url,
)
from dra.shapes.parts import Problem

Origin = Literal["kubeconfig", "in_cluster", "simulated"]
ReachState = Literal[
    "unknown",
    "ok",
    "unreachable",
    "timeout",
    "unauthorized",
    "forbidden",
    "throttled",
    "server_error",
    "malformed",
    "tls",
    "config",
]
ReadState = Literal["waiting", "reading", "watching", "not_served", "forbidden", "failing"]
PoolStatusMode = Literal["auto", "on", "off"]


class Gap(Struct, frozen=True, kw_only=True):
    """A time in which changes of one kind of object may have been missed."""

    cluster: ClusterName
    cluster_id: ClusterId
    kind: Kind
    started_at: Annotated[Moment, Meta(description="Beginning.")]
    ended_at: Annotated[Moment | None, Meta(description="End; null while it lasts.")]
    reason: Annotated[str, Meta(description="Why, in a word.", examples=["api_unreachable"])]
    message: Annotated[
        str, Meta(description="Why, in words.", examples=["The API server could not be read."])
    ]
    failure: Annotated[
        Problem | None, Meta(description="What failed first; null when nothing did.")
    ]


class Freshness(Struct, frozen=True, kw_only=True):
    """How old the figures of one cluster are."""

    cluster: ClusterName
    cluster_id: ClusterId
    observed_at: ObservedAt
    stale: Stale
    source: Source
    resource_versions: ResourceVersions


class ClusterReach(Struct, frozen=True, kw_only=True):
    """How a cluster answered last."""

    state: Annotated[ReachState, Meta(description="In a word.", examples=["ok"])]
    message: Annotated[
        str, Meta(description="In words, when it does not answer well.", examples=[""])
    ]
    failure: Annotated[
        Problem | None, Meta(description="The same with its code; null while it answers.")
    ]
    changed_at: Annotated[Moment | None, Meta(description="Since when.")]


class ServedVersion(Struct, frozen=True, kw_only=True):
    """The newest served version that DRA-Dash knows of one kind."""

    kind: Kind
    group_version: Annotated[
        str, Meta(description="Group and version.", examples=["resource.k8s.io/v1"])
    ]


class Right(Struct, frozen=True, kw_only=True):
    """Whether DRA-Dash may do one thing with one kind of object."""

    kind: Kind
    verb: Annotated[str, Meta(description="What to do with it.", examples=["watch"])]
    allowed: Annotated[
        bool | None, Meta(description="Null: it could not be asked.", examples=[True])
    ]


class ClusterKind(Struct, frozen=True, kw_only=True):
    """How far one kind of object of a cluster has been read."""

    kind: Kind
    state: Annotated[ReadState, Meta(description="In a word.", examples=["watching"])]
    message: Annotated[str, Meta(description="In words, when it is not read well.", examples=[""])]
    failure: Annotated[
        Problem | None, Meta(description="The same with its code; null while it is read.")
    ]
    api_version: Annotated[
        str | None,
        Meta(description="The version it is read in.", examples=["resource.k8s.io/v1"]),
    ]
    resource_version: Annotated[
        str | None, Meta(description="Where the next watch goes on.", examples=["81273"])
    ]
    object_count: Annotated[
        Count | None,
        Meta(description="Objects that are stored; null of the past.", examples=[120]),
    ]
    read_count: Annotated[
        Count | None,
        Meta(description="During a first read: how many so far.", examples=[0]),
    ]
    last_synced_at: Annotated[
        Moment | None, Meta(description="When it was known to be what the server has.")
    ]
    last_changed_at: Annotated[Moment | None, Meta(description="When an object changed.")]
    failing_since: Annotated[Moment | None, Meta(description="Since when it cannot be read.")]
    failures: Annotated[
        Count | None, Meta(description="Failures in a row; null of the past.", examples=[0])
    ]
    retry_at: Annotated[Moment | None, Meta(description="When it is tried again.")]
    relists: Annotated[
        Count | None,
        Meta(description="How often it was read anew; null of the past.", examples=[1]),
    ]


class Cluster(Struct, frozen=True, kw_only=True):
    """A cluster that is, or was, watched."""

    id: Id
    url: Url
    name: ClusterName
    origin: Annotated[
        Origin,
        Meta(description="Where the way to the cluster comes from.", examples=["kubeconfig"]),
    ]
    simulated: Annotated[
        bool,
        Meta(description="Whether this is the bundled simulated cluster.", examples=[False]),
    ]
    context: Annotated[
        str | None,
        Meta(description="The kubeconfig's context; null of the past.", examples=["prod-eu"]),
    ]
    server: Annotated[
        str | None,
        Meta(
            description="Address of the API server; null where it is not known, and of the past.",
            examples=["https://10.0.0.1:6443"],
        ),
    ]
    watched: Annotated[
        bool,
        Meta(description="False: the configuration no longer names it.", examples=[True]),
    ]
    replaced_at: Annotated[
        Moment | None,
        Meta(
            description="Since when another cluster, made anew, has its name; null: none has.",
            examples=[None],
        ),
    ]
    paused: Annotated[
        bool | None,
        Meta(
            description="Whether a person has stopped reading it; null of the past.",
            examples=[False],
        ),
    ]
    pool_status_requests: Annotated[
        PoolStatusMode | None,
        Meta(description="Whether they are made in it; null of the past.", examples=["auto"]),
    ]
    reach: Annotated[ClusterReach, Meta(description="How it answered last.")]
    server_version: Annotated[
        str | None,
        Meta(description="As the server names it; null of the past.", examples=["v1.36.2"]),
    ]
    discovered_at: Annotated[
        Moment | None,
        Meta(description="When versions, rights and gates were read; null of the past."),
    ]
    versions: Annotated[
        Sequence[ServedVersion] | None,
        Meta(description="What it serves; null before the first discovery, and of the past."),
    ]
    rights: Annotated[
        Sequence[Right] | None,
        Meta(
            description="What DRA-Dash may do there; null before the first discovery, and of the past."
        ),
    ]
    gates: Annotated[
        Mapping[str, Mapping[str, bool]] | None,
        Meta(
            description="Feature gates, on or off, by component; null when /metrics cannot be read, and of the past."
        ),
    ]
    kinds: Annotated[
        Sequence[ClusterKind],
        Meta(description="How far each kind of object has been read.", extra={"csv": False}),
    ]
    observed_at: ObservedAt
    source: Source
    resource_versions: ResourceVersions
    stale: Stale


class ClusterDetail(Cluster, frozen=True, kw_only=True):
    """A cluster with its latest gaps."""

    gaps: Annotated[Sequence[Gap], Meta(description="The newest first; at most 50.")]
