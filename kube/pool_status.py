"""Pool status requests: make one, wait for its answer, take it away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kube.connect import Connection
from kube.kinds import ServedResource


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    name: str
    uid: str
    resource_version: str
    created_at: str | None  # as sent, RFC 3339
    labels: dict[str, str]
    spec: dict[str, Any]  # as the server kept it
    status: dict[str, Any] | None  # None = not answered (yet)
    body: bytes  # the whole object as sent

    @property
    def is_answered(self) -> bool:
        return self.status is not None


def create(
    connection: Connection,
    served: ServedResource,
    *,
    name: str,
    labels: Mapping[str, str],
    driver: str,
    pool_name: str | None = None,
    limit: int = 1000,
    default_partition_type_attribute: str | None = None,
) -> RequestAnswer:
    raise NotImplementedError


def wait(
    connection: Connection,
    served: ServedResource,
    name: str,
    *,
    resource_version: str,
    timeout_seconds: float,
) -> RequestAnswer:
    raise NotImplementedError


def delete(connection: Connection, served: ServedResource, name: str, *, uid: str) -> bool:
    raise NotImplementedError


def list_ours(
    connection: Connection, served: ServedResource, *, label_selector: str
) -> list[RequestAnswer]:
    raise NotImplementedError
