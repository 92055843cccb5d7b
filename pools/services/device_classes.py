"""DeviceClasses as rows: which devices each stands for, in the words of its selectors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dra.parsing import parse_device_class
from objects.services.staging import as_jsonb, as_text
from pools.services.named_objects import NamedTable, record_named

if TYPE_CHECKING:
    from dra.values import DeviceClass


def _row(device_class: DeviceClass) -> tuple[Any, ...]:
    return (
        as_jsonb(device_class.selectors),
        as_text(device_class.extended_resource_name or ""),
        as_jsonb(device_class.config_drivers),
    )


_DEVICE_CLASSES: Final = NamedTable(
    "pools_deviceclass",
    {"selectors": "jsonb", "extended_resource_name": "text", "config_drivers": "jsonb"},
    parse=parse_device_class,
    row=_row,
)

record_device_classes = partial(record_named, _DEVICE_CLASSES)
