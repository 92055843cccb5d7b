"""DeviceClasses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dra.fields import Fields
from dra.parsing import Parsed, unidentified
from dra.values import Problem


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A DeviceClass: a device is of it if every selector is true of the device."""

    name: str
    uid: str
    created_at: str | None = None
    """As the server wrote it; so are all times here."""
    selectors: tuple[str | None, ...] = ()
    """CEL expressions; None: one that could not be read."""
    extended_resource_name: str | None = None
    """By which containers ask for devices of it without a claim of their own."""
    config_drivers: tuple[str, ...] = ()
    """Drivers that the class has configuration for, each once."""
    problems: tuple[Problem, ...] = ()


def parse_device_class(obj: Any, *, api_version: str = "") -> Parsed[DeviceClass]:
    """Read a DeviceClass."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, spec = fields.child("metadata"), fields.child("spec")
    name = metadata.text("name")
    if not name:
        return unidentified(problems, kind="DeviceClass", missing="metadata.name")
    drivers = [item.child("opaque").text("driver") for item in spec.children("config")]
    device_class = DeviceClass(
        name=name,
        uid=metadata.text("uid") or "",
        created_at=metadata.text("creationTimestamp"),
        selectors=tuple(_expressions(spec)),
        extended_resource_name=spec.text("extendedResourceName") or None,
        config_drivers=tuple(dict.fromkeys(driver for driver in drivers if driver)),
        problems=tuple(problems),
    )
    return Parsed(device_class, tuple(problems))


def _expressions(spec: Fields) -> Iterator[str | None]:
    """None, with a problem, for a selector that is no CEL expression: the class has fewer devices than the others say."""
    for item in spec.slots("selectors"):
        yield None if item is None else _expression(item.child("cel"))


def _expression(cel: Fields) -> str | None:
    expression = cel.text("expression")
    if expression is None and not cel.has("expression"):
        cel.complain(f"{cel.path}.expression", expected="text", found=None)
    return expression
