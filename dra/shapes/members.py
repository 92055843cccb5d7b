"""Members that many shapes have, each with its meaning and an example. What is not known is null, never 0."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta

ID_PATTERN = "^[1-9][0-9]*$"

Count = Annotated[int, Meta(ge=0)]
Average = Annotated[float, Meta(ge=0)]
Moment = Annotated[datetime, Meta(tz=True)]

Id = Annotated[
    str,
    Meta(
        description="For URLs of this API; a number as text.", examples=["42"], pattern=ID_PATTERN
    ),
]
Url = Annotated[
    str,
    Meta(
        description="Where this API has it.",
        examples=["https://dradash.example.com/api/v1/pools/42/"],
        extra_json_schema={"format": "uri"},
        extra={"csv": False},
    ),
]
ClusterName = Annotated[str, Meta(description="Name of the cluster.", examples=["prod-eu"])]
ClusterId = Annotated[
    str,
    Meta(
        description="Id of the cluster.",
        examples=["42"],
        pattern=ID_PATTERN,
        extra={"csv": False},
    ),
]
PoolId = Annotated[
    str | None,
    Meta(
        description="Id of its pool; null when the pool is not stored.",
        examples=["42"],
        extra={"csv": False},
    ),
]
PoolUrl = Annotated[
    str | None,
    Meta(
        description="Where this API has its pool; null when the pool is not stored.",
        examples=["https://dradash.example.com/api/v1/pools/42/"],
        extra_json_schema={"format": "uri"},
        extra={"csv": False},
    ),
]
Kind = Annotated[str, Meta(description="Kind of object.", examples=["ResourceSlice"])]
Driver = Annotated[str, Meta(description="Name of the driver.", examples=["gpu.example.com"])]
PoolName = Annotated[
    str,
    Meta(
        description="Name of the pool; unique within its driver and cluster.", examples=["node-7"]
    ),
]
DeviceName = Annotated[
    str, Meta(description="Name of the device; unique within its pool.", examples=["gpu-0"])
]
NodeName = Annotated[
    str | None,
    Meta(
        description="The one node that can use it; null when it is not just one.",
        examples=["node-7"],
    ),
]
Generation = Annotated[
    Count | None,
    Meta(description="Pool generation; null when the slices do not say.", examples=[3]),
]
ObservedAt = Annotated[
    Moment | None,
    Meta(
        description="The latest moment for which all that the figures need was known; null: never yet.",
        examples=["2026-03-01T12:00:00Z"],
    ),
]
Source = Annotated[
    str,
    Meta(
        description="What the figures were computed from, in words.",
        examples=["computed from ResourceSlices at 81273, ResourceClaims at 81270"],
    ),
]
ResourceVersions = Annotated[
    Mapping[str, str],
    Meta(
        description="What the figures were computed from: the resourceVersion by kind of object.",
        examples=[{"ResourceSlice": "81273", "ResourceClaim": "81270"}],
        extra={"csv": False},
    ),
]
Stale = Annotated[
    bool,
    Meta(
        description="Whether it was read longer ago than DRADASH_STALE_AFTER_SECONDS, or never.",
        examples=[False],
    ),
]
