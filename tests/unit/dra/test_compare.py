from collections.abc import Sequence

import pytest

from dra.compare import Difference, compare_with_server
from dra.pools import assess_fleet, assess_pool
from dra.reasons import UNEXPLAINED
from dra.server import PoolStatus, StatusRequest, answer_1_36, answer_1_37
from dra.server_json import parse_pool_statuses
from dra.server_views import CapacityStatus, PartitionStatus, ShareableStatus
from dra.values import AllocationResult, Release, ResourceSlice
from dra.words import figure_words, reason_words
from tests.unit.dra import recorded
from tests.unit.dra.objects import DRIVER, KEY, allocation, device, quantity, resource_slice

HALF = {"attribute": f"{DRIVER}/profile", "type": "half"}
V36, V37 = Release(1, 36), Release(1, 37)


def differences(
    slices: Sequence[ResourceSlice],
    allocations: Sequence[AllocationResult] = (),
    *,
    release: Release = V37,
) -> list[tuple[str, object, object, str]]:
    """Ours against what the server's arithmetic gives for the same objects."""
    answer = answer_1_36 if release == V36 else answer_1_37
    status = answer(slices, allocations, request=StatusRequest(DRIVER)).pools[0]
    pool = assess_pool(KEY, slices, allocations=allocations, taint_rules=(), release=release)
    found = compare_with_server(pool, status, release=release)
    return [
        (
            figure_words(item.field, item.parameters),
            item.ours,
            item.server,
            reason_words(item.reasons),
        )
        for item in found
    ]


def test_equal_figures_have_no_difference() -> None:
    assert differences([resource_slice("s", device("a"), device("b"))], [allocation("a")]) == []


def test_1_36_counts_each_share_admin_access_and_no_taints() -> None:
    nic = device("nic", allows_multiple_allocations=True)
    slices = [
        resource_slice("s", nic, device("a"), device("b", taints=["NoSchedule"]), device("c"))
    ]
    shares = [allocation("nic", claim=f"c{n}", share=str(n)) for n in range(2)]

    found = differences(slices, [*shares, allocation("a", admin=True)], release=V36)

    counted = "the server counts results with admin access (1.36); the server counts each share of a device (1.36)"
    assert found == [
        ("allocated", 1, 3, counted),
        ("unavailable", 1, 0, "the server ignores taints (1.36)"),
        ("available", 2, 1, f"{counted}; the server ignores taints (1.36)"),
    ]


def test_1_37_subtracts_an_allocated_and_tainted_device_twice() -> None:
    slices = [resource_slice("s", device("a", taints=["NoExecute"]), device("b"), device("c"))]

    assert differences(slices, [allocation("a")]) == [
        (
            "unavailable",
            0,
            1,
            "the server counts tainted devices that are allocated as unavailable",
        ),
        ("available", 2, 1, "the server subtracts a device that is allocated and tainted twice"),
    ]


def test_server_counts_what_is_not_published() -> None:
    nic = device("nic", capacity={"bw": "10"}, allows_multiple_allocations=True)
    gone = allocation("gone", share="1", consumed={"bw": "3"})

    assert differences([resource_slice("s", nic)], [gone]) == [
        ("allocated", 0, 1, "the server counts allocations of devices that are not published"),
        ("available", 1, 0, "the server counts allocations of devices that are not published"),
        (
            "capacity bw consumed",
            "0",
            "3",
            "the server counts what allocations of unpublished devices consume",
        ),
    ]


def test_server_knows_no_blocked_devices() -> None:
    devices = [device(name, draws={"gpu": {"memory": "1"}}) for name in ("a", "b")]
    slices = [resource_slice("s", *devices, counters={"gpu": {"memory": "1"}})]

    assert differences(slices, [allocation("a")]) == [
        (
            "available",
            0,
            1,
            "blocked does not exist on the server: it does not look at counters here",
        )
    ]


def test_server_counts_a_duplicate_name_twice_and_does_not_validate() -> None:
    slices = [resource_slice("s", device("a"), device("a"))]

    reason = (
        "the scheduler does not accept this pool, which the server does not check; "
        "the server counts a device name that is published twice as two devices"
    )
    assert differences(slices) == [
        ("total", None, 2, reason),
        (
            "unavailable",
            None,
            0,
            "the scheduler does not accept this pool, which the server does not check",
        ),
        ("available", 0, 2, reason),
    ]


def test_server_counts_tainted_and_overdrawn_partitions() -> None:
    attributes = {"profile": "half"}
    sets = {"gpu-0": {"memory": "2"}, "gpu-1": {"memory": "1"}}
    tainted = [
        resource_slice(
            "s",
            device(
                "a", attributes=attributes, draws={"gpu-0": {"memory": "1"}}, taints=["NoSchedule"]
            ),
            counters=sets,
            partition_type_attribute=f"{DRIVER}/profile",
        )
    ]
    twice = [
        device(name, attributes={"profile": "full"}, draws={"gpu-1": {"memory": "1"}})
        for name in "xy"
    ]
    overdrawn = [
        resource_slice(
            "s",
            device("a", attributes=attributes, draws={"gpu-0": {"memory": "1"}}),
            *twice,
            counters=sets,
            partition_type_attribute=f"{DRIVER}/profile",
        )
    ]  # fmt: skip

    name = f"partition {DRIVER}/profile=half allocatable"
    assert differences(tainted) == [
        (name, 0, 1, "the server counts tainted devices as allocatable")
    ]
    assert differences(overdrawn, [allocation("x"), allocation("y")])[-1] == (
        name,
        0,
        1,
        "the server looks only at the counters a device needs, the scheduler at all",
    )


def test_server_counts_consumption_of_devices_that_are_held_whole_or_not_shared() -> None:
    whole = device("whole", capacity={"bw": "10"}, allows_multiple_allocations=True)
    plain = device("plain", capacity={"bw": "10"})
    results = [allocation("whole"), allocation("plain", consumed={"bw": "4"})]

    assert differences([resource_slice("s", whole, plain)], results) == [
        (
            "capacity bw consumed",
            "10",
            "4",
            (
                "the server counts nothing for a device that is held as a whole; "
                "the server counts what devices that cannot be shared consume"
            ),
        )
    ]


def compare(status: PoolStatus, *, claims_known: bool = True) -> tuple[Difference, ...]:
    nic = device("nic", capacity={"bw": "10"}, allows_multiple_allocations=True)
    allocations: tuple[AllocationResult, ...] | None = () if claims_known else None
    pool = assess_pool(
        KEY, [resource_slice("s", nic)], allocations=allocations, taint_rules=(), release=V37
    )
    return compare_with_server(pool, status, release=V37)


def test_what_no_rule_explains_is_said_to_be_unexplained() -> None:
    status = PoolStatus(
        driver=KEY.driver, pool=KEY.pool, generation=2, resource_slice_count=1, total=5, allocated=0,
        unavailable=0, available=1, node_name="node-b",
        shareable=ShareableStatus(1, 0, (CapacityStatus("bw", *(quantity("10"),) * 3),)),
    )  # fmt: skip

    assert compare(status) == (
        Difference("generation", {}, 1, 2, (UNEXPLAINED,)),
        Difference("total", {}, 1, 5, (UNEXPLAINED,)),
        Difference("node", {}, "node-a", "node-b", (UNEXPLAINED,)),
        Difference("capacity_consumed", {"capacity": "bw"}, "0", "10", (UNEXPLAINED,)),
    )


def test_figures_that_we_do_not_know_are_said_to_be_unreadable_here() -> None:
    status = PoolStatus(
        driver=KEY.driver, pool=KEY.pool, generation=1, resource_slice_count=1, total=1, allocated=0,
        unavailable=0, available=1, node_name="node-a",
        shareable=ShareableStatus(1, 0, (CapacityStatus("bw", *(quantity("0"),) * 3),)),
    )  # fmt: skip

    reasons = ("not_readable",)
    assert compare(status, claims_known=False) == (
        Difference("allocated", {}, None, 0, reasons),
        Difference("unavailable", {}, None, 0, reasons),
        Difference("available", {}, None, 1, reasons),
        Difference("capacity", {"capacity": "bw"}, None, "0", reasons),
    )


def test_capacity_that_only_the_server_has_is_unexplained() -> None:
    shareable = ShareableStatus(1, 0, (CapacityStatus("new", *(quantity("1"),) * 3),))
    status = PoolStatus(
        driver=KEY.driver, pool=KEY.pool, generation=1, resource_slice_count=1, total=1, allocated=0,
        unavailable=0, available=1, node_name="node-a", shareable=shareable,
    )  # fmt: skip

    assert compare(status) == (
        Difference("capacity", {"capacity": "new"}, None, "1", (UNEXPLAINED,)),
    )


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        (
            PartitionStatus("other/attribute", "half", 1, 1),
            Difference(
                "partition",
                {"attribute": "other/attribute", "type": "half"},
                None,
                1,
                ("server_groups_otherwise",),
            ),
        ),
        (
            PartitionStatus(f"{DRIVER}/profile", "half", 2, 1),
            Difference("partition_total", HALF, 1, 2, (UNEXPLAINED,)),
        ),
        (
            PartitionStatus(f"{DRIVER}/profile", "half", 1, 0),
            Difference("partition_allocatable", HALF, 1, 0, (UNEXPLAINED,)),
        ),
    ],
)
def test_partition_that_differs_is_named(partition: PartitionStatus, expected: Difference) -> None:
    half = device("a", attributes={"profile": "half"}, draws={"gpu": {"memory": "1"}})
    slices = [resource_slice("s", half, counters={"gpu": {"memory": "1"}})]
    pool = assess_pool(KEY, slices, allocations=(), taint_rules=(), release=V37)
    status = PoolStatus(
        driver=KEY.driver, pool=KEY.pool, generation=1, resource_slice_count=1, total=1, allocated=0,
        unavailable=0, available=1, node_name="node-a", partitions=(partition,),
    )  # fmt: skip

    assert compare_with_server(pool, status, release=V37) == (expected,)
    assert expected.is_explained is not (expected.reasons == (UNEXPLAINED,))


@pytest.mark.parametrize("release", recorded.RELEASES)
def test_every_recorded_answer_is_equal_or_explained(release: str) -> None:
    names = [name for name in recorded.pool_status_names() if name.startswith(release)]

    found = [
        item for name in names for item in compare_recording(name, recorded.RELEASES[release])
    ]

    assert len(found) > 30
    assert [item for item in found if UNEXPLAINED in item.reasons] == []


def compare_recording(name: str, release: Release) -> list[Difference]:
    recording = recorded.pool_status(name)
    objects = recorded.read_objects(recording["objects"])
    # That server ran without the gate DRADeviceTaintRules.
    rules = [] if name.endswith("gate-off") else objects.rules
    fleet = assess_fleet(objects.slices, claims=objects.claims, taint_rules=rules, release=release)
    pools = {tuple(pool.key): pool for pool in fleet.pools}
    statuses = parse_pool_statuses(recording["status"]).value or ()
    return [
        difference
        for status in statuses
        for difference in compare_with_server(
            pools[status.driver, status.pool], status, release=release
        )
    ]
