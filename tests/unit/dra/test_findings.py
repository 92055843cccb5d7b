import pytest

from dra.values import CapacityUse, NodeSelection, Problem, Release, ResourceSlice
from tests.unit.dra.objects import (
    DRIVER,
    KEY,
    allocation,
    assess,
    device,
    quantity,
    resource_slice,
    told,
)


def test_device_allocated_twice_names_both_claims() -> None:
    results = [allocation("gpu-0", claim="first"), allocation("gpu-0", claim="second")]

    pool = assess(resource_slice("s", device("gpu-0")), allocations=results)

    problem = (
        "device_allocated_twice",
        "device gpu-0 is allocated 2 times, to default/first, default/second, and cannot be shared",
        "error",
    )
    counts = pool.counts
    assert (counts.total, counts.allocated, counts.available) == (1, 1, 0)
    assert told(pool.problems) == [problem]


def test_more_consumed_than_there_is_is_told() -> None:
    nic = device("nic", capacity={"bw": "10", "vfs": "4"}, allows_multiple_allocations=True)
    share = allocation("nic", share="1", consumed={"bw": "12"})

    pool = assess(resource_slice("s", nic), allocations=[share])

    assert told(pool.problems) == [
        ("capacity_overdrawn", "device nic has 10 of bw, but 12 are consumed", "error")
    ]


def test_memory_of_zero_is_not_known() -> None:
    pool = assess(resource_slice("s", device("a", capacity={"memory": "0", "vfs": "0"})))

    assert pool.devices[0].capacity == (
        CapacityUse("memory", quantity("0"), None, None),
        CapacityUse("vfs", quantity("0"), quantity("0"), quantity("0")),
    )
    assert told(pool.devices[0].problems) == [
        ("unknown_capacity", "memory is published as 0: its size is not known", "info")
    ]
    assert pool.problems == ()


def test_capacity_of_the_pool_is_unknown_when_one_summand_is() -> None:
    nics = [
        device("a", capacity={"memory": "0", "bw": "1"}, allows_multiple_allocations=True),
        device("b", capacity={"memory": "8Gi", "bw": "1"}, allows_multiple_allocations=True),
        device("c", capacity={"bw": "1"}),
    ]

    assert assess(resource_slice("s", *nics)).capacity == (
        CapacityUse("bw", quantity("2"), quantity("0"), quantity("2")),
        CapacityUse("memory", quantity("8Gi"), None, None),
    )


def test_whole_card_and_its_parts_overlap_without_counters() -> None:
    card = device("gpu-0", attributes={"uuid": "GPU-1"})
    parts = [device(f"mig-{n}", attributes={"parentUUID": "GPU-1"}) for n in range(7)]

    pool = assess(resource_slice("s", card, *parts))

    assert told(pool.problems) == [
        (
            "overlapping_devices",
            (
                "device gpu-0 and its parts mig-0, mig-1, mig-2, mig-3, mig-4 and 2 more are the same hardware, "
                "and no shared counter says so: what is free cannot be relied on"
            ),
            "warning",
        )
    ]


def test_whole_card_and_its_parts_are_kept_apart_by_counters() -> None:
    draws = {"gpu": {"memory": "40Gi"}}
    card = device("gpu-0", attributes={"uuid": "GPU-1"}, draws=draws)
    part = device("mig", attributes={"parentUUID": "GPU-1"}, draws=draws)
    orphan = device("orphan", attributes={"parentUUID": "GPU-2"})
    counters = resource_slice("counters", counters={"gpu": {"memory": "80Gi"}}, count=2)

    assert assess(counters, resource_slice("s", card, part, orphan, count=2)).problems == ()


def test_mixed_nodes_are_named() -> None:
    pool = assess(
        resource_slice("s", device("a"), count=2, node="n1"),
        resource_slice("t", device("b"), count=2, node=None),
    )

    assert pool.node == NodeSelection("mixed", text="allNodes, n1")
    assert [problem.code for problem in pool.problems] == ["mixed_nodes"]
    assert [item.node for item in pool.devices] == [
        NodeSelection("node", "n1"),
        NodeSelection("all"),
    ]


def test_device_keeps_its_own_node() -> None:
    own = device("a", node=NodeSelection("node", "n9"))
    one = ResourceSlice(
        name="s", uid="u", driver=DRIVER, pool=KEY.pool, generation=1, resource_slice_count=1,
        node=NodeSelection("per_device"), devices=(own, device("b")),
    )  # fmt: skip

    assert [item.node for item in assess(one).devices] == [
        NodeSelection("node", "n9"),
        NodeSelection("per_device"),
    ]


def test_problems_of_slices_are_told_with_their_name() -> None:
    one = ResourceSlice(
        name="s", uid="u", driver=DRIVER, pool=KEY.pool, generation=1, resource_slice_count=1,
        node=NodeSelection("none"), devices=(device("a"),), problems=(Problem.of("unidentified_device", field="spec.devices[1]"),),
    )  # fmt: skip

    assert told(assess(one).problems) == [
        (
            "no_node_selection",
            "slice s names no node that can use it: the scheduler ignores it",
            "warning",
        ),
        ("unidentified_device", "slice s: spec.devices[1] has no name and is left out", "error"),
    ]


def test_pool_without_slices_is_empty_and_incomplete() -> None:
    pool = assess(allocations=[allocation("a")])

    assert (pool.counts.seen, pool.is_complete, pool.node) == (0, False, NodeSelection("none"))
    assert [problem.code for problem in pool.problems] == ["no_slices", "unseen_allocation"]
    assert [result.key.device for result in pool.unpublished] == ["a"]


@pytest.mark.parametrize(
    ("release", "codes"),
    [
        (Release(1, 34), []),
        (Release(1, 35), ["counters_beside_devices"]),
        (None, ["counters_beside_devices"]),
    ],
)
def test_counters_and_devices_in_one_slice_are_of_the_past(
    release: Release | None, codes: list[str]
) -> None:
    one = resource_slice("s", device("a"), counters={"gpu": {"memory": "1"}})

    assert [problem.code for problem in assess(one, release=release).problems] == codes
