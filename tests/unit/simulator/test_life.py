"""What happens in the simulated fleet, hour by hour, without waiting for it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

import pytest

from dra.values import AssessedPool
from simulator import server
from simulator.cluster import Simulator
from simulator.devices import FPGA, MIG
from tests.series import for_each
from tests.unit.simulator.assessment import assessed_pools
from tests.unit.simulator.conftest import NOON

CLAIM_LIFE = ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]


@dataclass(frozen=True)
class Hour:
    """An hour, and what was held too often or too much whenever somebody looked."""

    simulator: Simulator
    overdrawn: list[object]


@pytest.fixture(scope="module")
def hour() -> Iterator[Hour]:
    with server.start("fleet", life=True, seed=7, start_at=NOON) as running:
        overdrawn: list[object] = []
        for _ in range(12):
            running.step(300)
            overdrawn += overdrawn_in(assessed_pools(running))
        yield Hour(running, overdrawn)


@pytest.fixture(scope="module")
def after_an_hour(hour: Hour) -> Simulator:
    return hour.simulator


def overdrawn_in(pools: tuple[AssessedPool, ...]) -> list[object]:
    devices = [device for pool in pools for device in pool.devices]
    capacity = [
        (device.key, use)
        for device in devices
        for use in device.capacity
        if use.consumed is not None and use.consumed > use.total
    ]
    shared = [
        device.key
        for device in devices
        if not device.device.allows_multiple_allocations
        and sum(not holder.has_admin_access for holder in device.holders) > 1
    ]
    return [*capacity, *shared, *(pool.key for pool in pools if is_over_counters(pool))]


def is_over_counters(pool: AssessedPool) -> bool:
    """Whether held partitions draw more of a GPU's memory than it has."""
    held: Counter[str] = Counter()
    for device in pool.devices:
        if device.key.driver == MIG and device.state == "allocated":
            use = device.device.consumes_counters[0]
            held[use.counter_set] += use.counters["memory"].nanos
    return max(held.values(), default=0) > 80 * 2**30 * 10**9


def events_of(simulator: Simulator, kind: str) -> list[Any]:
    return simulator.store.events_after(kind, 0)


def test_same_seed_lives_the_same_life_however_it_is_stepped() -> None:
    with (
        server.start("fleet", life=True, seed=3, start_at=NOON) as one,
        server.start("fleet", life=True, seed=3, start_at=NOON) as other,
    ):
        one.step(600)
        for_each(range(60), lambda _: other.step(10))

        assert len(one.log) > 600
        assert one.log == other.log
        assert one.objects("ResourceClaim") == other.objects("ResourceClaim")


def test_only_a_fleet_with_a_plan_has_a_life() -> None:
    with pytest.raises(ValueError, match="has a life"):
        server.start(life=True)


def test_claims_come_and_go_in_the_steps_of_a_claim(after_an_hour: Simulator) -> None:
    changes = [each for each in after_an_hour.log if each.kind == "ResourceClaim"]
    by_claim = groupby(sorted(changes, key=attrgetter("name")), key=attrgetter("name"))
    lives: Counter[tuple[str, ...]] = Counter(
        tuple(change.type for change in life) for _name, life in by_claim
    )

    assert lives[tuple(CLAIM_LIFE)] > 100


def test_claims_never_hold_more_than_there_is(hour: Hour) -> None:
    assert hour.overdrawn == []


def test_node_that_reboots_loses_its_slices_after_30_seconds_and_gets_new_ones(
    after_an_hour: Simulator,
) -> None:
    slices = events_of(after_an_hour, "ResourceSlice")
    nodes = [event for event in events_of(after_an_hour, "Node") if event.type == "MODIFIED"]
    name = nodes[0].stored.name

    deleted = [
        e for e in slices if e.type == "DELETED" and e.stored.fields["spec.nodeName"] == name
    ]
    made = [
        event
        for event in slices
        if event.type == "ADDED"
        and event.stored.fields["spec.nodeName"] == name
        and event.resource_version > deleted[0].resource_version
    ]
    states = [event.stored.decoded()["status"]["conditions"][0]["status"] for event in nodes[:2]]

    assert deleted[-1].resource_version < nodes[0].resource_version < made[0].resource_version
    assert states == ["Unknown", "True"]
    assert len(made) == len(deleted)
    assert {event.stored.name for event in made}.isdisjoint(e.stored.name for e in deleted)


def test_roll_out_raises_the_generation_slice_by_slice(after_an_hour: Simulator) -> None:
    raised = Counter(
        event.stored.fields["spec.driver"]
        for event in events_of(after_an_hour, "ResourceSlice")
        if event.type == "MODIFIED" and _generation(event.stored) == _generation(event.before) + 1
    )

    assert max(raised.values()) >= 10


def _generation(stored: Any) -> int:
    return int(stored.decoded()["spec"]["pool"]["generation"])


def test_devices_are_tainted_and_recover(after_an_hour: Simulator) -> None:
    tainted = [
        (event.type, b"/unhealthy" in event.stored.body, b"/unhealthy" in event.before.body)
        for event in events_of(after_an_hour, "ResourceSlice")
        if event.type == "MODIFIED"
    ]

    seen = Counter((now, before) for _, now, before in tainted)

    assert seen[True, False] >= 5
    assert seen[False, True] >= 5


def test_pool_that_was_incomplete_at_first_completes() -> None:
    with server.start("fleet", life=True, seed=7, start_at=NOON) as simulator:
        before = [pool.key for pool in assessed_pools(simulator) if not pool.is_complete]
        simulator.step(100)
        after = [pool.key for pool in assessed_pools(simulator) if not pool.is_complete]

    assert (before, after) == ([(FPGA, "fpga-03")], [])


def test_taint_rule_of_maintenance_comes_and_goes(after_an_hour: Simulator) -> None:
    rules = Counter(
        event.type
        for event in events_of(after_an_hour, "DeviceTaintRule")
        if event.stored.name.endswith("-planned")
    )

    assert rules["ADDED"] >= 2
    assert rules["DELETED"] >= 1


def test_time_passes_by_itself_at_the_speed_that_is_asked_for() -> None:
    with server.start("fleet", life=True, speed=100.0, start_at=NOON) as simulator:
        begun = len(simulator.log)
        with simulator.store.changed:
            assert simulator.store.changed.wait_for(lambda: len(simulator.log) > begun, timeout=10)
