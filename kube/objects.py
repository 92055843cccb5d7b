"""What a list or a watch tells of one object, with spec and status left as bytes."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from kube.bodies import Envelope


class Metadata(msgspec.Struct, rename="camel", frozen=True):
    """What we read of it. Times stay text, as sent. A field of the wrong type counts as absent."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


SeenType = Literal["added", "modified", "deleted"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One object as the server told it. Items of a list are `added`."""

    type: SeenType
    kind: str
    api_version: str
    uid: str
    namespace: str | None
    name: str
    resource_version: str
    metadata: Metadata
    body: bytes  # the whole object as JSON; compact, managedFields and all
    # `body` taken apart, as views into it; saves reading it twice.
    envelope: Envelope = field(repr=False, compare=False)

    @property
    def status(self) -> bytes | None:
        """As JSON; None when absent or null."""
        return _present(self.envelope.get("status"))


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Nothing more happened up to `resource_version`."""

    resource_version: str


@dataclass(frozen=True, slots=True)
class InitialDone:
    """Everything that exists was told: `count` objects, as of `resource_version`."""

    resource_version: str
    count: int


_metadata_decoder: Final = msgspec.json.Decoder(Metadata)


def decode_metadata(raw: bytes | msgspec.Raw) -> Metadata:
    """Fields that have another type than Kubernetes gives them are left out."""
    try:
        return _metadata_decoder.decode(raw)
    except msgspec.ValidationError:
        return _readable_metadata(msgspec.json.decode(raw))


def _readable_metadata(value: Any) -> Metadata:
    """Field by field, because one wrong field fails the whole."""
    readable: dict[str, Any] = {}
    if isinstance(value, dict):
        for field in msgspec.structs.fields(Metadata):
            try:
                readable[field.name] = msgspec.convert(value[field.encode_name], field.type)
            except (KeyError, msgspec.ValidationError):
                continue
    return Metadata(**readable)


def seen_object(
    body: bytes, envelope: Envelope, *, type_: SeenType, kind: str, api_version: str
) -> Seen:
    """Items of a list carry no kind and apiVersion, so the caller says what it asked for."""
    metadata = decode_metadata(envelope.get("metadata", b"{}"))
    return Seen(
        type=type_,
        kind=kind,
        api_version=api_version,
        uid=metadata.uid,
        namespace=metadata.namespace,
        name=metadata.name,
        resource_version=metadata.resource_version,
        metadata=metadata,
        body=body,
        envelope=envelope,
    )


def _present(raw: msgspec.Raw | None) -> bytes | None:
    if raw is None:
        return None
    value = bytes(raw)
    return None if value == b"null" else value
