"""A name for what an object says, blind to what changes without meaning.

The normalised object has no managedFields and no resourceVersion. A driver that rolls out
writes all its slices again with the next pool generation and nothing else new, so of a
ResourceSlice `spec.pool.generation` is told apart, and `metadata.generation`, which counts
along, is left out.
"""

import functools
import hashlib
import re
from typing import Final

import msgspec

from kube.bodies import decode_envelope, joined, key
from kube.kinds import RESOURCE_SLICE
from kube.objects import Seen

# How API servers write the beginning of a slice's spec. Names need no escapes; a spec that
# begins otherwise is taken apart instead.
_POOL_GENERATION: Final = re.compile(
    rb'\{"driver":"[^"\\]*","pool":\{"name":"[^"\\]*",("generation":(\d{1,19}),)"resource'
)
_OMITTED: Final = frozenset({"managedFields", "resourceVersion"})
_OMITTED_OF_SLICES: Final = _OMITTED | {"generation"}


def body_digest(seen: Seen) -> tuple[bytes, int | None, bytes]:
    """Digest (16 bytes, those of its UUID), pool generation (of slices) and normalised JSON of one object."""
    is_slice = seen.kind == RESOURCE_SLICE.name
    parts: list[bytes | memoryview] = [_beginning(seen.api_version, seen.kind)]
    generation: int | None = None
    for name, value in seen.envelope.items():
        if name in {"apiVersion", "kind"}:
            continue
        parts += (b",", key(name))
        if name == "metadata":
            _add_metadata(parts, value, omitted=_OMITTED_OF_SLICES if is_slice else _OMITTED)
        elif name == "spec" and is_slice:
            generation = _add_slice_spec(parts, value)
        else:
            parts.append(memoryview(value))
    parts.append(b"}")
    body = b"".join(parts)
    digest = hashlib.sha256(body, usedforsecurity=False).digest()
    return digest[:16], generation, body


def with_pool_generation(body: bytes, generation: int | None) -> bytes:
    """The normalised JSON of a slice with its pool generation put back."""
    if generation is None:
        return body
    envelope = decode_envelope(body)
    spec = decode_envelope(envelope["spec"])
    pool = decode_envelope(spec["pool"])
    name = {"name": pool.pop("name")} if "name" in pool else {}
    number = msgspec.Raw(str(generation).encode())
    spec["pool"] = msgspec.Raw(joined({**name, "generation": number, **pool}))
    envelope["spec"] = msgspec.Raw(joined(spec))
    return joined(envelope)


def _add_metadata(
    parts: list[bytes | memoryview], raw: msgspec.Raw, *, omitted: frozenset[str]
) -> None:
    try:
        metadata = decode_envelope(raw)
    except msgspec.DecodeError:
        parts.append(memoryview(raw))
        return
    parts.append(joined({name: value for name, value in metadata.items() if name not in omitted}))


def _add_slice_spec(parts: list[bytes | memoryview], raw: msgspec.Raw) -> int | None:
    text = memoryview(raw)
    match = _POOL_GENERATION.match(text)
    if match is None:
        rest, generation = _without_generation(bytes(raw))
        parts.append(rest)
        return generation
    begin, end = match.span(1)
    parts += (text[:begin], text[end:])
    return int(bytes(match.group(2)))


def _without_generation(text: bytes) -> tuple[bytes, int | None]:
    try:
        spec = decode_envelope(text)
        pool = decode_envelope(spec["pool"])
        generation = msgspec.json.decode(pool.pop("generation"), type=int)
    except (KeyError, msgspec.DecodeError):
        return text, None
    spec["pool"] = msgspec.Raw(joined(pool))
    return joined(spec), generation


@functools.lru_cache(maxsize=64)
def _beginning(api_version: str, kind: str) -> bytes:
    return (
        b'{"apiVersion":'
        + msgspec.json.encode(api_version)
        + b',"kind":'
        + msgspec.json.encode(kind)
    )
