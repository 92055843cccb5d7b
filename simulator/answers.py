"""What a request is, and what goes back: shared by everything between the socket and the store."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator import encoding
from simulator.kinds import Resource, group_version

JSON_HEADERS = {"Cache-Control": "no-cache, private", "Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, read whole."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    # Whether the server was stopped or restarted since the request came, or its client is gone.
    is_over: Callable[[], bool]

    @property
    def accepts_gzip(self) -> bool:
        return "gzip" in self.headers.get("accept-encoding", "")

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch", "") in {"1", "true", "True", "t", "T"}


@dataclass(frozen=True, slots=True)
class Collection:
    """What a path under a group and version names."""

    resource: Resource
    version: str
    namespace: str | None

    @property
    def api_version(self) -> str:
        return group_version(self.resource.group, self.version)


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` in one piece is sent with its length; in several, chunked, each as soon as it is there."""

    code: int
    body: bytes | Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=lambda: dict(JSON_HEADERS))


def json_answer(code: int, value: Any, *, headers: Mapping[str, str] | None = None) -> Answer:
    body = encoding.encode(value) + b"\n"
    return Answer(code, body, {**JSON_HEADERS, **(headers or {})})


def text_answer(code: int, text: str, *, headers: Mapping[str, str] | None = None) -> Answer:
    content = {
        "Cache-Control": "no-cache, private",
        "Content-Type": "text/plain; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
    }
    return Answer(code, text.encode(), {**content, **(headers or {})})
