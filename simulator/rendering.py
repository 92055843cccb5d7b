"""Stored objects in the version a client asks for."""

from collections.abc import Callable
from typing import Any, Final

from simulator import encoding
from simulator.store import Stored

_NESTED: Final = "v1beta1"


def body(stored: Stored, version: str) -> bytes:
    """Without kind and apiVersion. Objects are stored as v1 has them; only v1beta1 differs in shape."""
    convert = _TO_NESTED.get(stored.kind) if version == _NESTED else None
    if convert is None:
        return stored.body
    obj = stored.decoded()
    convert(obj)
    return encoding.encode_body(obj)


def from_version(obj: dict[str, Any], version: str) -> dict[str, Any]:
    """The other way, for what a client writes."""
    convert = _FROM_NESTED.get(obj.get("kind", "")) if version == _NESTED else None
    if convert is not None:
        convert(obj)
    return obj


def _nest_devices(obj: dict[str, Any]) -> None:
    for device in (obj.get("spec") or {}).get("devices") or ():
        fields = {key: device.pop(key) for key in list(device) if key != "name"}
        device["basic"] = fields


def _flatten_devices(obj: dict[str, Any]) -> None:
    for device in (obj.get("spec") or {}).get("devices") or ():
        device.update(device.pop("basic", None) or {})


def _flatten_requests(spec: dict[str, Any]) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        request.update(request.pop("exactly", None) or {})


def _nest_requests(spec: dict[str, Any]) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        if "deviceClassName" in request:
            exactly = {
                key: request.pop(key)
                for key in list(request)
                if key not in {"name", "firstAvailable"}
            }
            request["exactly"] = exactly


def _claim(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    return lambda obj: change(obj.get("spec") or {})


def _template(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    return lambda obj: change((obj.get("spec") or {}).get("spec") or {})


_TO_NESTED: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "ResourceSlice": _nest_devices,
    "ResourceClaim": _claim(_flatten_requests),
    "ResourceClaimTemplate": _template(_flatten_requests),
}
_FROM_NESTED: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "ResourceSlice": _flatten_devices,
    "ResourceClaim": _claim(_nest_requests),
    "ResourceClaimTemplate": _template(_nest_requests),
}
