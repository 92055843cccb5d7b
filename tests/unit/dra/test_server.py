import itertools
from typing import Any

import pytest

from dra.server import Answer, PoolStatus, StatusRequest, answer_1_36, answer_1_37
from dra.server_json import parse_pool_statuses, parse_status_request, pool_status_json
from dra.server_views import CapacityStatus, PartitionStatus, ShareableStatus
from dra.values import DeviceSelector, PoolKey, PoolName, ResourceSlice
from tests.unit.dra import objects, recorded
from tests.unit.dra.objects import DRIVER, KEY, allocation, device, quantity, resource_slice

# The controller asks one slice, chosen at random, for the number of slices: the same objects were answered by one
# server and left pending by the other.
ORDER_DEPENDENT = "extra-slices-disagree-declared-more"


def answer(name: str, slices: list[ResourceSlice]) -> Answer:
    recording = recorded.pool_status(name)
    found = recorded.read_objects(recording["objects"])
    request = parse_status_request(recording["request"]).value
    assert request is not None
    if name.startswith("1.36"):
        return answer_1_36(slices, found.allocations, request=request)
    # That server ran without the gate DRADeviceTaintRules.
    rules = [] if name.endswith("taint-rule-gate-off") else found.rules
    return answer_1_37(slices, found.allocations, taint_rules=rules, request=request)


def written(found: Answer) -> dict[str, Any] | None:
    """The status, without times; None when the controller writes none."""
    if not found.is_written:
        return None
    pools = [pool_status_json(pool) for pool in found.pools]
    status = {"poolCount": found.pool_count, "message": found.message}
    return {**status, "pools": pools} if pools else status


def recorded_status(name: str) -> dict[str, Any] | None:
    status = recorded.pool_status(name)["status"]
    if status is None:
        return None
    kept = {key: status[key] for key in ("poolCount", "pools") if key in status}
    return {**kept, "message": status["conditions"][0]["message"]}


@pytest.mark.parametrize(
    "name", [name for name in recorded.pool_status_names() if not name.endswith(ORDER_DEPENDENT)]
)
def test_answer_is_exactly_what_the_server_wrote(name: str) -> None:
    slices = recorded.read_objects(recorded.pool_status(name)["objects"]).slices

    assert written(answer(name, slices)) == recorded_status(name)


@pytest.mark.parametrize("release", ["1.36.3", "1.37.2"])
def test_answer_that_depends_on_order_is_one_of_those_that_an_order_gives(release: str) -> None:
    name = f"{release}/{ORDER_DEPENDENT}"
    slices = recorded.read_objects(recorded.pool_status(name)["objects"]).slices

    answers = [answer(name, list(order)) for order in itertools.permutations(slices)]

    possible = [written(found) for found in answers]
    assert recorded_status(name) in possible
    assert None in possible
    assert [found.is_order_dependent for found in answers] == [True, True]


def test_recordings_of_both_releases_are_all_there() -> None:
    names = recorded.pool_status_names()

    assert (len([n for n in names if n.startswith("1.36")]), len(names)) == (157, 315)


def test_answer_with_counter_sets_of_one_name_depends_on_order() -> None:
    slices = [
        resource_slice("a", counters={"set": {"memory": "80Gi"}}, count=2),
        resource_slice("b", counters={"set": {"memory": "40Gi"}}, count=2),
    ]

    found = answer_1_37(slices, (), request=StatusRequest(DRIVER))

    assert found.is_order_dependent


def test_answer_names_the_pools_that_block_it() -> None:
    other = PoolKey(DRIVER, PoolName("node-b"))
    slices = [resource_slice("a", count=2), resource_slice("b", generation=0, key=other)]

    found = answer_1_37(slices, (), request=StatusRequest(DRIVER))

    assert (found.blocked_by, found.is_written) == ((KEY, other), False)
    assert found.message == "Calculated status for 2 pools (1 incomplete)"


def test_incomplete_pool_beyond_the_limit_does_not_block() -> None:
    other = PoolKey(DRIVER, PoolName("node-b"))
    slices = [resource_slice("a"), resource_slice("b", count=2, key=other)]

    found = answer_1_36(slices, (), request=StatusRequest(DRIVER, limit=1))

    assert (found.is_written, found.pool_count, len(found.pools)) == (True, 2, 1)


def test_cost_of_counters_that_differ_in_text_is_a_mismatch() -> None:
    slices = [
        resource_slice(
            "a",
            device("x", attributes={"profile": "half"}, draws={"set": {"memory": "1Gi"}}),
            device("y", attributes={"profile": "half"}, draws={"set": {"memory": "1073741824"}}),
            counters={"set": {"memory": "8Gi"}},
        )
    ]
    request = StatusRequest(DRIVER, default_partition_type_attribute=f"{DRIVER}/profile")

    found = answer_1_37(slices, (), request=request)

    assert found.pools[0].validation_error == (
        'PartitionCostMismatch: devices of partition type "half" in pool gpu.example.com/node-a consume different counters'
    )
    assert (found.pools[0].partitions, found.pools[0].total) == (None, 2)


def test_device_that_draws_on_an_unknown_counter_never_fits() -> None:
    slices = [
        resource_slice(
            "a",
            device(
                "x", attributes={"profile": "half"}, draws={"set": {"memory": "1Gi", "cores": "1"}}
            ),
            counters={"set": {"memory": "8Gi"}},
            partition_type_attribute=f"{DRIVER}/profile",
        )
    ]

    idle = answer_1_37(slices, (), request=StatusRequest(DRIVER))
    used = answer_1_37(slices, [allocation("x")], request=StatusRequest(DRIVER))

    expected = (PartitionStatus(f"{DRIVER}/profile", "half", total=1, allocatable=0),)
    assert [idle.pools[0].partitions, used.pools[0].partitions] == [expected, expected]


def test_taint_rule_of_another_pool_makes_nothing_unavailable() -> None:
    rule = objects.taint_rule(selector=DeviceSelector(pool="node-z"))

    found = answer_1_37(
        [resource_slice("a", device("x"))], (), taint_rules=[rule], request=StatusRequest(DRIVER)
    )

    assert (found.pools[0].unavailable, found.pools[0].available) == (0, 1)


def test_status_request_without_driver_is_unidentified() -> None:
    parsed = parse_status_request({"limit": 5})

    assert parsed.value is None
    assert [problem.code for problem in parsed.problems] == ["unidentified_object"]


def test_status_request_without_limit_has_the_default() -> None:
    assert parse_status_request({"driver": "d"}).value == StatusRequest("d", limit=100)


@pytest.mark.parametrize("raw", [None, [], "x", {"pools": None}, {"pools": {}}, {"pools": [1]}])
def test_pool_statuses_of_anything_are_read_without_raising(raw: Any) -> None:
    assert parse_pool_statuses(raw).value == ()


def test_pool_status_json_leaves_out_what_is_not_there() -> None:
    status = PoolStatus(
        driver="d",
        pool="p",
        generation=1,
        partitions=(),
        shareable=ShareableStatus(1, 0, (CapacityStatus("m", *(quantity("1Gi"),) * 3),)),
    )

    assert pool_status_json(status) == {
        "driver": "d",
        "poolName": "p",
        "generation": 1,
        "shareableSummary": {
            "fullyAvailableDevices": 1,
            "partiallyAvailableDevices": 0,
            "capacity": [{"name": "m", "total": "1Gi", "consumed": "1Gi", "available": "1Gi"}],
        },
    }


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_pool_statuses_survive_reading_and_writing(release: str) -> None:
    names = [name for name in recorded.pool_status_names() if name.startswith(release)]
    statuses = [recorded.pool_status(name)["status"] for name in names]

    parsed = [parse_pool_statuses(status) for status in statuses]

    assert [item.problems for item in parsed] == [()] * len(names)
    assert [[pool_status_json(pool) for pool in item.value or ()] for item in parsed] == [
        (status or {}).get("pools", []) for status in statuses
    ]
