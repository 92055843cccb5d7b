import gzip
import json
import re
import time

import pytest

from kube.connect import Connection
from kube.failures import Expired, KubeFailure, Malformed, ServerError, TimedOut, Unreachable
from kube.kinds import RESOURCE_CLAIM, RESOURCE_SLICE, served
from kube.objects import Bookmark, InitialDone, Seen
from kube.watching import is_from_the_future, read_initial, read_list, watch_window
from tests.unit.kube import recordings
from tests.unit.kube.api_server import Reply, Request, reply_json, reply_stream
from tests.unit.kube.conftest import Serve

SLICES = served(RESOURCE_SLICE, "v1")
CLAIMS = served(RESOURCE_CLAIM, "v1")


def told(event: Seen | Bookmark | InitialDone) -> str:
    if isinstance(event, Seen):
        return f"{event.type} {event.name} {event.resource_version}"
    if isinstance(event, Bookmark):
        return f"bookmark {event.resource_version}"
    return f"done {event.resource_version} {event.count}"


def read_all(events: object) -> list[str]:
    """What came, and how it ended: by "end" or by the code of a failure."""
    said: list[str] = []
    try:
        said.extend(told(event) for event in events)  # type: ignore[attr-defined]
    except KubeFailure as failure:
        return [*said, failure.code]
    return [*said, "end"]


def window(connection: Connection, resource_version: str = "1") -> list[str]:
    return read_all(
        watch_window(connection, SLICES, resource_version=resource_version, timeout_seconds=5)
    )


# What the door must report of each recorded stream.
WINDOWS = {
    "1.34.4/apiserver-killed": ["modified w0 357", "unreachable"],
    "1.34.4/watch-current-rv-after-apiserver-restart": ["end"],
    "1.34.4/watch-old-rv-after-apiserver-restart": ["expired"],
    "1.34.4/watch-rv-before-restart-one-change-missed": ["expired"],
    "1.34.4/watch-rv-too-new": ["end"],
    "1.34.4/watch-rv0": ["added w0 466", "added w1 467", "added w2 468", "bookmark 472", "end"],
    "1.34.4/watch-without-rv": [
        "added w0 466",
        "added w1 467",
        "added w2 468",
        "bookmark 472",
        "end",
    ],
    "1.34.4/window-5s-idle": ["end"],
    "1.34.4/window-5s-with-changes": ["added w3 475", "modified w3 476", "deleted w3 477", "end"],
    "1.36.3/apiserver-killed": ["modified w0 2673", "unreachable"],
    "1.36.3/watch-current-rv-after-apiserver-restart": ["end"],
    "1.36.3/watch-old-rv-after-apiserver-restart": ["expired"],
    "1.36.3/watch-rv-before-restart-one-change-missed": ["expired"],
    "1.36.3/watch-rv-too-new": ["end"],
    "1.36.3/watch-rv0": [
        "added w0 2386",
        "added w1 2387",
        "added w2 2388",
        "bookmark 2392",
        "end",
    ],
    "1.36.3/watch-without-rv": [
        "added w0 2386",
        "added w1 2387",
        "added w2 2388",
        "bookmark 2392",
        "end",
    ],
    "1.36.3/window-5s-idle": ["end"],
    "1.36.3/window-5s-with-changes": [
        "added w3 2396",
        "modified w3 2397",
        "deleted w3 2398",
        "end",
    ],
    "1.37.2/apiserver-killed": ["modified w0 3070", "unreachable"],
    # The stream lives on until its own end; the bookmark only repeats the event.
    "1.37.2/apiserver-restart-sigterm": ["modified w0 453", "end"],
    "1.37.2/apiserver-sigterm-short-window": ["bookmark 276", "end"],
    "1.37.2/progress5s-window-10s-idle": ["bookmark 220", "end"],
    "1.37.2/progress5s-window-10s-idle-others-change": ["bookmark 226", "end"],
    "1.37.2/progress5s-window-75s-one-change": [
        "modified w0 227",
        "bookmark 247",
        "bookmark 250",
        "end",
    ],
    # Never asked for: rows of a table are no objects.
    "1.37.2/watch-as-table": ["malformed"],
    "1.37.2/watch-current-rv-after-apiserver-restart": ["end"],
    "1.37.2/watch-field-selector-leaves": [
        "added w6 261",
        "deleted w6 263",
        "bookmark 264",
        "end",
    ],
    "1.37.2/watch-gzip-asked": ["added w6 272", "deleted w6 273", "end"],
    "1.37.2/watch-old-rv-after-apiserver-restart": ["expired"],
    "1.37.2/watch-old-rv-after-etcd-compaction-same-apiserver": [
        *(f"modified w{n % 3} {432 + n}" for n in range(18)),
        "bookmark 451",
        "end",
    ],
    "1.37.2/watch-partial-metadata": ["added w6 265", "deleted w6 266", "end"],
    "1.37.2/watch-recent-rv-after-apiserver-restart": ["expired"],
    "1.37.2/watch-rv-1-after-apiserver-restart": ["expired"],
    "1.37.2/watch-rv-1-not-compacted": [
        "added w0 201",
        "added w1 203",
        "added w2 205",
        "added w3 219",
        "modified w3 220",
        "deleted w3 221",
        "added w4 222",
        "deleted w4 223",
        "modified w0 232",
        "modified w0 236",
        "modified w0 237",
        "modified w0 238",
        "modified w0 240",
        "modified w0 243",
        "added w5 247",
        "deleted w5 248",
        "bookmark 254",
        "end",
    ],
    "1.37.2/watch-rv-before-restart-one-change-missed": ["expired"],
    # A stored resourceVersion that is none is healed by reading everything again.
    "1.37.2/watch-rv-garbage": ["expired"],
    "1.37.2/watch-rv-too-new": ["end"],
    "1.37.2/watch-rv0": ["added w0 243", "added w1 203", "added w2 205", "bookmark 254", "end"],
    "1.37.2/watch-without-rv": [
        "added w0 243",
        "added w1 203",
        "added w2 205",
        "bookmark 254",
        "end",
    ],
    "1.37.2/window-1s-one-change": ["modified w0 236", "end"],
    "1.37.2/window-2s-idle": ["end"],
    "1.37.2/window-2s-one-change": ["modified w0 237", "end"],
    "1.37.2/window-3s-one-change": ["modified w0 238", "end"],
    "1.37.2/window-4s-one-change": ["modified w0 240", "end"],
    "1.37.2/window-5s-idle": ["end"],
    "1.37.2/window-5s-idle-others-change": ["end"],
    "1.37.2/window-5s-no-bookmarks-asked": ["modified w0 232", "end"],
    "1.37.2/window-5s-with-changes": [
        "added w3 219",
        "modified w3 220",
        "deleted w3 221",
        "added w4 222",
        "deleted w4 223",
        "end",
    ],
    "1.37.2/window-8s-one-change": ["modified w0 243", "end"],
}
WATCHLISTS = {
    "1.34.4/watchlist-5s": [
        "added w0 466",
        "added w1 467",
        "added w2 468",
        "done 468 3",
        "end",
    ],
    "1.34.4/watchlist-with-managed-fields": [
        *(f"added w{n} {341 + n}" for n in range(5)),
        "done 347 5",
        "end",
    ],
    "1.36.3/watchlist-5s": [
        "added w0 2386",
        "added w1 2387",
        "added w2 2388",
        "done 2388 3",
        "end",
    ],
    "1.36.3/watchlist-with-managed-fields": [
        *(f"added w{n} {2654 + n}" for n in range(5)),
        "done 2661 5",
        "end",
    ],
    "1.37.2/watchlist-5s": [
        "added w0 243",
        "added w1 203",
        "added w2 205",
        "done 246 3",
        "end",
    ],
    "1.37.2/watchlist-5s-rv-current": [
        "added w0 243",
        "added w1 203",
        "added w2 205",
        "done 251 3",
        "end",
    ],
    "1.37.2/watchlist-5s-rv0": [
        "added w0 243",
        "added w1 203",
        "added w2 205",
        "done 248 3",
        "end",
    ],
    "1.37.2/watchlist-empty-collection": ["done 254 0", "end"],
    "1.37.2/watchlist-gzip": [
        "added w0 3617",
        "added w1 3618",
        "added w2 3619",
        "done 3619 3",
        "end",
    ],
    "1.37.2/watchlist-with-managed-fields": [
        *(f"added w{n} {3051 + n}" for n in range(5)),
        "done 3060 5",
        "end",
    ],
    # Without the end mark nobody knows whether that was all.
    "1.37.2/watchlist-without-bookmarks": [
        "added w0 243",
        "added w1 203",
        "added w2 205",
        "timeout",
    ],
}
REFUSED_WATCHLISTS = [
    "1.34.4/watchlist-without-match",
    "1.36.3/watchlist-without-match",
    "1.37.2/watchlist-without-match",
]


def test_expectations_cover_every_recorded_watch() -> None:
    assert recordings.situations() == sorted([*WINDOWS, *WATCHLISTS, *REFUSED_WATCHLISTS])


@pytest.mark.parametrize("situation", WINDOWS)
def test_window_recorded_stream_is_reported(serve: Serve, situation: str) -> None:
    _, connection = serve(recordings.watch_reply(situation))

    assert window(connection) == WINDOWS[situation]


@pytest.mark.parametrize("situation", WATCHLISTS)
def test_initial_recorded_watchlist_is_reported(serve: Serve, situation: str) -> None:
    _, connection = serve(recordings.watch_reply(situation))

    assert read_all(read_initial(connection, SLICES)) == WATCHLISTS[situation]


@pytest.mark.parametrize("situation", REFUSED_WATCHLISTS)
def test_initial_watchlist_refused_falls_back_to_list(serve: Serve, situation: str) -> None:
    def respond(request: Request) -> Reply:
        if "watch" in request.query:
            return recordings.watch_reply(situation)
        return reply_json(
            {"metadata": {"resourceVersion": "9"}, "items": [{"metadata": named("a")}]}
        )

    server, connection = serve(respond)

    assert read_all(read_initial(connection, SLICES)) == ["added a 7", "done 9 1", "end"]
    assert [request.query for request in server.requests] == [
        {
            "watch": "1",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": "300",
        },
        {"resourceVersion": "0"},
    ]


def named(name: str, resource_version: str = "7") -> dict[str, str]:
    return {"name": name, "uid": f"uid-{name}", "resourceVersion": resource_version}


def line(type_: str, name: str, resource_version: str, **more: object) -> bytes:
    content = {"metadata": named(name, resource_version), **more}
    return json.dumps({"type": type_, "object": content}).encode() + b"\n"


def test_window_request_asks_for_bookmarks_and_a_bounded_time(serve: Serve) -> None:
    server, connection = serve(reply_stream())

    list(
        watch_window(
            connection,
            CLAIMS,
            resource_version="42",
            timeout_seconds=7,
            field_selector="metadata.name=x",
        )
    )

    assert [(request.path, request.query) for request in server.requests] == [
        (
            "/apis/resource.k8s.io/v1/resourceclaims",
            {
                "watch": "1",
                "allowWatchBookmarks": "true",
                "timeoutSeconds": "7",
                "resourceVersion": "42",
                "fieldSelector": "metadata.name=x",
            },
        )
    ]


def test_window_object_keeps_spec_and_status_as_bytes(serve: Serve) -> None:
    body = (
        b'{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c",'
        b'"namespace":"team","uid":"u","resourceVersion":"8","labels":{"a":"1"}},"spec":{"devices":{}},"status":{"allocation":{}}}'
    )
    _, connection = serve(reply_stream(b'{"type":"ADDED","object":' + body + b"}\n"))

    (seen,) = watch_window(connection, CLAIMS, resource_version="1", timeout_seconds=5)

    assert isinstance(seen, Seen)
    assert (seen.namespace, seen.name, seen.uid, seen.kind, seen.api_version) == (
        "team",
        "c",
        "u",
        "ResourceClaim",
        "resource.k8s.io/v1",
    )
    assert (seen.body, bytes(seen.envelope["spec"]), seen.status) == (
        body,
        b'{"devices":{}}',
        b'{"allocation":{}}',
    )
    assert seen.metadata.labels == {"a": "1"}


def test_window_null_status_and_odd_metadata_do_not_raise(serve: Serve) -> None:
    body = (
        b'{"metadata":{"name":"c","uid":"u","resourceVersion":"8","labels":[1],'
        b'"creationTimestamp":5,"annotations":null},"status":null}'
    )
    _, connection = serve(reply_stream(b'{"type":"ADDED","object":' + body + b"}\n"))

    (seen,) = watch_window(connection, CLAIMS, resource_version="1", timeout_seconds=5)

    assert isinstance(seen, Seen)
    assert (seen.name, seen.uid, seen.status) == ("c", "u", None)
    assert (seen.metadata.labels, seen.metadata.creation_timestamp) == (None, None)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (reply_stream(line("ADDED", "a", "2"), end="cut"), ["added a 2", "unreachable"]),
        (reply_stream(line("ADDED", "a", "2"), end="reset"), ["added a 2", "unreachable"]),
        (
            reply_stream(line("ADDED", "a", "2"), line("ADDED", "b", "3")[:40]),
            ["added a 2", "malformed"],
        ),
        (
            reply_stream(line("ADDED", "a", "2"), line("ADDED", "b", "3")[:40], end="cut"),
            ["added a 2", "unreachable"],
        ),
        (reply_stream(b"<html>sign in</html>"), ["malformed"]),
        (reply_stream(line("ADDED", "a", "2").strip()), ["added a 2", "end"]),
        (reply_stream(b"\n\n" + line("ADDED", "a", "2") + b"\n"), ["added a 2", "end"]),
        (reply_stream(line("SOMETHING", "a", "2"), line("ADDED", "b", "3")), ["added b 3", "end"]),
        (
            reply_stream(b'{"type":"ERROR","object":{"code":500,"message":"etcd"}}\n'),
            ["server_error"],
        ),
        (reply_stream(b'{"type":"ERROR","object":{"code":429}}\n'), ["throttled"]),
        (
            reply_stream(gzip.compress(line("ADDED", "a", "2"))[:-9], content_encoding="gzip"),
            ["added a 2", "malformed"],
        ),
        (reply_stream(b"not gzip at all", content_encoding="gzip"), ["malformed"]),
    ],
    ids=[
        "cut",
        "reset",
        "half-line",
        "half-line-and-cut",
        "html",
        "no-last-newline",
        "blank-lines",
        "unknown-type",
        "error-500",
        "error-429",
        "gzip-cut",
        "gzip-garbage",
    ],
)
def test_window_broken_stream_keeps_what_came_before(
    serve: Serve, reply: Reply, expected: list[str]
) -> None:
    _, connection = serve(reply)

    assert window(connection) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64])
def test_window_text_across_chunk_borders_is_whole(serve: Serve, size: int) -> None:
    whole = json.dumps(
        {
            "type": "ADDED",
            "object": {"metadata": {**named("a"), "labels": {"k": "größe 机器 🤖"}}},
        },
        ensure_ascii=False,
    ).encode()
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    _, connection = serve(reply_stream(*parts, b"\n"))

    (seen,) = watch_window(connection, SLICES, resource_version="1", timeout_seconds=5)

    assert isinstance(seen, Seen)
    assert seen.metadata.labels == {"k": "größe 机器 🤖"}


@pytest.mark.parametrize("drip", [(), (b" ", 0.2) * 20], ids=["silent", "dripping"])
def test_window_that_never_ends_is_cut_by_our_own_clock(
    serve: Serve, drip: tuple[bytes | float, ...]
) -> None:
    _, connection = serve(reply_stream(line("ADDED", "a", "2"), *drip, end="keep"))
    started = time.monotonic()

    said = read_all(
        watch_window(
            connection, SLICES, resource_version="1", timeout_seconds=1, grace_seconds=0.2
        )
    )

    assert said == ["added a 2", "timeout"]
    assert time.monotonic() - started < 2


def test_window_left_early_leaves_no_connection_behind(serve: Serve) -> None:
    server, connection = serve(reply_stream(line("ADDED", "a", "2"), end="keep"))

    events = watch_window(connection, SLICES, resource_version="1", timeout_seconds=5)
    first = told(next(events))
    events.close()  # type: ignore[attr-defined]

    assert first == "added a 2"
    assert len(server.requests) == 1


def test_initial_counts_only_what_is_left(serve: Serve) -> None:
    mark = (
        b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",'
        b'"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
    )
    _, connection = serve(
        reply_stream(
            line("ADDED", "a", "2"), line("ADDED", "b", "3"), line("DELETED", "a", "4"), mark
        )
    )

    assert read_all(read_initial(connection, SLICES))[-2:] == ["done 9 1", "end"]


@pytest.mark.parametrize("version", ["1.34.4", "1.36.3", "1.37.2"])
def test_initial_other_refusals_are_no_reason_for_a_list(serve: Serve, version: str) -> None:
    server, connection = serve(recordings.error_reply(version, "403-watch-slices"))

    assert read_all(read_initial(connection, SLICES)) == ["forbidden"]
    assert len(server.requests) == 1


ITEMS = [
    {"metadata": named("a", "3"), "spec": {"driver": "d", "devices": None}},
    {"metadata": named("b", "5"), "spec": {"driver": 'x},{"metadata":{"', "text": "]}}]"}},
]
LISTED = {
    "kind": "ResourceSliceList",
    "apiVersion": "resource.k8s.io/v1",
    "metadata": {"resourceVersion": "99"},
    "items": ITEMS,
}
COMPACT = json.dumps(LISTED, separators=(",", ":")).encode()


def listing(connection: Connection) -> list[str]:
    return read_all(read_list(connection, SLICES))


@pytest.mark.parametrize(
    "reply",
    [
        reply_json(COMPACT),
        reply_json(COMPACT + b"\n"),
        reply_json(json.dumps(LISTED, indent=2).encode()),
        reply_stream(*(COMPACT[at : at + 7] for at in range(0, len(COMPACT), 7))),
        reply_json(gzip.compress(COMPACT), content_encoding="gzip"),
        reply_json(
            gzip.compress(COMPACT[:90]) + gzip.compress(COMPACT[90:]), content_encoding="gzip"
        ),
        Reply(200, {}, (COMPACT,), framing="until_close"),
    ],
    ids=["compact", "newline", "pretty", "chunked", "gzip", "gzip-members", "until-close"],
)
def test_initial_list_in_any_form_gives_the_same_objects(serve: Serve, reply: Reply) -> None:
    _, connection = serve(reply)

    first, second, done = read_list(connection, SLICES)

    assert isinstance(first, Seen)
    assert isinstance(second, Seen)
    assert bytes(first.envelope["spec"]) == b'{"driver":"d","devices":null}'
    assert json.loads(second.body) == ITEMS[1]
    assert (second.kind, second.api_version) == ("ResourceSlice", "resource.k8s.io/v1")
    assert done == InitialDone("99", 2)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"metadata":{"resourceVersion":"9"},"items":null}', ["done 9 0", "end"]),
        (b'{"metadata":{"resourceVersion":"9"},"items":[]}', ["done 9 0", "end"]),
        (b'{"metadata":{"resourceVersion":"9"}}', ["done 9 0", "end"]),
        (
            (
                b'{"items":[{"metadata":{"name":"a","resourceVersion":"7"}}],'
                b'"metadata":{"resourceVersion":"9"}}'
            ),
            ["added a 7", "done 9 1", "end"],
        ),
        (
            b'{"items":[{"metadata":{"name":"a","resourceVersion":"7"}}]}',
            ["added a 7", "malformed"],
        ),
        (COMPACT[:-30], ["added a 3", "malformed"]),
        (COMPACT[:-2], ["added a 3", "added b 5", "malformed"]),
        (COMPACT[:60], ["malformed"]),
        (b'{"metadata":{"resourceVersion":"9"},"items":[1,2]}', ["malformed"]),
        (b"<html>", ["malformed"]),
        (b"", ["malformed"]),
    ],
)
def test_initial_list_odd_or_broken_body_is_told(
    serve: Serve, body: bytes, expected: list[str]
) -> None:
    _, connection = serve(reply_json(body))

    assert listing(connection) == expected


@pytest.mark.parametrize("end", ["cut", "reset"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_initial_list_cut_short_is_unreachable(serve: Serve, end: str, framing: str) -> None:
    reply = Reply(200, {}, (COMPACT[:150],), framing=framing, end=end)  # type: ignore[arg-type]
    _, connection = serve(reply)

    assert listing(connection)[-1] == "unreachable"


@pytest.mark.parametrize("version", ["1.34.4", "1.36.3", "1.37.2"])
def test_future_resource_version_is_told_by_a_list(serve: Serve, version: str) -> None:
    server, connection = serve(recordings.error_reply(version, "504-resource-version-too-large"))

    assert is_from_the_future(connection, SLICES, "99999999") is True
    assert server.requests[0].query == {"resourceVersion": "99999999", "limit": "1"}


def test_future_reached_resource_version_is_not(serve: Serve) -> None:
    _, connection = serve(reply_json(COMPACT))

    assert is_from_the_future(connection, SLICES, "5") is False


def test_future_other_failures_are_passed_on(serve: Serve) -> None:
    _, connection = serve(reply_json({"message": "down", "code": 503}, status=503))

    with pytest.raises(ServerError, match=re.escape("down")):
        is_from_the_future(connection, SLICES, "5")


@pytest.mark.parametrize(
    ("failure", "is_retriable"),
    [(Expired, False), (Malformed, True), (TimedOut, True), (Unreachable, True)],
)
def test_failures_of_streams_say_whether_to_try_again(
    failure: type[KubeFailure], is_retriable: bool
) -> None:
    assert failure.retriable is is_retriable
