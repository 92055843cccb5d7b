"""Answers to pool status requests over HTTP, held to those of the real controllers of 1.36 and 1.37."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from simulator import server
from simulator.gates import POOL_STATUS_GATES
from tests.unit.dra.recorded import pool_status, pool_status_names
from tests.unit.simulator.client import POOL_STATUS_REQUESTS, Api

API = Path(__file__).parents[1] / "fixtures" / "recordings" / "api"
VALIDATION = {
    row["what"]: row
    for row in json.loads((API / "1.37.2" / "validation-pool-status-request.json").read_text())
}
KINDS = {"ResourceSlice", "ResourceClaim", "DeviceTaintRule", "DeviceClass"}
# Here the real controller's answer is one of two, by chance.
BY_CHANCE = ("extra-slices-disagree",)
# The last of six tries comes 155 ms after the first.
PATIENCE_SECONDS = 0.3


def predictable() -> list[str]:
    return [name for name in pool_status_names() if not name.split("/")[1].startswith(BY_CHANCE)]


def ask(api: Api, spec: dict[str, Any], *, seconds: float) -> dict[str, Any] | None:
    made = api.post(POOL_STATUS_REQUESTS, {"metadata": {"name": "x"}, "spec": spec})
    assert (made.status, "status" in made.json()) == (201, False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = api.get(f"{POOL_STATUS_REQUESTS}/x").json().get("status")
        if status is not None:
            return dict(status)
        time.sleep(0.005)
    return None


def with_name(obj: dict[str, Any], name: str) -> dict[str, Any]:
    """Some recordings write one object out and say that others are like it."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "uid"}
    return {**obj, "metadata": {**metadata, "name": name}}


def without_moments(status: dict[str, Any] | None) -> dict[str, Any] | None:
    if status is None:
        return None
    conditions = [{**one, "lastTransitionTime": None} for one in status["conditions"]]
    return {**status, "conditions": conditions}


@pytest.mark.parametrize("name", predictable())
def test_answer_is_the_recorded_one(name: str) -> None:
    case = pool_status(name)
    release = (1, int(name.split(".")[1]))
    gates = {**POOL_STATUS_GATES, "DRADeviceTaintRules": not name.endswith("gate-off")}
    objects = [
        with_name(obj, f"{number:03d}-{obj['metadata']['name']}")
        for number, obj in enumerate(case["objects"])
        if obj.get("kind") in KINDS
    ]
    seconds = PATIENCE_SECONDS if case["status"] is None else 10.0

    with server.start(objects, release=release, gates=gates) as simulator:
        status = ask(Api(simulator.url), case["request"], seconds=seconds)

    assert json.dumps(without_moments(status)) == json.dumps(without_moments(case["status"]))


def test_answer_that_depends_on_the_order_of_slices_is_given_or_not_by_chance() -> None:
    case = pool_status("1.37.2/extra-slices-disagree-declared-more")
    with server.start(case["objects"]) as simulator:
        answers = [
            simulator.pool_status.answer(case["request"], shuffle=str(seed)) for seed in range(20)
        ]

    assert {answer is None for answer in answers} == {True, False}


LONG = ".".join(["a" * 50] * 5)
SPECS: dict[str, dict[str, Any]] = {
    "driver missing": {},
    "driver empty": {"driver": ""},
    "driver upper case": {"driver": "A.example.com"},
    "driver underscore": {"driver": "a_b"},
    "driver 200 chars": {"driver": ".".join(["a" * 49] * 4)},
    "driver 254 chars": {"driver": LONG},
    "poolName empty": {"driver": "a", "poolName": ""},
    "poolName slashes": {"driver": "a", "poolName": "a/b/c"},
    "poolName upper": {"driver": "a", "poolName": "A"},
    "poolName 254": {"driver": "a", "poolName": LONG},
    "poolName trailing slash": {"driver": "a", "poolName": "a/"},
    "poolName bad": {"driver": "a", "poolName": "a b"},
    "limit 0": {"driver": "a", "limit": 0},
    "limit -1": {"driver": "a", "limit": -1},
    "limit 1": {"driver": "a", "limit": 1},
    "limit 1000": {"driver": "a", "limit": 1000},
    "limit 1001": {"driver": "a", "limit": 1001},
    "limit string": {"driver": "a", "limit": "5"},
    "limit null": {"driver": "a", "limit": None},
    "attr bare": {"driver": "a", "defaultPartitionTypeAttribute": "profile"},
    "attr malformed": {"driver": "a", "defaultPartitionTypeAttribute": "a/b/c"},
    "attr empty": {"driver": "a", "defaultPartitionTypeAttribute": ""},
    "attr good": {"driver": "a", "defaultPartitionTypeAttribute": "a.example.com/profile"},
    "attr dash in id": {"driver": "a", "defaultPartitionTypeAttribute": "a.example.com/pro-file"},
    "attr long id": {
        "driver": "a",
        "defaultPartitionTypeAttribute": f"a.example.com/{'p' * 33}",
    },
    "unknown field": {"driver": "a", "foo": 1},
}


@pytest.mark.parametrize("what", SPECS)
def test_create_is_taken_or_refused_as_recorded(what: str) -> None:
    recorded = VALIDATION[what]
    # The recording's names were made up as it went along.
    name = (recorded["message"] or "").partition('"')[2].partition('"')[0] or "x"
    with server.start() as simulator:
        api = Api(simulator.url)
        answer = api.post(POOL_STATUS_REQUESTS, {"metadata": {"name": name}, "spec": SPECS[what]})

    assert (answer.status, answer.json().get("message")) == (
        recorded["code"],
        recorded["message"],
    )
