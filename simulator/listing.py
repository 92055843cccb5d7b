"""Lists: which revision they show, how they are paged and compressed."""

import base64
import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from simulator import encoding, rendering, selectors, statuses
from simulator.answers import JSON_HEADERS, Answer, Collection, Request
from simulator.kinds import Surface
from simulator.store import Snapshot, Store, Stored

COMPRESSED_FROM_BYTES: Final = 128 * 1024
_BLOCK_BYTES: Final = 256 * 1024
_TOO_LARGE_DELAY_SECONDS: Final = 3.0


class _Page(NamedTuple):
    resource_version: int
    items: list[Stored]
    continue_token: str
    remaining: int | None


class Lists:
    """Answers list requests. Keeps the last compressed bodies, so that equal requests cost the server nothing."""

    def __init__(self, store: Store, surface: Surface) -> None:
        self._store = store
        self._surface = surface
        self._compressed: OrderedDict[tuple[object, ...], list[bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, collection: Collection, request: Request) -> Answer:
        page = self._page(collection, request)
        pieces = _pieces(collection, page)
        size = sum(map(len, pieces))
        if not (request.accepts_gzip and size > COMPRESSED_FROM_BYTES):
            if size <= COMPRESSED_FROM_BYTES:
                return Answer(200, b"".join(pieces))
            return Answer(200, _blocks(pieces))
        # How long a body is stands for which objects a selector let through: one revision, one
        # length, one query is one body.
        key = (
            collection, page.resource_version, size, tuple(sorted(request.query.items())),
        )  # fmt: skip
        headers = {**JSON_HEADERS, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Answer(200, self._gzipped(key, pieces), headers)

    def _gzipped(self, key: tuple[object, ...], pieces: list[bytes]) -> Iterable[bytes]:
        with self._lock:
            kept = self._compressed.get(key)
            if kept is not None:
                self._compressed.move_to_end(key)
                return kept
        return self._compress(key, pieces)

    def _compress(self, key: tuple[object, ...], pieces: list[bytes]) -> Iterator[bytes]:
        made = []
        for block in gzip_blocks(_blocks(pieces)):
            made.append(block)
            yield block
        with self._lock:
            self._compressed[key] = made
            while len(self._compressed) > 4:
                self._compressed.popitem(last=False)

    def _page(self, collection: Collection, request: Request) -> _Page:
        query = request.query
        matches = selectors.parse(
            surface=self._surface,
            resource=collection.resource,
            api_version=collection.api_version,
            fields=query.get("fieldSelector", ""),
            labels=query.get("labelSelector", ""),
        )
        limit = _limit(query.get("limit", ""))
        token = query.get("continue", "")
        snapshot, start = self._snapshot(collection, query, token)
        items = [
            stored
            for stored in snapshot.items
            if (collection.namespace in {None, stored.namespace})
            and matches(stored)
            and stored.key > start
        ]
        if not limit or (query.get("resourceVersion") == "0" and not token):
            return _Page(snapshot.resource_version, items, "", None)
        rest = len(items) - limit
        if rest <= 0:
            return _Page(snapshot.resource_version, items, "", None)
        following = _token(snapshot.resource_version, items[limit - 1].key)
        remaining = rest if matches is selectors.everything else None
        return _Page(snapshot.resource_version, items[:limit], following, remaining)

    def _snapshot(self, collection: Collection, query: Any, token: str) -> tuple[Snapshot, str]:
        kind = collection.resource.kind
        wanted = query.get("resourceVersion", "")
        match = query.get("resourceVersionMatch", "")
        if token:
            return self._continued(kind, token)
        if match and not wanted:
            raise statuses.invalid_list_options(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            )
        if not wanted:
            return self._store.snapshot(kind), ""
        if not (wanted.isascii() and wanted.isdigit()):
            raise statuses.list_version_not_a_number(wanted)
        revision = int(wanted)
        if revision == 0:
            return self._store.snapshot(kind, is_consistent=False), ""
        if revision > self._store.revision:
            raise statuses.version_too_large(
                revision, self._store.revision, delay_seconds=_TOO_LARGE_DELAY_SECONDS
            )
        if match != "Exact":
            return self._store.snapshot(kind), ""
        exact = self._store.snapshot_at(kind, revision)
        if exact is None:
            raise statuses.list_version_expired()
        return exact, ""

    def _continued(self, kind: str, token: str) -> tuple[Snapshot, str]:
        revision, start = _read_token(token)
        if revision < 0:  # a token for the inconsistent rest
            return self._store.snapshot(kind), start
        snapshot = self._store.snapshot_at(kind, revision)
        if snapshot is None:
            raise statuses.continue_expired(_token(-1, start))
        return snapshot, start


def _pieces(collection: Collection, page: _Page) -> list[bytes]:
    metadata: dict[str, Any] = {"resourceVersion": str(page.resource_version)}
    if page.continue_token:
        metadata["continue"] = page.continue_token
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    head = encoding.encode(
        {
            "kind": f"{collection.resource.kind}List",
            "apiVersion": collection.api_version,
            "metadata": metadata,
        }
    )
    pieces = [head[:-1] + b',"items":[']
    for number, stored in enumerate(page.items):
        if number:
            pieces.append(b",")
        pieces.append(rendering.body(stored, collection.version))
    pieces.append(b"]}\n")
    return pieces


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    gathered: list[bytes] = []
    size = 0
    for piece in pieces:
        gathered.append(piece)
        size += len(piece)
        if size >= _BLOCK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def gzip_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """One gzip member, at the level of the API server."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    for block in blocks:
        if compressed := compressor.compress(block):
            yield compressed
    yield compressor.flush()


def _limit(value: str) -> int:
    return int(value) if value.isascii() and value.isdigit() else 0


def _token(revision: int, last_key: str) -> str:
    place = {"v": "meta.k8s.io/v1", "rv": revision, "start": f"{last_key}\0"}
    text = json.dumps(place, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, str]:
    try:
        decoded = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(decoded["rv"]), str(decoded["start"]).rstrip("\0")
    except (ValueError, KeyError, TypeError) as problem:
        message = f"invalid continue token: continue key is not valid: {problem}"
        raise statuses.bad_request(message) from problem
