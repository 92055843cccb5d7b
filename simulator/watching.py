"""Watches: what is sent, when bookmarks come, and how a stream ends."""

import random
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from simulator import encoding, gates, rendering, selectors, statuses
from simulator.answers import JSON_HEADERS, Answer, Collection, Request
from simulator.kinds import Surface
from simulator.listing import gzip_blocks
from simulator.selectors import Predicate
from simulator.store import Event, Store, Stored

_BLOCK_BYTES: Final = 64 * 1024
# How often a watch looks whether its server is still there.
_LOOK_SECONDS: Final = 0.5


class _Start(NamedTuple):
    """`initial` is what the stream begins with; `is_waiting` for a revision that is not reached yet."""

    revision: int
    initial: list[Stored] | None
    has_end_mark: bool
    is_waiting: bool = False


class _Window:
    """The times of one watch; bookmarks that were sent are taken out."""

    def __init__(self, end: float, bookmarks: list[float], start: int) -> None:
        self.end = end
        self.bookmarks = bookmarks
        self.start = start


def bookmark_moments(timeout_seconds: float, rng: random.Random) -> list[float]:
    """When bookmarks fall due in a window: one a minute, and one or two near its end.

    The last but one comes before the last two seconds; only then another follows. A window of two seconds has none.
    """
    moments = []
    minute = 60.0 + rng.uniform(0.0, 1.25)
    while minute < timeout_seconds - 3.0:
        moments.append(minute)
        minute += 60.0 + rng.uniform(0.0, 1.25)
    if timeout_seconds <= 2.0:
        return moments
    first = max(timeout_seconds - rng.uniform(1.2, 3.0), 0.0)
    moments.append(first)
    if first < timeout_seconds - 2.0:
        moments.append(first + rng.uniform(1.0, 1.25))
    return moments


class Watches:
    """Answers watch requests. Windows run in real time, whatever the simulated clock says."""

    def __init__(
        self, store: Store, surface: Surface, *, seed: int, has_progress_notifications: bool
    ) -> None:
        self._store = store
        self._surface = surface
        self._random = random.Random(f"watches {seed}")  # noqa: S311 -- repeatable, not secret
        self._has_progress_notifications = has_progress_notifications

    def answer(self, collection: Collection, request: Request) -> Answer:
        matches = selectors.parse(
            surface=self._surface,
            resource=collection.resource,
            api_version=collection.api_version,
            fields=request.query.get("fieldSelector", ""),
            labels=request.query.get("labelSelector", ""),
        )
        if collection.namespace is not None:
            matches = _in_namespace(collection.namespace, matches)
        start = self._start(collection, request)
        headers = dict(JSON_HEADERS)
        stream = self._stream(collection, request, start, matches)
        if self._compresses(request):
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
            stream = _gzip_members(stream)
        return Answer(200, stream, headers)

    def _compresses(self, request: Request) -> bool:
        """Only WatchList, since 1.37; other watches never."""
        return (
            request.accepts_gzip
            and request.query.get("sendInitialEvents") == "true"
            and gates.is_on(self._surface, "WatchListCompression")
        )

    def _start(self, collection: Collection, request: Request) -> _Start | dict[str, Any]:
        """Where the stream begins, or the Status that is all it says."""
        query = request.query
        kind = collection.resource.kind
        wanted = query.get("resourceVersion", "")
        has_bookmarks = query.get("allowWatchBookmarks") in {"1", "true"}
        sends_initial = query.get("sendInitialEvents") == "true"
        if sends_initial and query.get("resourceVersionMatch") != "NotOlderThan":
            raise statuses.invalid_list_options(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            )
        if wanted and not (wanted.isascii() and wanted.isdigit()):
            raise statuses.watch_version_not_a_number(wanted)
        revision = int(wanted or 0)
        if revision > self._store.revision:
            return _Start(revision, None, has_end_mark=False, is_waiting=True)
        if sends_initial or revision == 0:
            snapshot = self._store.snapshot(kind, is_consistent=wanted != "0")
            return _Start(snapshot.resource_version, snapshot.items, has_bookmarks)
        oldest = self._store.history_start(kind)
        if revision < oldest:
            return statuses.watch_version_expired(revision, oldest)
        return _Start(revision, None, has_end_mark=False)

    def _stream(
        self,
        collection: Collection,
        request: Request,
        start: _Start | dict[str, Any],
        matches: Predicate,
    ) -> Iterator[bytes]:
        if isinstance(start, dict):
            yield encoding.watch_event("ERROR", encoding.encode(start))
            return
        timeout = self._timeout(request)
        began = time.monotonic()
        if start.initial is not None:
            yield from _initial(collection, start, matches)
        moments = []
        if request.query.get("allowWatchBookmarks") in {"1", "true"}:
            moments = [began + moment for moment in bookmark_moments(timeout, self._random)]
        window = _Window(began + timeout, moments, start.revision)
        if start.is_waiting:
            # The real server waits for its cache to get there; nothing is sent meanwhile.
            window.bookmarks.clear()
        yield from self._changes(collection, request, window, matches)

    def _timeout(self, request: Request) -> float:
        asked = request.query.get("timeoutSeconds", "")
        if asked.isascii() and asked.isdigit() and int(asked) > 0:
            return float(asked)
        return self._random.uniform(1800.0, 3600.0)

    def _changes(
        self, collection: Collection, request: Request, window: _Window, matches: Predicate
    ) -> Iterator[bytes]:
        kind = collection.resource.kind
        position = window.start
        while not request.is_over():
            events = self._next_events(kind, position, window)
            if events:
                position = events[-1].resource_version
                lines = [line for event in events if (line := _line(collection, event, matches))]
                yield from _blocks(lines)
                continue
            now = time.monotonic()
            if now >= window.end:
                return
            if window.bookmarks and now >= window.bookmarks[0]:
                window.bookmarks.pop(0)
                if self._has_progress_notifications:
                    self._store.notice_progress(kind)
                if (version := self._store.cache_version(kind)) > window.start:
                    yield bookmark(collection, version)

    def _next_events(self, kind: str, position: int, window: _Window) -> list[Event]:
        """What came after `position`; empty when something else is due, or it is time to look about."""
        moments = [window.end, *window.bookmarks[:1]]
        with self._store.changed:
            if events := self._store.events_after(kind, position):
                return events
            wait = min(min(moments) - time.monotonic(), _LOOK_SECONDS)
            if wait > 0:
                self._store.changed.wait(wait)
            return self._store.events_after(kind, position)


def _in_namespace(namespace: str, matches: Predicate) -> Predicate:
    return lambda stored: stored.namespace == namespace and matches(stored)


def _initial(collection: Collection, start: _Start, matches: Predicate) -> Iterator[bytes]:
    lines = [
        _event_line(collection, "ADDED", stored)
        for stored in start.initial or ()
        if matches(stored)
    ]
    if start.has_end_mark:
        annotations = {"k8s.io/initial-events-end": "true"}
        lines.append(bookmark(collection, start.revision, annotations=annotations))
    yield from _blocks(lines)


def bookmark(
    collection: Collection, version: int, *, annotations: dict[str, str] | None = None
) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(version)}
    if annotations:
        metadata["annotations"] = annotations
    obj = {
        "kind": collection.resource.kind,
        "apiVersion": collection.api_version,
        "metadata": metadata,
        **collection.resource.empty,
    }
    return encoding.watch_event("BOOKMARK", encoding.encode(obj))


def _line(collection: Collection, event: Event, matches: Predicate) -> bytes:
    """An event as this watch sees it: an object may come into its selection, or leave it. Empty: not at all."""
    is_in = event.type != "DELETED" and matches(event.stored)
    was_in = event.before is not None and matches(event.before)
    if is_in:
        return _event_line(collection, "MODIFIED" if was_in else "ADDED", event.stored)
    if not was_in or event.before is None:
        return b""
    if event.type == "DELETED":
        return _event_line(collection, "DELETED", event.stored)
    body = encoding.with_resource_version(
        rendering.body(event.before, collection.version),
        old=event.before.resource_version,
        new=event.resource_version,
    )
    return _wrapped(collection, "DELETED", body)


def _event_line(collection: Collection, type_: str, stored: Stored) -> bytes:
    return _wrapped(collection, type_, rendering.body(stored, collection.version))


def _wrapped(collection: Collection, type_: str, body: bytes) -> bytes:
    obj = encoding.with_kind(
        body, kind=collection.resource.kind, api_version=collection.api_version
    )
    return encoding.watch_event(type_, obj)


def _blocks(lines: list[bytes]) -> Iterator[bytes]:
    """Several events in one write, as long as that is not large."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= _BLOCK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _gzip_members(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Each flush is a gzip member of its own: a reader has to go on after the first."""
    for block in stream:
        yield b"".join(gzip_blocks([block]))
