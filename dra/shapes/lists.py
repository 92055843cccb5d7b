"""Pages of lists: each with how far its figures can be trusted."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from dra.shapes.clusters import Cluster, Freshness, Gap
from dra.shapes.devices import Device
from dra.shapes.members import Count
from dra.shapes.pools import Pool
from dra.shapes.slices import ResourceSlice
from dra.shapes.status_requests import PoolStatusRequest

T = TypeVar("T")

_NEXT = "https://dradash.example.com/api/v1/pools/?limit=100&cursor=W2ZhbHNlXQ"
PageUrl = Annotated[str | None, Meta(examples=[_NEXT], extra_json_schema={"format": "uri"})]


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """One page of a list."""

    count: Annotated[
        Count | None,
        Meta(
            description="How many match, on all pages; null: it was read of none of the clusters asked for.",
            examples=[128],
        ),
    ]
    total: Annotated[
        Count | None,
        Meta(
            description="How many there are without any filter but `cluster`; null: as for `count`, or what is asked for is not among them, as pools that have vanished.",
            examples=[2500],
        ),
    ]
    next: Annotated[PageUrl, Meta(description="URL of the next page; null: this is the last.")]
    previous: Annotated[
        PageUrl, Meta(description="URL of the page before; null: this is the first.")
    ]
    stale: Annotated[
        bool,
        Meta(
            description="Whether any cluster asked for was read longer ago than it should have been, or never.",
            examples=[False],
        ),
    ]
    freshness: Annotated[
        Sequence[Freshness],
        Meta(description="How old the figures of each cluster asked for are."),
    ]
    gaps: Annotated[
        Sequence[Gap],
        Meta(description="Gaps that last in the clusters asked for: something may be missed."),
    ]
    results: Annotated[Sequence[T], Meta(description="What this page has.")]


class ClusterList(Page[Cluster], frozen=True, kw_only=True):
    """A page of clusters."""


class PoolList(Page[Pool], frozen=True, kw_only=True):
    """A page of pools."""


class DeviceList(Page[Device], frozen=True, kw_only=True):
    """A page of devices."""


class ResourceSliceList(Page[ResourceSlice], frozen=True, kw_only=True):
    """A page of ResourceSlices."""


class PoolStatusRequestList(Page[PoolStatusRequest], frozen=True, kw_only=True):
    """A page of pool status requests."""
