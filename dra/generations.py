"""Which slices make up a pool now, whether they are all there, and whether the scheduler accepts them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dra.catalogue import NAMED_AT_MOST, first_names
from dra.values import NodeSelection, PoolKey, Problem, Release, ResourceSlice

# Measured: 1.34 takes single devices from incomplete pools, 1.36 and 1.37 do not; 1.35 was not tried.
_SKIPS_INCOMPLETE_SINCE: Final = Release(1, 36)

Taking = Literal["all", "nothing", "perhaps"]


@dataclass(frozen=True, slots=True)
class PoolSlices:
    """The newest generation of one pool."""

    key: PoolKey
    generation: int | None
    slices: tuple[ResourceSlice, ...]
    """In order of their names, as the scheduler takes them."""
    expected: int | None
    is_complete: bool
    is_valid: bool
    taking: Taking
    """Whether the scheduler allocates from the pool: from all of it, not at all, or depending on release or node."""
    older_generations: tuple[int, ...]
    problems: tuple[Problem, ...]


def newest_slices(
    key: PoolKey, slices: Iterable[ResourceSlice], *, release: Release | None
) -> PoolSlices:
    """Choose the newest generation and judge it. A slice whose generation cannot be read is older than all others."""
    own = [item for item in slices if item.pool_key == key]
    generations = {item.generation for item in own if item.generation is not None}
    newest = max(generations, default=None)
    kept = sorted(
        (item for item in own if item.generation == newest), key=lambda item: (item.name, item.uid)
    )
    older = tuple(sorted(generations - {newest}))
    declared = {item.resource_slice_count for item in kept}
    expected = next(iter(declared)) if len(declared) == 1 else None
    is_complete = expected == len(kept) and bool(kept)
    reasons = _invalid_reasons(kept, is_complete=is_complete)
    taking = _taking(kept, is_complete=is_complete, is_valid=not reasons, release=release)
    if kept:
        problems = [*reasons, *_count_problems(kept, generation=newest, taking=taking)]
        problems += _generation_problems(key, newest)
        if older:
            problems.append(_older_generations(own, newest=newest, older=older))
    else:
        problems = [Problem("no_slices")]
    return PoolSlices(
        key=key,
        generation=newest,
        slices=tuple(kept),
        expected=expected,
        is_complete=is_complete,
        is_valid=not reasons,
        taking=taking,
        older_generations=older,
        problems=tuple(problems),
    )


def node_of(slices: Sequence[ResourceSlice]) -> NodeSelection:
    """Where the pool can be used: one answer when all slices agree, else all of them."""
    different = {item.node for item in slices}
    if len(different) == 1:
        return next(iter(different))
    return mixed(different) if different else NodeSelection("none")


def mixed(different: Iterable[NodeSelection]) -> NodeSelection:
    """What several slices or places of one device say."""
    return NodeSelection("mixed", text=", ".join(sorted({node_term(each) for each in different})))


def node_term(node: NodeSelection) -> str:
    """What a slice says of nodes: a name, a selector, or the field that is set, none of which is a name that a node can have."""
    if node.kind == "node":
        return node.node_name or ""
    fields = {"all": "allNodes", "per_device": "perDeviceNodeSelection", "none": "-"}
    return fields.get(node.kind, node.text)


def _invalid_reasons(slices: Sequence[ResourceSlice], *, is_complete: bool) -> list[Problem]:
    """Why the scheduler rejects the pool as a whole. Missing counters of an incomplete pool may yet come."""
    sets = Counter(counter_set.name for item in slices for counter_set in item.counter_sets)
    reasons = _duplicate_devices(slices)
    reasons += [
        Problem.of("duplicate_counter_set", counter_set=name)
        for name in sorted(name for name, times in sets.items() if times > 1)
    ]
    return reasons + (_missing_counters(slices) if is_complete else [])


def _duplicate_devices(slices: Sequence[ResourceSlice]) -> list[Problem]:
    places: dict[str, list[ResourceSlice]] = {}
    for item in slices:
        for device in item.devices:
            places.setdefault(device.name, []).append(item)
    reasons = []
    for name, slices_with_it in sorted(places.items()):
        if len(slices_with_it) == 1:
            continue
        nodes = {item.node.node_name for item in slices_with_it if item.node.kind == "node"}
        if len(nodes) == len(slices_with_it):
            where, count = first_names(str(node) for node in nodes)
            reasons.append(
                Problem.of(
                    "same_device_on_several_nodes", device=name, nodes=where, node_count=count
                )
            )
        else:
            reasons.append(Problem.of("duplicate_device_name", device=name))
    return reasons


def _missing_counters(slices: Sequence[ResourceSlice]) -> list[Problem]:
    known = {cs.name: cs.counters for item in slices for cs in item.counter_sets}
    missing = set()
    for item in slices:
        for device in item.devices:
            for use in device.consumes_counters:
                counters = known.get(use.counter_set)
                if counters is None:
                    missing.add(Problem.of("counter_set_not_found", counter_set=use.counter_set))
                    continue
                missing |= {
                    Problem.of("counter_not_found", counter=name, counter_set=use.counter_set)
                    for name in use.counters.keys() - counters.keys()
                }
    return sorted(missing)


def _taking(
    slices: Sequence[ResourceSlice],
    *,
    is_complete: bool,
    is_valid: bool,
    release: Release | None,
) -> Taking:
    if is_complete and is_valid:
        return "all"
    if is_valid and release is not None and release < _SKIPS_INCOMPLETE_SINCE:
        return "perhaps"
    nodes = {item.node.node_name for item in slices if item.node.kind == "node"}
    views = [
        [item for item in slices if item.node.kind != "node" or item.node.node_name == node]
        for node in nodes or {None}
    ]
    takes = any(_node_accepts(view, pool_size=len(slices)) for view in views)
    return "perhaps" if takes else "nothing"


def _node_accepts(view: Sequence[ResourceSlice], *, pool_size: int) -> bool:
    """Whether the slices that one node sees would pass for a complete and valid pool.

    The scheduler compares with the count of any one slice, first those of the node alone, then all of the pool.
    """
    declared = {item.resource_slice_count for item in view}
    if not declared & {len(view), pool_size}:
        return False
    names = [device.name for item in view for device in item.devices]
    sets = [counter_set.name for item in view for counter_set in item.counter_sets]
    has_duplicates = len(set(names)) < len(names) or len(set(sets)) < len(sets)
    return not has_duplicates and not _missing_counters(view)


def _count_problems(
    slices: Sequence[ResourceSlice], *, generation: int | None, taking: Taking
) -> list[Problem]:
    declared = {item.resource_slice_count for item in slices}
    seen = len(slices)
    if declared == {seen}:
        return []
    (expected, *others) = declared
    if others:
        counts = tuple(sorted(declared, key=lambda count: (count is None, count))[:NAMED_AT_MOST])
        return [Problem.of("slice_counts_disagree", declared=counts, seen=seen, taking=taking)]
    if expected is None:
        return [Problem.of("slice_count_unknown", taking=taking)]
    if seen > expected:
        return [
            Problem.of("more_slices_than_declared", seen=seen, expected=expected, taking=taking)
        ]
    problem = Problem.of(
        "incomplete_pool", seen=seen, expected=expected, generation=generation, taking=taking
    )
    return [problem]


def _generation_problems(key: PoolKey, generation: int | None) -> list[Problem]:
    if generation is None:
        return [Problem("generation_unknown")]
    if generation == 0:
        return [Problem.of("generation_zero", driver=key.driver)]
    return []


def _older_generations(
    slices: Sequence[ResourceSlice], *, newest: int | None, older: tuple[int, ...]
) -> Problem:
    """Older slices are ignored, except on a node of which the newest generation says nothing (seen in 1.37)."""
    listed = older[-NAMED_AT_MOST:]
    nodes: dict[bool, set[str]] = {True: set(), False: set()}
    for item in slices:
        nodes[item.generation == newest].add(item.node.node_name or "")
    left = sorted(nodes[False] - nodes[True]) if "" not in nodes[True] else []
    if not left:
        return Problem.of("older_generation_published", generations=listed)
    names, count = first_names(left)
    return Problem.of("older_generation_in_use", generations=listed, nodes=names, node_count=count)
