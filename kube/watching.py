"""Lists and watches as events, with memory for one object at a time.

A resourceVersion is handed back to the server and compared for equality, never read.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from dra.catalogue import Statement
from kube.bodies import Envelope, ListBody, compact, decode_envelope
from kube.connect import Connection, Watchdog
from kube.failures import (
    Expired,
    Malformed,
    Rejected,
    ServerError,
    Status,
    TimedOut,
    failure_from_status,
)
from kube.kinds import ServedResource
from kube.objects import (
    Bookmark,
    InitialDone,
    Seen,
    SeenType,
    decode_metadata,
    seen_object,
)

__all__ = [
    "Bookmark",
    "InitialDone",
    "Seen",
    "is_from_the_future",
    "read_initial",
    "read_list",
    "watch_window",
]

# How long after its timeoutSeconds a window may still be open. The server ends it within
# milliseconds; later than this it is silent for good.
GRACE_SECONDS: Final = 5.0
# A first read may take so long.
INITIAL_SECONDS: Final = 300
# A list or WatchList that sends nothing for so long is dead.
SILENCE_SECONDS: Final = 60.0
_INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
_PARTIAL_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_TYPES: Final[dict[str, SeenType]] = {
    "ADDED": "added",
    "MODIFIED": "modified",
    "DELETED": "deleted",
}


# How API servers write an event. What follows up to the last brace is the object, if it is a
# whole JSON object by itself; otherwise the event is decoded as a whole, which reads it twice.
_EVENT: Final = re.compile(rb'\{"type":"([A-Z]+)","object":(?=\{)')


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


_event_decoder: Final = msgspec.json.Decoder(_Event)


def read_initial(
    connection: Connection,
    served: ServedResource,
) -> Iterator[Seen | Bookmark | InitialDone]:
    """All objects, then `InitialDone`.

    By WatchList, or where the server refuses it by one list from the watch cache. An object may
    change before `InitialDone`: what comes later about it is what counts.
    """
    has_begun = False
    try:
        for event in _watchlist(connection, served):
            has_begun = True
            yield event
    except Rejected:
        if has_begun:
            raise
        # The server has WatchList off.
    else:
        return
    yield from read_list(connection, served)


def watch_window(
    connection: Connection,
    served: ServedResource,
    *,
    resource_version: str,
    timeout_seconds: int,
    field_selector: str = "",
    grace_seconds: float = GRACE_SECONDS,
) -> Iterator[Seen | Bookmark]:
    """What happens after `resource_version`, until the server ends the window.

    The last event or bookmark is the point to go on from; with neither it stays where it is.
    Raises `Expired` when that point is too old, `Unreachable` or `Malformed` when the stream
    breaks: what was told before is right all the same.
    """
    params = {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(timeout_seconds),
        "resourceVersion": resource_version,
    }
    if field_selector:
        params["fieldSelector"] = field_selector
    seconds = timeout_seconds + grace_seconds
    lines = connection.stream(
        served.path,
        params,
        read_timeout=seconds,
        accept_gzip=False,
        watchdog=Watchdog(seconds),
    )
    reached = resource_version
    for line in lines:
        event, _ends_initial = _read_event(line, served)
        if event is None:
            continue
        if not _is_repeated(event, reached):
            reached = event.resource_version
            yield event


def is_from_the_future(
    connection: Connection, served: ServedResource, resource_version: str
) -> bool:
    """Whether the server has not come as far as `resource_version` yet.

    So it is when etcd was restored from an older copy; a watch from there says nothing at all.
    The server waits 3 s before it answers yes.
    """
    try:
        connection.get_json(
            served.path,
            params={"resourceVersion": resource_version, "limit": "1"},
            headers={"Accept": f"{_PARTIAL_LIST},application/json"},
        )
    except ServerError as failure:
        if failure.status == 504 and (
            "ResourceVersionTooLarge" in failure.causes
            or "Too large resource version" in failure.message
        ):
            return True
        raise
    except Expired:
        return False
    return False


def _watchlist(
    connection: Connection,
    served: ServedResource,
) -> Iterator[Seen | Bookmark | InitialDone]:
    lines = connection.stream(
        served.path,
        {
            "watch": "1",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(INITIAL_SECONDS),
        },
        read_timeout=SILENCE_SECONDS,
        accept_gzip=True,
        watchdog=Watchdog(INITIAL_SECONDS + GRACE_SECONDS),
    )
    reached = ""
    count = 0
    for line in lines:
        event, ends_initial = _read_event(line, served)
        if event is None:
            continue
        if ends_initial:
            yield InitialDone(event.resource_version, count)
            return
        if not _is_repeated(event, reached):
            count += _change_of_count(event)
            reached = event.resource_version
            yield event
    raise TimedOut(
        Statement.of("first_read_too_slow", kinds=served.plural, seconds=INITIAL_SECONDS)
    )


def _is_repeated(event: Seen | Bookmark, reached: str) -> bool:
    """A bookmark often says again where the event or bookmark before it was."""
    return isinstance(event, Bookmark) and event.resource_version == reached


def _change_of_count(event: Seen | Bookmark) -> int:
    if isinstance(event, Bookmark):
        return 0
    return {"added": 1, "modified": 0, "deleted": -1}[event.type]


def read_list(connection: Connection, served: ServedResource) -> Iterator[Seen | InitialDone]:
    """Unpaginated, from the watch cache: the API server charges far more for pages."""
    listing = ListBody(
        connection.chunks(
            served.path,
            {"resourceVersion": "0"},
            read_timeout=SILENCE_SECONDS,
            accept_gzip=True,
            watchdog=Watchdog(INITIAL_SECONDS),
        )
    )
    for raw, envelope in listing:
        body, members = raw, envelope
        if not listing.is_compact:
            body = compact(raw)
            members = decode_envelope(body)
        yield seen_object(
            body, members, type_="added", kind=served.kind, api_version=served.group_version
        )
    if not listing.envelope.resource_version:
        raise Malformed(Statement.of("list_without_version", kinds=served.plural))
    yield InitialDone(listing.envelope.resource_version, listing.count)


def _take_apart(line: bytes) -> tuple[str, bytes, Envelope]:
    """Type, object and envelope of an event."""
    match = _EVENT.match(line)
    if match and line.endswith(b"}"):
        body = line[match.end() : -1]
        try:
            return match.group(1).decode(), body, decode_envelope(body)
        except msgspec.DecodeError:
            pass
    event = _event_decoder.decode(line)
    body = bytes(event.object)
    return event.type, body, decode_envelope(body)


def _read_status(body: bytes) -> Status:
    try:
        return msgspec.json.decode(body, type=Status)
    except msgspec.ValidationError:
        return Status(message=body[:500].decode("utf-8", "replace"), code=500)


def _read_event(line: bytes, served: ServedResource) -> tuple[Seen | Bookmark | None, bool]:
    """The event, and whether it ends the initial ones. None for a type we do not know.

    Plain watches without a resourceVersion mark the end of the initial events as well.
    """
    try:
        type_, body, envelope = _take_apart(line)
        if type_ == "ERROR":
            raise failure_from_status(_read_status(body))
        if type_ == "BOOKMARK":
            metadata = decode_metadata(envelope["metadata"])
            ends_initial = (metadata.annotations or {}).get(_INITIAL_EVENTS_END) == "true"
            return Bookmark(metadata.resource_version), ends_initial
        if type_ not in _TYPES:
            return None, False
        seen = seen_object(
            body,
            envelope,
            type_=_TYPES[type_],
            kind=served.kind,
            api_version=served.group_version,
        )
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise Malformed(
            Statement.of("event_unreadable", kinds=served.plural, error=str(error))
        ) from error
    if not seen.name:
        raise Malformed(Statement.of("event_without_name", kinds=served.plural))
    return seen, False
