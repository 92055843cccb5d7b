import json

from dra.pools import assess_pool
from dra.shapes import allocation_shape, device_shape, pool_shape
from dra.values import Attribute, DeviceSelector, Release
from tests.unit.dra.objects import (
    DRIVER,
    KEY,
    allocation,
    device,
    resource_slice,
    taint_rule,
)


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

    shape = pool_shape(
        pool, id="7", cluster="prod", observed_at="2026-01-01T00:00:00Z", source="watch"
    )

    assert shape == {
        "id": "7",
        "cluster": "prod",
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
        "observed_at": "2026-01-01T00:00:00Z",
        "source": "watch",
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

    shape = device_shape(pool.devices[0], id="9", cluster="prod", observed_at="now")

    assert shape == {
        "id": "9",
        "cluster": "prod",
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
        "observed_at": "now",
    }  # fmt: skip


def test_allocation_names_claim_and_device() -> None:
    result = allocation("nic", share="s-1", consumed={"bw": "1000M"}, admin=True)

    assert allocation_shape(result) == {
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
