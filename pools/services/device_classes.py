"""DeviceClasses as rows: which devices each stands for, in the words of its selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dra.parsing import parse_device_class
from objects.services.staging import as_jsonb, as_text
from pools.services.named_objects import NamedObjects
from pools.services.tables import DEVICE_CLASSES

if TYPE_CHECKING:
    from dra.values import DeviceClass


def _own_values(device_class: DeviceClass) -> tuple[Any, ...]:
    return (
        as_jsonb(device_class.selectors),
        as_text(device_class.extended_resource_name or ""),
        as_jsonb(device_class.config_drivers),
    )


DEVICE_CLASS_ROWS: Final = NamedObjects(
    DEVICE_CLASSES, parse=parse_device_class, own_values=_own_values
)
