"""DeviceClasses."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from dra.shapes.lists import Page
from dra.shapes.objects import NamedObject


class DeviceClass(NamedObject, frozen=True, kw_only=True):
    """A DeviceClass: a device is of it if every selector is true of the device."""

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


class DeviceClassList(Page[DeviceClass], frozen=True, kw_only=True):
    """A page of DeviceClasses."""
