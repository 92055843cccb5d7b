"""What a list or a watch tells of one object, with spec and status left as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec


class OwnerReference(msgspec.Struct, rename="camel", frozen=True, gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class Metadata(msgspec.Struct, rename="camel"):
    """Times stay text, as sent. A field of the wrong type counts as absent."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str = ""
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None


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
    spec: bytes | None  # None when absent or null
    status: bytes | None


@dataclass(frozen=True, slots=True)
class Bookmark:
    resource_version: str


@dataclass(frozen=True, slots=True)
class InitialDone:
    """Everything that exists was told: `count` objects, as of `resource_version`."""

    resource_version: str
    count: int
