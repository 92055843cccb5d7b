"""The fleet the simulated cluster begins with."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dra.device_classes import parse_device_class
from dra.nodes import parse_node
from dra.parsing import (
    Parsed,
    parse_resource_claim,
    parse_resource_slice,
    parse_taint_rule,
)
from simulator import server
from simulator.cluster import Simulator
from simulator.devices import CPU, FPGA, GPU, MIG, NIC
from simulator.scheduling import Key
from tests.unit.simulator.assessment import assessed_pools, taken_inventory
from tests.unit.simulator.conftest import NOON

PARSERS: dict[str, Callable[[Any], Parsed[Any]]] = {
    "DeviceClass": parse_device_class,
    "DeviceTaintRule": parse_taint_rule,
    "Node": parse_node,
    "ResourceClaim": parse_resource_claim,
    "ResourceSlice": parse_resource_slice,
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[Simulator]:
    with server.start("fleet", seed=7, start_at=NOON) as running:
        yield running


def test_fleet_has_40_nodes_and_five_drivers(fleet: Simulator) -> None:
    drivers = {obj["spec"]["driver"] for obj in fleet.objects("ResourceSlice")}

    assert len(fleet.objects("Node")) == 40
    assert drivers == {CPU, FPGA, GPU, MIG, NIC}


@pytest.mark.parametrize("kind", PARSERS)
def test_objects_are_read_without_a_problem(kind: str, fleet: Simulator) -> None:
    problems = [problem for obj in fleet.objects(kind) for problem in PARSERS[kind](obj).problems]

    assert problems == []


def test_same_seed_makes_the_same_cluster(fleet: Simulator) -> None:
    with server.start("fleet", seed=7, start_at=NOON) as again:
        assert [again.objects(kind) for kind in PARSERS] == [
            fleet.objects(kind) for kind in PARSERS
        ]


def test_other_seed_makes_another_cluster(fleet: Simulator) -> None:
    with server.start("fleet", seed=8, start_at=NOON) as other:
        assert other.objects("ResourceClaim") != fleet.objects("ResourceClaim")


def test_fleet_shows_every_kind_of_trouble(fleet: Simulator) -> None:
    pools = assessed_pools(fleet)
    incomplete = {pool.key for pool in pools if not pool.is_complete}
    invalid = {pool.key for pool in pools if pool.is_complete and not pool.is_valid}
    states = Counter(device.state for pool in pools for device in pool.devices)

    assert incomplete == {(FPGA, "fpga-03")}
    assert invalid == {(FPGA, "fpga-04")}
    assert set(states) == {"allocated", "available", "blocked", "unavailable", "unknown"}


def test_assessment_agrees_with_the_scheduler_of_the_fleet(fleet: Simulator) -> None:
    """Two implementations of the rules, device by device."""
    inventory = taken_inventory(fleet)
    devices = [device for pool in assessed_pools(fleet) for device in pool.devices]

    given = {device.key for device in devices if inventory.gives(Key(*device.key))}

    assert given == {
        device.key for device in devices if device.state == "available" or device.is_partly_used
    }


def test_claims_are_of_every_kind(fleet: Simulator) -> None:
    claims = fleet.objects("ResourceClaim")
    states = Counter(
        (
            "deletionTimestamp" in claim["metadata"],
            "allocation" in claim["status"],
            len(claim["status"].get("reservedFor", ())),
        )
        for claim in claims
    )

    assert len(claims) == 156
    assert states.keys() == {
        (False, False, 0),
        (False, True, 1),
        (False, True, 2),
        (True, True, 0),
    }


def test_pool_with_a_slash_in_its_name_is_of_no_node(fleet: Simulator) -> None:
    (of_fabric,) = [
        obj["spec"] for obj in fleet.objects("ResourceSlice") if "/" in obj["spec"]["pool"]["name"]
    ]

    assert of_fabric["pool"]["name"] == "fabric/east"
    assert "nodeName" not in of_fabric
