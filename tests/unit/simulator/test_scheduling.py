from typing import Any

import pytest

from simulator.devices import CPU, GPU, MIG, NIC
from simulator.objects import Object, exact_request
from simulator.scheduling import Inventory, Key, share_amount, survey

BANDWIDTH = {
    "value": "100G",
    "requestPolicy": {
        "default": "1G",
        "validRange": {"min": "2G", "step": "2G", "max": "50G"},
    },
}
ONE_OF = {"value": "100", "requestPolicy": {"default": "50", "validValues": ["50", "100"]}}


@pytest.mark.parametrize(
    ("capacity", "asked", "taken"),
    [
        ({"value": "40Gi"}, None, "40Gi"),
        ({"value": "40Gi"}, "10Gi", "10Gi"),
        (BANDWIDTH, None, "1G"),
        (BANDWIDTH, "1G", "2G"),
        (BANDWIDTH, "4G", "4G"),
        (BANDWIDTH, "4500M", "6G"),
        (BANDWIDTH, "50G", "50G"),
        (BANDWIDTH, "51G", None),
        (ONE_OF, "30", "50"),
        (ONE_OF, "51", "100"),
        (ONE_OF, "101", None),
    ],
)
def test_share_takes_what_the_policy_makes_of_the_request(
    capacity: dict[str, Any], asked: str | None, taken: str | None
) -> None:
    assert share_amount(capacity, asked) == taken


def slice_of(driver: str, *devices: Object, counters: Object | None = None) -> Object:
    spec: Object = {
        "driver": driver,
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 2 if counters else 1},
        "nodeName": "n1",
    }
    name = "counters" if counters else "devices"
    content = {"sharedCounters": [counters]} if counters else {"devices": list(devices)}
    return {"kind": "ResourceSlice", "metadata": {"name": name}, "spec": {**spec, **content}}


def partition(name: str, memory: str) -> Object:
    uses = [{"counterSet": "c", "counters": {"memory": {"value": memory}}}]
    return {
        "name": name,
        "attributes": {"profile": {"string": "1g.10gb"}},
        "consumesCounters": uses,
    }


def test_allocation_of_several_devices_is_on_one_node() -> None:
    pools = survey([slice_of(GPU, {"name": "gpu-0"}, {"name": "gpu-1"})], (), ())
    inventory = Inventory(pools)

    two = inventory.allocate([exact_request("g", "gpu.example.com", count=2)], ["n2", "n1"])
    three = inventory.allocate([exact_request("g", "gpu.example.com", count=3)], ["n1"])

    assert two is not None
    assert (two[0], [result["device"] for result in two[1]]) == ("n1", ["gpu-0", "gpu-1"])
    assert three is None


def test_allocation_takes_nothing_until_it_is_told_to() -> None:
    inventory = Inventory(survey([slice_of(GPU, {"name": "gpu-0"})], (), ()))
    one = [exact_request("g", "gpu.example.com")]

    first = inventory.allocate(one, ["n1"])
    again = inventory.allocate(one, ["n1"])
    assert first is not None
    inventory.take(first[1])

    assert again == first
    assert inventory.allocate(one, ["n1"]) is None


def test_class_that_does_not_exist_gets_nothing() -> None:
    inventory = Inventory(survey([slice_of(GPU, {"name": "gpu-0"})], (), ()))

    assert inventory.allocate([exact_request("g", "gpu-typo")], ["n1"]) is None


def test_shared_counters_bound_what_is_given() -> None:
    counters = {"name": "c", "counters": {"memory": {"value": "40Gi"}}}
    devices = [partition(f"p{number}", "20Gi") for number in range(3)]
    slices = [slice_of(MIG, *devices), slice_of(MIG, counters=counters)]
    slices[0]["spec"]["pool"]["resourceSliceCount"] = 2
    inventory = Inventory(survey(slices, (), ()))

    two = inventory.allocate([exact_request("p", "mig-1g", count=2)], ["n1"])
    three = inventory.allocate([exact_request("p", "mig-1g", count=3)], ["n1"])

    assert two is not None
    assert three is None


def test_shares_bound_what_is_left_of_a_device() -> None:
    cpus = {
        "name": "numa-0",
        "allowMultipleAllocations": True,
        "attributes": {"type": {"string": "cpus"}},
        "capacity": {
            "cpu": {"value": "10", "requestPolicy": {"default": "1", "validRange": {"min": "1"}}}
        },
    }
    inventory = Inventory(survey([slice_of(CPU, cpus)], (), ()))
    six = [exact_request("c", "cpus", capacity={"cpu": "6"})]

    first = inventory.allocate(six, ["n1"])
    assert first is not None
    inventory.take(first[1])

    assert first[1][0]["consumedCapacity"] == {"cpu": "6"}
    assert inventory.allocate(six, ["n1"]) is None
    assert inventory.allocate([exact_request("c", "cpus", capacity={"cpu": "4"})], ["n1"])
    assert inventory.allocate([exact_request("c", "cpus", capacity={"gpu": "1"})], ["n1"]) is None


def test_taint_keeps_a_device_from_claims_that_do_not_tolerate_it() -> None:
    taint = {"key": "a/b", "value": "v", "effect": "NoSchedule"}
    inventory = Inventory(survey([slice_of(GPU, {"name": "gpu-0", "taints": [taint]})], (), ()))

    def gives(*tolerations: dict[str, str]) -> bool:
        asked = [exact_request("g", "gpu.example.com", tolerations=tolerations)]
        return inventory.allocate(asked, ["n1"]) is not None

    assert not gives()
    assert gives({"operator": "Exists"})
    assert gives({"key": "a/b", "value": "v"})
    assert not gives({"key": "a/b", "value": "w"})
    assert not gives({"key": "c/d", "operator": "Exists"})
    assert not gives({"operator": "Exists", "effect": "NoExecute"})


def test_admin_access_takes_nothing() -> None:
    inventory = Inventory(survey([slice_of(GPU, {"name": "gpu-0"})], (), ()))

    inventory.take(
        [{"driver": GPU, "pool": "n1", "device": "gpu-0", "request": "r", "adminAccess": True}]
    )

    assert inventory.gives(Key(GPU, "n1", "gpu-0"))


def test_device_that_is_not_published_is_not_given() -> None:
    inventory = Inventory(survey([slice_of(NIC, {"name": "nic-0"})], (), ()))

    assert not inventory.gives(Key(NIC, "n1", "nic-9"))
    assert not inventory.gives(Key(NIC, "n2", "nic-0"))
