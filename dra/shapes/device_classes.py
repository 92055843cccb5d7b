"""DeviceClasses."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from dra.shapes.lists import Page
from dra.shapes.members import ClusterId, ClusterName, Id, Moment, Url
from dra.shapes.parts import Problems


class DeviceClass(Struct, frozen=True, kw_only=True):
    """A DeviceClass: a device is of it if every selector is true of the device."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    name: Annotated[str, Meta(description="Name of the class.", examples=["gpu.example.com"])]
    uid: Annotated[
        str,
        Meta(
            description="Uid in Kubernetes; another one when it was made anew.",
            examples=["7e0c2f0a-3c0e-4ab7-9f53-4d9b7d5b4b1c"],
        ),
    ]
    selectors: Annotated[
        Sequence[str | None],
        Meta(
            description="CEL expressions; null: one that could not be read; empty: any device.",
            examples=[["device.driver == 'gpu.example.com'"]],
        ),
    ]
    extended_resource_name: Annotated[
        str | None,
        Meta(
            description="By which containers ask for its devices; null: it has no name of its own for that.",
            examples=["example.com/gpu"],
        ),
    ]
    config_drivers: Annotated[
        Sequence[str],
        Meta(description="Drivers that it has configuration for.", examples=[["gpu.example.com"]]),
    ]
    created_at: Annotated[
        Moment | None, Meta(description="When the cluster made it; null when it does not say.")
    ]
    problems: Problems
    changed_at: Annotated[Moment, Meta(description="When its latest change was seen.")]
    vanished_at: Annotated[
        Moment | None, Meta(description="When it was missed; null while it is in the cluster.")
    ]
    observed_at: Annotated[
        Moment | None,
        Meta(
            description="The latest moment for which the cluster's classes were known; null: never yet.",
            examples=["2026-03-01T12:00:00Z"],
        ),
    ]


class DeviceClassList(Page[DeviceClass], frozen=True, kw_only=True):
    """A page of DeviceClasses."""
