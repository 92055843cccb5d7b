"""DeviceClasses as rows: which devices each stands for, in the words of its selectors."""

from __future__ import annotations

from typing import Any, Final

from dra.device_classes import DeviceClass, parse_device_class
from objects.services.staging import as_jsonb, as_text
from pools.services.named_objects import NamedObjects, named_table

_TABLE: Final = named_table(
    "pools_deviceclass",
    own={
        "selectors": "jsonb",
        "extended_resource_name": "text",
        "config_drivers": "jsonb",
    },
)


def _own_values(device_class: DeviceClass) -> tuple[Any, ...]:
    return (
        as_jsonb(device_class.selectors),
        as_text(device_class.extended_resource_name or ""),
        as_jsonb(device_class.config_drivers),
    )


DEVICE_CLASS_ROWS: Final = NamedObjects(_TABLE, parse=parse_device_class, own_values=_own_values)
