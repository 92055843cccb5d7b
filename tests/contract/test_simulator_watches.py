"""Watches of the simulated API server, held to recorded ones: the same request, the same changes, the same lines.

All windows run side by side in real time; the slowest takes 8 seconds.
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.unit.kube.recordings import body, times
from tests.unit.simulator.client import Answer, Api, gzip_members, resource_slice

# Where each situation's resourceVersion stands, if not at the newest.
STANDS = {
    "watch-rv-too-new": "future",
    "watch-old-rv-after-apiserver-restart": "forgotten",
    "watch-recent-rv-after-apiserver-restart": "forgotten",
}
SITUATIONS = [
    "watch-current-rv-after-apiserver-restart",
    "watch-field-selector-leaves",
    "watch-gzip-asked",
    "watch-old-rv-after-apiserver-restart",
    "watch-recent-rv-after-apiserver-restart",
    "watch-rv-garbage",
    "watch-rv-too-new",
    "watch-rv0",
    "watch-without-rv",
    "watchlist-5s",
    "watchlist-5s-rv-current",
    "watchlist-5s-rv0",
    "watchlist-empty-collection",
    "watchlist-gzip",
    "watchlist-without-bookmarks",
    "watchlist-without-match",
    "window-1s-one-change",
    "window-2s-idle",
    "window-2s-one-change",
    "window-3s-one-change",
    "window-4s-one-change",
    "window-5s-idle",
    "window-5s-idle-others-change",
    "window-5s-no-bookmarks-asked",
    "window-5s-with-changes",
    "window-8s-one-change",
]
HEADERS = ("cache-control", "content-type", "content-encoding", "vary", "transfer-encoding")


@dataclass(frozen=True)
class Replay:
    answer: Answer
    seconds: float

    @property
    def lines(self) -> list[dict[str, Any]]:
        return lines_of(self.answer.body, self.answer.headers.get("content-encoding"))


def lines_of(content: bytes, packing: str | None) -> list[dict[str, Any]]:
    if packing == "gzip":
        content = b"".join(gzip_members(content))
    return [json.loads(line) for line in content.splitlines()]


def run(situation: str) -> Replay:
    recorded = times(f"1.37.2/{situation}")
    slices = [resource_slice(name) for name in ("w0", "w1", "w2")]
    with server.start(slices) as simulator:
        path = place(recorded["request"].removeprefix("GET "), situation, simulator)
        timers = [
            threading.Timer(action[0], act, (simulator, action[1]))
            for action in recorded["actions"]
        ]
        began = time.monotonic()
        for timer in timers:
            timer.start()
        answer = Api(simulator.url).get(path, headers=recorded.get("requestHeaders"))
        took = time.monotonic() - began
        for timer in timers:
            timer.join()
    return Replay(answer, took)


def place(path: str, situation: str, simulator: Simulator) -> str:
    """The recorded request with a resourceVersion of this cluster."""
    before = simulator.store.revision
    if "restart" in situation:
        simulator.put(resource_slice("w0", allNodes=True))
        simulator.restart()
    stands = STANDS.get(situation, "newest")
    version = {
        "newest": simulator.store.revision,
        "future": simulator.store.revision + 1_000_000,
        "forgotten": before,
    }[stands]
    return re.sub(r"resourceVersion=[1-9]\d*", f"resourceVersion={version}", path)


def act(simulator: Simulator, what: str) -> None:
    """Do what the recording says was done; config maps stand for anything of another kind."""
    verb, _, rest = what.partition(" ")
    name, _, place = rest.partition(" on ")
    if verb == "delete":
        simulator.delete("ResourceSlice", name)
    elif verb in {"create", "update"}:
        where = {"nodeName": place or "node-1"}
        generation = simulator.store.revision  # another one each time
        pool = {"name": "pool-0", "generation": generation, "resourceSliceCount": 1}
        simulator.put(resource_slice(name, pool=pool, **where))
    else:
        metadata = {"name": f"other-{simulator.store.revision}"}
        simulator.put({"kind": "Namespace", "metadata": metadata})


@pytest.fixture(scope="module")
def replays() -> Iterator[dict[str, Replay]]:
    with ThreadPoolExecutor(len(SITUATIONS)) as pool:
        yield dict(zip(SITUATIONS, pool.map(run, SITUATIONS), strict=True))


def recorded_lines(situation: str) -> list[dict[str, Any]]:
    headers = times(f"1.37.2/{situation}").get("headers", {})
    return lines_of(body(f"1.37.2/{situation}"), headers.get("content-encoding"))


def changes(lines: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Events about objects: what, of which kind and version, which name."""
    return [
        (
            line["type"],
            line["object"]["apiVersion"],
            line["object"]["kind"],
            line["object"]["metadata"]["name"],
        )
        for line in lines
        if line.get("type") in {"ADDED", "MODIFIED", "DELETED"}
    ]


def without_numbers(lines: list[dict[str, Any]], types: set[str]) -> set[str]:
    """Lines of these types, each once, revisions apart: how many bookmarks come is a matter of chance."""
    return {
        re.sub(r"\d{2,}", "N", json.dumps({**line, "object": {**line["object"], "code": None}}))
        for line in lines
        if line.get("type") in types
    }


@pytest.mark.parametrize("situation", SITUATIONS)
def test_status_and_headers_are_the_recorded_ones(
    situation: str, replays: dict[str, Replay]
) -> None:
    recorded = times(f"1.37.2/{situation}")
    answer = replays[situation].answer

    assert answer.status == recorded["status"]
    assert {key: answer.headers.get(key) for key in HEADERS} == {
        key: recorded["headers"].get(key) for key in HEADERS
    }


@pytest.mark.parametrize("situation", SITUATIONS)
def test_changes_are_the_recorded_ones(situation: str, replays: dict[str, Replay]) -> None:
    assert changes(replays[situation].lines) == changes(recorded_lines(situation))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_bookmarks_and_errors_are_as_recorded(situation: str, replays: dict[str, Replay]) -> None:
    types = {"BOOKMARK", "ERROR"}

    assert without_numbers(replays[situation].lines, types) == without_numbers(
        recorded_lines(situation), types
    )


@pytest.mark.parametrize("situation", SITUATIONS)
def test_window_ends_when_it_did(situation: str, replays: dict[str, Replay]) -> None:
    # The recorded client stopped before the end of this one.
    ended = 5.0 if situation == "watchlist-gzip" else times(f"1.37.2/{situation}")["end"]["at"]

    assert replays[situation].seconds == pytest.approx(ended, abs=1.0)


def test_gzip_members_come_one_for_each_flush(replays: dict[str, Replay]) -> None:
    members = gzip_members(replays["watchlist-gzip"].answer.body)
    first = [json.loads(line)["type"] for line in members[0].splitlines()]

    assert first == ["ADDED", "ADDED", "ADDED", "BOOKMARK"]
    assert [json.loads(member)["type"] for member in members[1:3]] == ["ADDED", "DELETED"]
