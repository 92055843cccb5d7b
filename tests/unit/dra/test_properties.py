"""What must hold for every fleet: order never matters, counts add up, and a plan of partitions that we say fits does fit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from dra.counters import CounterLedger
from dra.pools import assess_pool
from dra.shapes import PoolFigures, pool_figures
from dra.values import (
    AllocationResult,
    AssessedDevice,
    AssessedPool,
    Device,
    DeviceSelector,
    Release,
    ResourceSlice,
    TaintRule,
)
from tests.series import for_each
from tests.unit.dra.objects import KEY, allocation, device, resource_slice, taint_rule

SETS = ["gpu-0", "gpu-1"]
COUNTERS = ["memory", "cores"]
EFFECTS = ["None", "NoSchedule", "NoExecute", "Odd"]
amounts = st.integers(0, 9).map(str)


@st.composite
def devices(draw: st.DrawFn, name: str) -> Device:
    draws = draw(
        st.dictionaries(
            st.sampled_from(SETS),
            st.dictionaries(st.sampled_from(COUNTERS), amounts, min_size=1),
            max_size=2,
        )
    )
    return device(
        name,
        attributes=draw(st.sampled_from([{}, {"profile": "half"}, {"profile": "full"}])),
        capacity=draw(st.dictionaries(st.sampled_from(["memory", "bw"]), amounts, max_size=2)),
        share=draw(st.dictionaries(st.sampled_from(["memory", "bw"]), amounts, max_size=1)),
        draws=draws,
        taints=draw(st.lists(st.sampled_from(EFFECTS), max_size=1)),
        allows_multiple_allocations=draw(st.booleans()),
    )


@st.composite
def pools(draw: st.DrawFn) -> list[ResourceSlice]:
    """Mostly sound pools; some lack a slice, carry a name twice or mix generations and nodes."""
    names = draw(st.lists(st.sampled_from([f"d{n}" for n in range(9)]), max_size=8, unique=True))
    found = [draw(devices(name)) for name in names]
    if found and draw(st.integers(0, 9)) == 0:
        found.append(found[0])
    cut = draw(st.integers(0, len(found)))
    sets = {name: {counter: draw(amounts) for counter in COUNTERS} for name in SETS}
    count = draw(st.sampled_from([3, 3, 3, 3, 2]))
    node = draw(st.sampled_from(["node-a", "node-a", "node-a", "node-b"]))
    slices = [
        resource_slice("counters", counters=sets, count=count),
        resource_slice("first", *found[:cut], count=count),
        resource_slice("second", *found[cut:], count=count, node=node),
    ]
    if draw(st.integers(0, 5)) == 0:
        slices.append(resource_slice("older", *found, generation=0))
    return slices


results = st.builds(
    allocation,
    st.sampled_from([f"d{n}" for n in range(10)]),
    claim=st.sampled_from(["a", "b", "c"]),
    share=st.sampled_from([None, "1", "2"]),
    consumed=st.dictionaries(st.sampled_from(["memory", "bw"]), amounts, max_size=2),
    admin=st.booleans(),
)
rules = st.builds(
    taint_rule,
    selector=st.sampled_from([None, DeviceSelector(), DeviceSelector(device="d1"), DeviceSelector(driver="x")]),
    effect=st.sampled_from(EFFECTS),
    name=st.sampled_from(["r1", "r2"]),
    has_unknown_selector_fields=st.booleans(),
)  # fmt: skip
rule_lists = st.lists(rules, max_size=2, unique_by=lambda rule: rule.name)
releases = st.sampled_from([None, Release(1, 34), Release(1, 36), Release(1, 37)])


def assess(
    slices: Sequence[ResourceSlice],
    allocations: Sequence[AllocationResult] | None,
    taint_rules: Sequence[TaintRule] | None = (),
    release: Release | None = None,
) -> AssessedPool:
    return assess_pool(
        KEY, slices, allocations=allocations, taint_rules=taint_rules, release=release
    )


@settings(max_examples=40)
@given(st.data(), pools(), st.lists(results, max_size=5), rule_lists, releases)
def test_order_never_matters(
    data: st.DataObject,
    slices: list[ResourceSlice],
    allocations: list[AllocationResult],
    taint_rules: list[TaintRule],
    release: Release | None,
) -> None:
    shuffled = [
        replace(item, devices=tuple(data.draw(st.permutations(item.devices))))
        for item in data.draw(st.permutations(slices))
    ]

    one = assess(slices, allocations, taint_rules, release)
    other = assess(
        shuffled,
        data.draw(st.permutations(allocations)),
        data.draw(st.permutations(taint_rules)),
        release,
    )

    assert other == one


@settings(max_examples=40)
@given(
    pools(),
    st.none() | st.lists(results, max_size=5),
    st.none() | rule_lists,
    releases,
)
def test_counts_add_up_and_are_never_negative(
    slices: list[ResourceSlice],
    allocations: list[AllocationResult] | None,
    taint_rules: list[TaintRule] | None,
    release: Release | None,
) -> None:
    pool = assess(slices, allocations, taint_rules, release)

    counts = pool.counts
    states = Counter(item.state for item in pool.devices)
    parts = [counts.allocated, counts.unavailable, counts.blocked, counts.available]
    known = [number for number in parts if number is not None]
    assert counts.seen == sum(states.values()) == len(pool.devices)
    assert len(known) < 4 or counts.total is None or counts.total == sum(known)
    assert all(number >= 0 for number in known)
    assert counts.total is None or (counts.unavailable is None) == (states["unknown"] > 0)
    assert all(use.available is None or use.available.nanos >= 0 for use in pool.capacity)
    assert not negative_numbers(pool_figures(pool))


def negative_numbers(shape: PoolFigures) -> list[int]:
    return [n for n in asdict(shape.devices).values() if n is not None and n < 0]


@settings(max_examples=40)
@given(pools(), st.lists(results, max_size=4))
def test_plan_of_partitions_that_we_say_fits_really_fits(
    slices: list[ResourceSlice], allocations: list[AllocationResult]
) -> None:
    pool = assess(slices, allocations, (), Release(1, 37))

    groups = {
        partition: [item for item in pool.devices if text(item.device) == partition.type]
        for partition in pool.partitions
    }
    assert [partition.total for partition in groups] == [len(group) for group in groups.values()]
    assert all(
        carry_out(slices, group, allocations, wanted=partition.allocatable or 0)
        for partition, group in groups.items()
    )


def text(item: Device) -> str | None:
    """The partition type of a device that draws on counters."""
    attribute = item.attributes.get("profile") if item.consumes_counters else None
    return attribute.value if attribute else None


def carry_out(
    slices: list[ResourceSlice],
    group: list[AssessedDevice],
    held: list[AllocationResult],
    *,
    wanted: int,
) -> bool:
    """Whether `wanted` devices of the group can be allocated one after the other, each called available in its turn."""
    free = [item.key.device for item in group if item.state == "available"]
    return any(
        all(is_available(slices, plan[:n], held, plan[n]) for n in range(wanted))
        for plan in combinations(free, wanted)
    )


def is_available(
    slices: list[ResourceSlice], before: Sequence[str], held: list[AllocationResult], name: str
) -> bool:
    taken = [allocation(other, claim=f"plan-{other}") for other in before]
    now = assess(slices, [*held, *taken], (), Release(1, 37))
    return any(item.key.device == name and item.state == "available" for item in now.devices)


@settings(max_examples=20)
@given(pools())
def test_ledger_that_is_drawn_empty_comes_back_in_its_copy(slices: list[ResourceSlice]) -> None:
    ledger = CounterLedger(cs for item in slices for cs in item.counter_sets)
    twin = ledger.copy()
    fitting = [d for item in slices for d in item.devices if ledger.fits(d)]

    for_each(fitting, lambda item: twin.draw(item))

    assert [d for item in slices for d in item.devices if ledger.fits(d)] == fitting
