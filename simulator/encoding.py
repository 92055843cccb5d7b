"""Objects as the bytes an API server sends. Every object is encoded once, when it is written."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

_METADATA_ORDER: Final = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
    "annotations", "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
_BODY_ORDER: Final = ("metadata", "spec", "status")
# Go's encoder writes these three so, to be safe inside HTML.
_ESCAPES: Final = ((b"<", rb"\u003c"), (b">", rb"\u003e"), (b"&", rb"\u0026"))

_encoder: Final = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    encoded = _encoder.encode(value)
    for raw, escaped in _ESCAPES:
        if raw in encoded:  # rare: a look is cheaper than a copy
            encoded = encoded.replace(raw, escaped)
    return encoded


def decode(raw: bytes) -> Any:
    return msgspec.json.decode(raw)


def encode_body(obj: Mapping[str, Any]) -> bytes:
    """An object without kind and apiVersion, metadata first, as it stands among the items of a list."""
    metadata = _ordered(obj["metadata"], _METADATA_ORDER)
    body = _ordered(obj, _BODY_ORDER)
    body["metadata"] = metadata
    body.pop("kind", None)
    body.pop("apiVersion", None)
    return encode(body)


def _ordered(value: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    first = {key: value[key] for key in order if key in value}
    return {**first, **value}


def with_kind(body: bytes, *, kind: str, api_version: str) -> bytes:
    """The object by itself, as watches and reads of one object send it."""
    return b'{"kind":"%s","apiVersion":"%s",%s' % (kind.encode(), api_version.encode(), body[1:])


def with_resource_version(body: bytes, *, old: int, new: int) -> bytes:
    """The same object at another version. Only the first match is the object's own: labels come later."""
    return body.replace(b'"resourceVersion":"%d"' % old, b'"resourceVersion":"%d"' % new, 1)


def watch_event(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), obj)
