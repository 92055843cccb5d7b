import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.dra import recorded
from tests.unit.inspect.cases import inspected, path_of, run

UNEXPLAINED = "unexplained"


def request_body(spec: dict[str, Any], status: Any, *, name: str = "asked") -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": name},
        "spec": spec,
        "status": status,
    }


def recorded_dump(folder: Path, name: str) -> Path:
    """What kubectl would have printed beside a recorded server."""
    recording = recorded.pool_status(name)
    asked = request_body(recording["request"], recording["status"])
    # One recording repeats an object for others of its shape.
    objects = [
        {**body, "metadata": {**body["metadata"], "name": f"{body['metadata']['name']}-{number}"}}
        for number, body in enumerate(recording["objects"])
    ]
    file = folder / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": [*objects, asked]}))
    return file


@pytest.mark.parametrize("name", recorded.pool_status_names())
def test_answer_of_a_real_server_is_equal_or_explained(tmp_path: Path, name: str) -> None:
    release = name[:4]
    status = recorded.pool_status(name)["status"]

    report = inspected("--complete", "--release", release, recorded_dump(tmp_path, name))

    (request,) = report["pool_status_requests"]
    assert request["release"] == release
    assert request["outcome"] == ("answered" if status else "blocked")
    assert request["pools_answered"] == (len(status.get("pools") or []) if status else None)
    # Rules of taints were switched off in that server, which no object tells.
    assert not unexplained_fields(request) or name.endswith("gate-off")
    assert [pool for pool in request["pools"] if pool["differences"] is None] == []


def unexplained_fields(request: dict[str, Any]) -> list[str]:
    return [
        difference["field"]
        for pool in request["pools"]
        for difference in pool["differences"]
        if UNEXPLAINED in difference["reasons"]
    ]


SLICE = """apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {pool}}}
spec:
  driver: gpu.example.com
  nodeName: {pool}
  pool: {{name: {pool}, generation: {generation}, resourceSliceCount: {count}}}
  devices: [{{name: gpu-0}}]
"""
ANSWERED = {
    "driver": "gpu.example.com", "poolName": "node-a", "generation": 1, "resourceSliceCount": 1, "totalDevices": 1,
    "allocatedDevices": 0, "availableDevices": 1, "unavailableDevices": 0, "nodeName": "node-a",
}  # fmt: skip


def dump(folder: Path, *slices: str, spec: Any = None, status: Any = None) -> Path:
    file = folder / "dump.yaml"
    asked = request_body({"driver": "gpu.example.com"} if spec is None else spec, status)
    file.write_text("---\n".join([*slices, json.dumps(asked)]))
    return file


def node(name: str, *, generation: int = 1, count: int = 1) -> str:
    return SLICE.format(pool=name, generation=generation, count=count)


@pytest.mark.parametrize(
    ("slices", "status", "line"),
    [
        ([node("node-a")], {"poolCount": 1, "pools": [ANSWERED]}, "answered for 1 pool, agrees\n"),
        (
            [node("node-a")],
            {"poolCount": 7, "pools": [ANSWERED]},
            "answered for 1 pool of 7, agrees\n",
        ),
        (
            [node("node-a")],
            {"poolCount": 1, "pools": [{**ANSWERED, "availableDevices": 0}]},
            (
                "answered for 1 pool, disagrees on 1 (by the rules of 1.37)\n"
                "  ! node-a: pool status request disagrees: reports 0 allocated of 1, 0 available\n"
                "      available: 1 here, 0 there: not explained: the objects may have changed between the two readings\n"
            ),
        ),
        (
            [node("node-b")],
            {"poolCount": 1, "pools": [ANSWERED]},
            "answered for 1 pool, not compared\n  node-a: no slice of this pool is here to compare with\n",
        ),
        (
            [node("node-a")],
            {"poolCount": 1, "pools": [{**ANSWERED, "validationError": "PoolIncomplete: x"}]},
            "answered for 1 pool, agrees\n  node-a: the server says: PoolIncomplete: x\n",
        ),
        ([node("node-a")], None, "no answer\n"),
        (
            [node("node-a"), node("node-b", count=2), node("node-c", generation=0)],
            None,
            (
                "no answer\n"
                "  ! waits for pool gpu.example.com/node-b, which is incomplete or of generation 0\n"
                "  ! waits for pool gpu.example.com/node-c, which is incomplete or of generation 0\n"
            ),
        ),
        (
            [node("node-a")],
            {"conditions": [{"type": "Failed", "status": "True", "message": "too many pools"}]},
            "failed: too many pools\n",
        ),
        (
            [node("node-a")],
            {"conditions": [{"type": "Failed", "status": "True", "reason": "Broken"}]},
            "failed: Broken\n",
        ),
    ],
)
def test_request_is_told_with_its_answer(
    tmp_path: Path, slices: list[str], status: Any, line: str
) -> None:
    printed = run("--complete", dump(tmp_path, *slices, status=status))[1]

    assert f"Pool status request asked for gpu.example.com: {line}" in printed


def test_request_for_one_pool_names_it(tmp_path: Path) -> None:
    file = dump(tmp_path, spec={"driver": "gpu.example.com", "poolName": "node-a"})

    assert "request asked for gpu.example.com/node-a: no answer" in run("--complete", file)[1]


@pytest.mark.parametrize("spec", [{}, {"driver": ""}, 3])
def test_request_without_driver_is_named(tmp_path: Path, spec: Any) -> None:
    report = inspected("--complete", dump(tmp_path, spec=spec))

    assert report["pool_status_requests"] == []
    assert report["problems"][-1]["parameters"] == {
        "kind": "ResourcePoolStatusRequest",
        "missing": "spec.driver",
    }


def test_release_before_the_first_that_answers_counts_as_that(tmp_path: Path) -> None:
    (request,) = inspected("--complete", "--release", "1.34", path_of("C43"))[
        "pool_status_requests"
    ]

    assert (request["release"], unexplained_fields(request)) == ("1.36", [])
