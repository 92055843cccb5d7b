"""Reference workloads: their counts and sizes, and that nothing is given out twice."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from simulator import encoding, workloads
from simulator.objects import Object
from simulator.scheduling import Inventory, Key, results_of, survey


@dataclass
class Tally:
    objects: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    pools: set[tuple[str, str]] = field(default_factory=set)
    devices: int = 0
    held: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    published: set[tuple[str, str, str]] = field(default_factory=set)


def tally(name: str) -> Tally:
    found = Tally()
    for obj in workloads.make(name):
        kind = obj["kind"]
        found.objects[kind] += 1
        found.bytes[kind] += len(encoding.encode_body(obj))
        if kind == "ResourceSlice":
            driver, pool = obj["spec"]["driver"], obj["spec"]["pool"]["name"]
            names = [device["name"] for device in obj["spec"].get("devices") or ()]
            found.pools.add((driver, pool))
            found.devices += len(names)
            found.published |= {(driver, pool, device) for device in names}
        for result in results_of(obj):
            found.held[result["driver"], result["pool"], result["device"]] += 1
    return found


@pytest.fixture(scope="module")
def large() -> Tally:
    return tally("L")


def test_small_workload_has_its_counts() -> None:
    small = tally("S")

    assert small.objects == {"Node": 100, "ResourceSlice": 200, "ResourceClaim": 720}
    assert (len(small.pools), small.devices) == (200, 1000)
    assert set(small.held.values()) == {1}


def test_large_workload_has_its_counts(large: Tally) -> None:
    assert large.objects == {"Node": 5000, "ResourceSlice": 13_500, "ResourceClaim": 20_000}
    assert (len(large.pools), large.devices) == (9500, 150_000)


def test_large_workload_has_its_size(large: Tally) -> None:
    # Published: 159.2 MB and 45.8 MB, with resourceVersions and creation times.
    assert large.bytes["ResourceSlice"] == pytest.approx(159.2e6, rel=0.02)
    assert large.bytes["ResourceClaim"] == pytest.approx(45.8e6, rel=0.06)


def test_large_workload_holds_each_device_once_and_only_what_is_there(large: Tally) -> None:
    assert set(large.held.values()) == {1}
    assert large.held.keys() <= large.published


def test_claims_on_partitions_fit_the_counters_of_their_node() -> None:
    def of_a_node(objects: Iterator[Object], node: str) -> list[Object]:
        return [
            obj
            for obj in objects
            if (obj["kind"] == "ResourceSlice" and obj["spec"]["pool"]["name"] == node)
            or any(result["pool"] == node for result in results_of(obj))
        ]

    objects = of_a_node(workloads.make("L"), "node-01500")
    pools = survey([obj for obj in objects if obj["kind"] == "ResourceSlice"], (), ())
    inventory = Inventory(pools)
    results = [result for obj in objects for result in results_of(obj)]

    assert len(results) == 10
    assert [takes(inventory, result) for result in results] == [True] * 10


def takes(inventory: Inventory, result: Object) -> bool:
    """Whether what is left covers it; it is then taken."""
    gives = inventory.gives(Key(result["driver"], result["pool"], result["device"]))
    inventory.take([result])
    return gives


def test_same_name_makes_the_same_objects() -> None:
    assert list(workloads.make("S")) == list(workloads.make("S"))


def test_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="S, L or X"):
        workloads.make("XXL")
