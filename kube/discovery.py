"""What a cluster serves and what we may do there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kube.connect import Connection
from kube.kinds import ServedResource


@dataclass(frozen=True, slots=True)
class ServerVersion:
    major: int | None
    minor: int | None
    git_version: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    server_version: ServerVersion
    resources: dict[str, ServedResource]  # by kind
    rights: dict[tuple[str, str], bool | None]  # (kind, verb); None = could not be asked
    gates: dict[str, dict[str, bool]] | None  # by component; None = /metrics unreadable
    missed: dict[str, int]  # consecutive readings that would have lowered something

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Capabilities:
        raise NotImplementedError


def discover(connection: Connection, *, previous: Capabilities | None) -> Capabilities:
    raise NotImplementedError
