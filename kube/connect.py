"""Connections to API servers, configured by the official client, with bodies taken raw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Target:
    kind: Literal["kubeconfig", "in_cluster", "url"]
    path: str | None = None
    context: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    name: str
    cluster: str
    user: str
    server: str | None
    is_current: bool


class Connection:
    def get_json(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        raise NotImplementedError

    def stream(
        self, path: str, params: Mapping[str, str], *, read_timeout: float, accept_gzip: bool
    ) -> Iterator[bytes]:
        raise NotImplementedError


def connect(target: Target) -> Connection:
    raise NotImplementedError


def contexts(path: str | None) -> list[Context]:
    raise NotImplementedError


def default_target() -> Target | None:
    raise NotImplementedError
