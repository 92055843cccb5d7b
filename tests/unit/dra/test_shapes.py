import json
from datetime import UTC, datetime

from msgspec import structs, to_builtins

from dra.pools import assess_pool
from dra.shapes import (
    HistoryFigures,
    HistoryPoint,
    PoolFigures,
    PoolStatusRequest,
    Problem,
    allocation_shape,
    columns,
    device_figures,
    pool_figures,
)
from dra.values import Attribute, DeviceSelector, Release
from tests.unit.dra.objects import (
    DRIVER,
    KEY,
    allocation,
    device,
    resource_slice,
    taint_rule,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_pool_has_the_shape_of_the_api() -> None:
    half = device("half", attributes={"profile": "half"}, draws={"gpu": {"memory": "40Gi"}})
    nic = device("nic", capacity={"bw": "1000M"}, allows_multiple_allocations=True)
    pool = assess_pool(
        KEY,
        [resource_slice("s", half, nic, device("half"), counters={"gpu": {"memory": "80Gi"}})],
        allocations=[allocation("nic", share="1", consumed={"bw": "250M"})],
        taint_rules=(),
        release=Release(1, 34),
    )

    shape = to_builtins(pool_figures(pool))

    assert shape == {
        "driver": "gpu.example.com",
        "pool": "node-a",
        "generation": 1,
        "complete": True,
        "slices": {"seen": 1, "expected": 1},
        "node": "node-a",
        "node_selection": {"kind": "node", "text": "node-a"},
        "devices": {
            "total": None,
            "seen": 2,
            "allocated": 1,
            "partly_used": 0,
            "unavailable": None,
            "blocked": None,
            "available": 0,
            "admin_access": 0,
        },
        "partitions": [
            {"attribute": f"{DRIVER}/profile", "type": "half", "total": 1, "allocatable": None}
        ],
        "capacity": [{"name": "bw", "total": "1G", "consumed": "250M", "available": "750M"}],
        "problems": [
            {
                "code": "duplicate_device_name",
                "message": (
                    "duplicate device name half: the scheduler rejects the pool on nodes that see it, "
                    "status requests do not notice"
                ),
                "parameters": {"device": "half"},
            }
        ],
    }
    assert json.loads(json.dumps(shape)) == shape


def test_device_has_the_shape_of_the_api() -> None:
    card = device("gpu-0", capacity={"memory": "0"}, taints=["None"])
    attributes = {
        "b": Attribute("versions", ("1.0.0", "2.0.0")),
        "a": Attribute("int", 9000),
        "c": Attribute("bool", False),
        "dra.net/alias": Attribute("string", ""),
        "e": Attribute("unknown", {"durations": ["5s"]}),
    }
    card.attributes.update(attributes)  # type: ignore[attr-defined]
    pool = assess_pool(
        KEY,
        [resource_slice("s", card)],
        allocations=None,
        taint_rules=[taint_rule(selector=DeviceSelector())],
        release=Release(1, 37),
    )

    shape = to_builtins(device_figures(pool.devices[0]))

    assert shape == {
        "driver": "gpu.example.com",
        "pool": "node-a",
        "device": "gpu-0",
        "node": "node-a",
        "generation": 1,
        "state": "unknown",
        "partly_used": None,
        "attributes": {
            "a": 9000,
            "b": ["1.0.0", "2.0.0"],
            "c": False,
            "dra.net/alias": "",
            "e": {"durations": ["5s"]},
        },
        "capacity": [{"name": "memory", "total": "0", "consumed": None, "available": None}],
        "taints": [
            {"key": "example.com/key", "value": "", "effect": "None", "added_at": None, "rule": None},
            {"key": "example.com/key", "value": "", "effect": "NoSchedule", "added_at": None, "rule": "rule"},
        ],
        "problems": [
            {
                "code": "unknown_capacity",
                "message": "memory is published as 0: its size is not known",
                "parameters": {"capacity": "memory"},
            }
        ],
    }  # fmt: skip


def test_allocation_names_claim_and_device() -> None:
    result = allocation("nic", share="s-1", consumed={"bw": "1000M"}, admin=True)

    assert to_builtins(allocation_shape(result)) == {
        "driver": "gpu.example.com",
        "pool": "node-a",
        "device": "nic",
        "namespace": "default",
        "claim": "claim",
        "claim_uid": "uid-claim",
        "request": "request",
        "share_id": "s-1",
        "admin_access": True,
        "consumed_capacity": {"bw": "1G"},
    }


def test_columns_are_the_members_with_those_of_inner_shapes_but_no_links() -> None:
    assert list(columns(PoolStatusRequest)) == [
        "id",
        "cluster",
        "name",
        "driver",
        "pool",
        "partition_type_attribute",
        "outcome",
        "message",
        "notes",
        "created_at",
        "answered_at",
        "removed",
        "pool_count",
        "pools_answered",
        "pools_differing",
        "blocked_by",
    ]


def test_columns_of_an_inner_shape_that_is_null_are_empty() -> None:
    known = HistoryFigures(
        total=4, allocated=1, partly_used=0, unavailable=0, blocked=0, available=3
    )
    point = HistoryPoint(
        at=NOON, generation=3, complete=True, devices=known, least=None, most=None
    )

    cells = {name: read(point) for name, read in columns(HistoryPoint).items()}

    assert (cells["at"], cells["devices_available"], cells["least_available"]) == (NOON, 3, None)


def test_columns_have_problems_by_their_codes() -> None:
    problems = [Problem(code=code, message="", parameters={}) for code in ("a", "b")]
    pool = assess_pool(
        KEY, [resource_slice("s")], allocations=[], taint_rules=(), release=Release(1, 37)
    )

    shape = structs.replace(pool_figures(pool), problems=problems)

    assert columns(PoolFigures)["problems"](shape) == "a b"
