import pytest

from dra.pools import assess_fleet
from dra.shapes import Counter, counters_shape
from dra.values import (
    AllocationResult,
    AssessedPool,
    CapacityUse,
    ClaimRef,
    DeviceCounts,
    DeviceSelector,
    DriverName,
    NodeSelection,
    Partition,
    PoolKey,
    PoolName,
    Release,
    ResourceClaim,
    ResourceSlice,
)
from dra.words import statement_words
from tests.unit.dra.objects import (
    DRIVER,
    KEY,
    NEWEST,
    allocation,
    assess,
    device,
    quantity,
    resource_slice,
    taint_rule,
    told,
)


def states(pool: AssessedPool) -> dict[str, str]:
    return {item.key.device: item.state for item in pool.devices}


def codes(pool: AssessedPool) -> list[str]:
    return [problem.code for problem in pool.problems]


def figures(pool: AssessedPool) -> tuple[int | None, ...]:
    """Total, allocated, partly used, unavailable, blocked, available."""
    counts = pool.counts
    return (
        counts.total,
        counts.allocated,
        counts.partly_used,
        counts.unavailable,
        counts.blocked,
        counts.available,
    )


HALVES = resource_slice(
    "devices",
    device("full", attributes={"profile": "full"}, draws={"gpu": {"memory": "80Gi"}}),
    device("half-0", attributes={"profile": "half"}, draws={"gpu": {"memory": "40Gi"}}),
    device("half-1", attributes={"profile": "half"}, draws={"gpu": {"memory": "40Gi"}}),
    count=2,
)
COUNTERS = resource_slice("counters", counters={"gpu": {"memory": "80Gi"}}, count=2)


def test_each_device_is_in_one_state() -> None:
    pool = assess(
        COUNTERS,
        HALVES,
        resource_slice("old", device("gone"), generation=0),
        allocations=[allocation("half-0")],
        rules=[taint_rule(selector=DeviceSelector(device="half-1"))],
    )

    assert states(pool) == {"full": "blocked", "half-0": "allocated", "half-1": "unavailable"}
    assert pool.counts == DeviceCounts(
        total=3, seen=3, allocated=1, partly_used=0, unavailable=1, blocked=1, available=0, admin_access=0
    )  # fmt: skip
    assert (pool.generation, pool.older_generations, pool.slices_seen) == (1, (0,), 2)


def test_admin_access_does_not_allocate() -> None:
    pool = assess(resource_slice("s", device("a")), allocations=[allocation("a", admin=True)])

    assert (states(pool), pool.counts.admin_access) == ({"a": "available"}, 1)
    assert [holder.claim.name for holder in pool.devices[0].holders] == ["claim"]


def test_slices_and_allocations_of_other_pools_are_ignored() -> None:
    other = PoolKey(DRIVER, PoolName("node-b"))
    slices = [resource_slice("s", device("a")), resource_slice("t", device("b"), key=other)]

    assert states(assess(*slices, allocations=[allocation("a", key=other)])) == {"a": "available"}


def test_allocated_wins_over_tainted() -> None:
    pool = assess(
        resource_slice("s", device("a", taints=["NoExecute"]), device("b", taints=["NoSchedule"])),
        allocations=[allocation("a")],
    )

    assert states(pool) == {"a": "allocated", "b": "unavailable"}


@pytest.mark.parametrize("effect", ["None", "SomeFutureEffect"])
def test_taint_that_does_nothing_leaves_the_device_available(effect: str) -> None:
    assert states(assess(resource_slice("s", device("a", taints=[effect])))) == {"a": "available"}


def test_claims_that_could_not_be_read_make_states_unknown() -> None:
    pool = assess(resource_slice("s", device("a", taints=["NoSchedule"])), allocations=None)

    assert states(pool) == {"a": "unknown"}
    assert pool.counts == DeviceCounts(
        total=1, seen=1, allocated=None, partly_used=None, unavailable=None, blocked=None, available=None,
        admin_access=None,
    )  # fmt: skip


def test_taint_rules_that_could_not_be_read_leave_what_they_cannot_change() -> None:
    shared = device(
        "c", capacity={"bw": "10"}, share={"bw": "1"}, allows_multiple_allocations=True
    )
    pool = assess(
        resource_slice("s", device("a"), device("b", taints=["NoSchedule"]), shared),
        allocations=[allocation("c", share="1", consumed={"bw": "1"})],
        rules=None,
    )

    assert states(pool) == {"a": "unknown", "b": "unavailable", "c": "allocated"}
    assert figures(pool) == (3, 1, None, None, None, None)
    assert [item.is_partly_used for item in pool.devices] == [False, False, None]


def test_incomplete_pool_offers_nothing_and_has_no_total() -> None:
    pool = assess(
        resource_slice("s", device("a"), device("b"), count=2), allocations=[allocation("b")]
    )

    assert states(pool) == {"a": "unknown", "b": "allocated"}
    assert pool.counts.seen == 2
    assert figures(pool) == (None, 1, 0, None, None, 0)
    assert (pool.is_complete, pool.slices_seen, pool.slices_expected) == (False, 1, 2)
    assert told(pool.problems) == [
        (
            "incomplete_pool",
            "1 of 2 slices of generation 1 are there: the scheduler takes no device from this pool",
            "error",
        )
    ]


def test_incomplete_pool_may_be_taken_from_by_1_34() -> None:
    one = resource_slice("s", device("a"), count=2)

    pool = assess(one, release=Release(1, 34))
    held = assess(one, release=Release(1, 34), allocations=[allocation("a")])

    assert figures(pool) == (None, 0, 0, None, None, None)
    assert figures(held) == (None, 1, 0, None, None, 0)
    assert "all the same" in statement_words(pool.problems[0])


def test_invalid_pool_offers_nothing_in_any_release() -> None:
    slices = [resource_slice("s", device("a"), device("a"), device("b"))]

    pools = [assess(*slices, release=release) for release in (Release(1, 34), NEWEST, None)]

    assert [figures(pool) for pool in pools] == [(None, 0, 0, None, None, 0)] * 3
    assert [(pool.is_complete, pool.is_valid) for pool in pools] == [(True, False)] * 3
    assert (pools[0].counts.seen, pools[0].device_entries) == (2, 3)


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        (
            [resource_slice("s", device("a"), device("a"))],
            (
                "duplicate_device_name",
                "duplicate device name a: the scheduler rejects the pool on nodes that see it, status requests do not notice",
                "error",
            ),
        ),
        (
            [
                resource_slice("s", counters={"x": {"m": "1"}}, count=2),
                resource_slice("t", counters={"x": {"m": "1"}}, count=2),
            ],
            (
                "duplicate_counter_set",
                "duplicate counter set name x: the scheduler rejects the pool on nodes that see it, status requests do not notice",
                "error",
            ),
        ),
        (
            [resource_slice("s", device("a", draws={"x": {"m": "1"}}))],
            (
                "counter_set_not_found",
                "counter set x not found: the scheduler rejects the pool on nodes that see it, status requests do not notice",
                "error",
            ),
        ),
        (
            [
                resource_slice("s", device("a", draws={"x": {"m": "1"}}), count=2),
                resource_slice("t", counters={"x": {"n": "1"}}, count=2),
            ],
            (
                "counter_not_found",
                "counter m not found in counter set x: the scheduler rejects the pool on nodes that see it, status requests do not notice",
                "error",
            ),
        ),
    ],
)
def test_invalid_pool_tells_the_reason_of_the_scheduler(
    slices: list[ResourceSlice], problem: tuple[str, str, str]
) -> None:
    pool = assess(*slices)

    assert (pool.is_valid, told(pool.problems)) == (False, [problem])


def test_missing_counters_of_an_incomplete_pool_may_yet_come() -> None:
    pool = assess(resource_slice("s", device("a", draws={"x": {"m": "1"}}), count=2))

    assert (pool.is_valid, codes(pool)) == (True, ["incomplete_pool"])


def test_same_device_on_several_nodes_is_one_device() -> None:
    slices = [
        resource_slice(f"s-{node}", device("dummy0"), node=node) for node in ("n1", "n2", "n3")
    ]

    idle = assess(*slices)
    held = assess(*slices, allocations=[allocation("dummy0")])

    assert codes(held) == [
        "mixed_nodes",
        "more_slices_than_declared",
        "same_device_on_several_nodes",
    ]
    assert (held.is_valid, held.is_complete, held.counts.seen) == (False, False, 1)
    assert held.devices[0].node == NodeSelection("mixed", text="n1, n2, n3")
    # The scheduler looks at each node alone, and there the single slice is complete.
    assert (figures(idle)[-1], figures(held)[-1]) == (None, 0)


@pytest.mark.parametrize(
    ("counts", "code", "available"),
    [
        ((1, 1), "more_slices_than_declared", 0),
        ((1, 3), "slice_counts_disagree", 0),
        ((1, 2), "slice_counts_disagree", None),
        ((None, None), "slice_count_unknown", 0),
        ((None, 3), "slice_counts_disagree", 0),
    ],
)
def test_slices_that_do_not_add_up_make_no_pool(
    counts: tuple[int | None, ...], code: str, available: int | None
) -> None:
    slices = [resource_slice(f"s{n}", device(f"d{n}"), count=c) for n, c in enumerate(counts)]

    pool = assess(*slices)

    assert (codes(pool), pool.is_complete) == ([code], False)
    assert figures(pool) == (None, 0, 0, None, None, available)


def test_slices_without_readable_generation_are_older_than_all_others() -> None:
    unreadable = resource_slice("x", device("x"), generation=None)

    alone = assess(unreadable)
    beside = assess(unreadable, resource_slice("y", device("y"), generation=0))

    assert (alone.generation, codes(alone)) == (None, ["generation_unknown"])
    assert (beside.generation, list(states(beside))) == (0, ["y"])
    assert codes(beside) == ["generation_zero"]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (
            "node-a",
            (
                "older_generation_published",
                "slices of older generations (1) are still published; they are ignored",
                "info",
            ),
        ),
        (
            "node-b",
            (
                "older_generation_in_use",
                (
                    "slices of older generations (1) are still published, and the newest has none for node-b: "
                    "there the scheduler still takes devices from them"
                ),
                "warning",
            ),
        ),
    ],
)
def test_older_generation_matters_on_a_node_that_the_newest_does_not_name(
    node: str, problem: tuple[str, str, str]
) -> None:
    pool = assess(
        resource_slice("old", device("a"), node=node),
        resource_slice("new", device("b"), generation=2),
    )

    assert (list(states(pool)), told(pool.problems)) == (["b"], [problem])


def test_older_generation_is_ignored_where_the_newest_is_for_all_nodes() -> None:
    new = resource_slice("new", device("b"), generation=2, node=None)

    pool = assess(resource_slice("old", device("a"), node="node-b"), new)

    assert [problem.severity for problem in pool.problems] == ["info"]


def test_partly_used_device_has_room_for_a_default_share() -> None:
    nic = device(
        "nic", capacity={"bw": "100"}, share={"bw": "10"}, allows_multiple_allocations=True
    )
    slices = resource_slice("s", nic)

    def partly(*consumed: str) -> bool | None:
        shares = [
            allocation("nic", claim=f"c{n}", share=str(n), consumed={"bw": amount})
            for n, amount in enumerate(consumed)
        ]
        return assess(slices, allocations=shares).devices[0].is_partly_used

    assert [partly("50"), partly("50", "40"), partly("50", "41"), partly()] == [
        True, True, False, False,
    ]  # fmt: skip


def test_device_without_policy_gives_all_to_the_first_claim_that_asks_for_nothing() -> None:
    nic = device("nic", capacity={"bw": "100"}, allows_multiple_allocations=True)
    share = allocation("nic", share="1", consumed={"bw": "10"})

    pool = assess(resource_slice("s", nic), allocations=[share])

    assert (pool.devices[0].is_partly_used, pool.capacity) == (
        False,
        (CapacityUse("bw", quantity("100"), quantity("10"), quantity("90")),),
    )


def test_device_that_is_held_as_a_whole_has_no_room() -> None:
    nic = device(
        "nic", capacity={"bw": "100"}, share={"bw": "1"}, allows_multiple_allocations=True
    )

    pool = assess(resource_slice("s", nic), allocations=[allocation("nic")])

    assert pool.devices[0].is_partly_used is False
    assert pool.capacity == (CapacityUse("bw", quantity("100"), quantity("100"), quantity("0")),)


def test_tainted_device_takes_no_further_share() -> None:
    nic = device("nic", allows_multiple_allocations=True, taints=["NoSchedule"])

    pool = assess(resource_slice("s", nic), allocations=[allocation("nic", share="1")])

    assert figures(pool) == (1, 1, 0, 0, 0, 0)


def test_share_in_an_incomplete_pool_is_not_known_to_have_room_in_1_34() -> None:
    nic = device("nic", allows_multiple_allocations=True)
    share = allocation("nic", share="1")

    pool = assess(resource_slice("s", nic, count=2), allocations=[share], release=Release(1, 34))

    assert (pool.devices[0].is_partly_used, pool.counts.partly_used) == (None, None)


def test_share_that_is_larger_than_the_device_blocks_it() -> None:
    nic = device("nic", capacity={"bw": "1"}, share={"bw": "2"}, allows_multiple_allocations=True)

    assert states(assess(resource_slice("s", nic))) == {"nic": "blocked"}


def test_counters_are_drawn_once_for_a_shared_device() -> None:
    shared = device("half-0", draws={"gpu": {"memory": "40Gi"}}, allows_multiple_allocations=True)
    other = device("half-1", draws={"gpu": {"memory": "40Gi"}})
    shares = [allocation("half-0", claim=f"c{n}", share=str(n)) for n in range(3)]

    pool = assess(COUNTERS, resource_slice("s", shared, other, count=2), allocations=shares)

    assert states(pool) == {"half-0": "allocated", "half-1": "available"}


def test_overdrawn_counter_blocks_every_device_that_draws_on_any() -> None:
    sets = {"gpu-0": {"memory": "1"}, "gpu-1": {"memory": "1"}}
    devices = [
        device("a", draws={"gpu-0": {"memory": "1"}}),
        device("b", draws={"gpu-0": {"memory": "1"}}),
        device("c", draws={"gpu-1": {"memory": "1"}}),
        device("d"),
    ]

    pool = assess(
        resource_slice("s", *devices, count=2),
        resource_slice("t", counters=sets, count=2),
        allocations=[allocation("a"), allocation("b")],
    )

    assert states(pool) == {"a": "allocated", "b": "allocated", "c": "blocked", "d": "available"}
    assert told(pool.problems) == [
        (
            "counter_overdrawn",
            "allocated devices draw 1 more of memory in counter set gpu-0 than there is",
            "error",
        )
    ]


def test_partitions_are_alternatives_against_what_is_left() -> None:
    name = f"{DRIVER}/profile"

    idle, held = (
        assess(COUNTERS, HALVES),
        assess(COUNTERS, HALVES, allocations=[allocation("half-0")]),
    )

    assert idle.partitions == (Partition(name, "full", 1, 1), Partition(name, "half", 2, 2))
    assert held.partitions == (Partition(name, "full", 1, 0), Partition(name, "half", 2, 1))


def test_available_devices_that_exclude_each_other_are_told_where_no_type_is_known() -> None:
    draws = [("a", {"m": "1"}), ("b", {"m": "1"}), ("c", {"m": "2"})]
    devices = [device(name, draws={"gpu": needs}) for name, needs in draws]

    counters = resource_slice("t", counters={"gpu": {"m": "2"}}, count=2)
    pool = assess(counters, resource_slice("s", *devices, count=2))

    assert states(pool) == {"a": "available", "b": "available", "c": "available"}
    assert told(pool.problems) == [
        (
            "available_devices_compete",
            (
                "the counters that are left do not cover all 3 available devices at once: "
                "at least 2 of them can be allocated together"
            ),
            "info",
        )
    ]


def test_partition_too_small_for_its_own_default_share_never_fits() -> None:
    half = device(
        "half",
        attributes={"profile": "half"},
        capacity={"memory": "1"},
        share={"memory": "2"},
        draws={"gpu": {"memory": "20Gi"}},
        allows_multiple_allocations=True,
    )
    counters = resource_slice("t", counters={"gpu": {"memory": "40Gi"}}, count=2)

    pool = assess(counters, resource_slice("s", half, count=2))

    assert (states(pool), pool.partitions) == (
        {"half": "blocked"},
        (Partition(f"{DRIVER}/profile", "half", 1, 0),),
    )


def test_partitions_of_a_pool_that_nobody_takes_from_are_not_counted() -> None:
    assert assess(HALVES).partitions == (
        Partition(f"{DRIVER}/profile", "full", 1, None),
        Partition(f"{DRIVER}/profile", "half", 2, None),
    )


def claim(*results: AllocationResult) -> ResourceClaim:
    return ResourceClaim(ref=ClaimRef("default", "claim", "u"), is_allocated=True, results=results)


def test_fleet_keeps_drivers_with_the_same_pool_name_apart() -> None:
    other = PoolKey(DriverName("other.example.com"), KEY.pool)
    slices = [
        resource_slice("s", device("dev-1")),
        resource_slice("t", device("dev-1"), key=other),
    ]

    fleet = assess_fleet(
        slices, claims=[claim(allocation("dev-1"))], taint_rules=[], release=NEWEST
    )

    assert [(pool.key, states(pool)) for pool in fleet.pools] == [
        (KEY, {"dev-1": "allocated"}),
        (other, {"dev-1": "available"}),
    ]


def test_fleet_lists_allocations_of_devices_that_are_not_published() -> None:
    nowhere = PoolKey(DRIVER, PoolName("gone"))
    results = [allocation("old"), allocation("x", key=nowhere)]

    fleet = assess_fleet(
        [resource_slice("s", device("a"))],
        claims=[claim(*results)],
        taint_rules=None,
        release=None,
    )

    assert [(r.key.pool, r.key.device) for r in fleet.unpublished] == [
        ("gone", "x"),
        ("node-a", "old"),
    ]
    assert [words for _, words, _ in told(fleet.problems)] == [
        "claim default/claim holds device x of gpu.example.com/gone, which is not published any more"
    ]
    assert [words for _, words, _ in told(fleet.pools[0].problems)] == [
        "claim default/claim holds device old of gpu.example.com/node-a, which is not published any more"
    ]


def test_fleet_tells_devices_that_one_claim_holds_unpublished_together() -> None:
    nowhere = PoolKey(DRIVER, PoolName("gone"))
    results = [allocation(f"cpu-{number}", key=nowhere) for number in range(7)]

    fleet = assess_fleet([], claims=[claim(*results)], taint_rules=[], release=NEWEST)

    assert told(fleet.problems) == [
        (
            "unpublished_allocation",
            (
                "claim default/claim holds 7 devices of gpu.example.com/gone that are not published any more:"
                " cpu-0, cpu-1, cpu-2, cpu-3, cpu-4 and 2 more"
            ),
            "warning",
        )
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["old"], "claim default/claim holds device old of gpu.example.com/node-a, which is in none of the slices that are there"),
        (["a1", "a2"], "claim default/claim holds 2 devices of gpu.example.com/node-a that are in none of the slices that are there: a1, a2"),
    ],
)  # fmt: skip
def test_incomplete_pool_does_not_say_that_a_device_is_not_published(
    names: list[str], message: str
) -> None:
    fleet = assess_fleet(
        [resource_slice("s", device("a"), count=2)],
        claims=[claim(*map(allocation, names))],
        taint_rules=[],
        release=NEWEST,
    )

    assert ("unseen_allocation", message, "warning") in told(fleet.pools[0].problems)


def test_complete_pool_without_devices_says_so() -> None:
    pool = assess(resource_slice("s"))

    assert (pool.counts.total, pool.counts.available) == (0, 0)
    assert codes(pool) == ["no_devices"]


@pytest.mark.parametrize(("allocations", "left"), [((), "40Gi"), (("a",), "10Gi"), (None, None)])
def test_counters_left_are_told_in_the_form_they_were_published(
    allocations: tuple[str, ...] | None, left: str | None
) -> None:
    item = resource_slice(
        "s", device("a", draws={"x": {"memory": "30Gi"}}), counters={"x": {"memory": "40Gi"}}
    )
    held = None if allocations is None else [allocation(name) for name in allocations]

    pool = assess(item, allocations=held)

    assert counters_shape(pool.counters) == [
        Counter(counter_set="x", name="memory", total="40Gi", left=left)
    ]


def test_fleet_without_readable_claims_knows_nothing_of_allocations() -> None:
    fleet = assess_fleet(
        [resource_slice("s", device("a"))], claims=None, taint_rules=(), release=NEWEST
    )

    assert (states(fleet.pools[0]), fleet.unpublished) == ({"a": "unknown"}, ())
