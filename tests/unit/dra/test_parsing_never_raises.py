"""Whatever the JSON, parsing and all that follows gives an answer. Real objects are broken in random places as well."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from dra.device_classes import parse_device_class
from dra.nodes import parse_node
from dra.parsing import (
    Parsed,
    parse_resource_claim,
    parse_resource_slice,
    parse_taint_rule,
)
from dra.pools import Fleet, assess_fleet
from dra.server import StatusRequest, answer_1_36, answer_1_37
from dra.server_json import parse_pool_statuses, parse_status_request, pool_status_json
from dra.shapes import device_figures, pool_figures
from dra.values import Release
from tests.unit.dra import recorded

WORDS = st.sampled_from([
    "metadata", "spec", "status", "name", "uid", "driver", "pool", "devices", "basic", "attributes", "capacity", "value",
    "generation", "resourceSliceCount", "sharedCounters", "counters", "consumesCounters", "counterSet", "taints", "effect",
    "deviceSelector", "allocation", "results", "device", "nodeName", "nodeSelector", "pools", "requestPolicy", "1Gi", "int",
])  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.integers(), inner, max_size=5)
    ),
    max_leaves=25,
)
PARSERS: list[Callable[[Any], Parsed[Any]]] = [
    parse_resource_slice,
    parse_resource_claim,
    parse_taint_rule,
    parse_device_class,
    parse_node,
    parse_status_request,
    parse_pool_statuses,
]
REPLACEMENTS: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "1Gi",
    [],
    {},
    [None],
    {"x": {}},
    [[]],
]


def assess(slices: list[Any], claims: list[Any], rules: list[Any]) -> Fleet:
    fleet = assess_fleet(
        [s for obj in slices if (s := parse_resource_slice(obj).value)],
        claims=[c for obj in claims if (c := parse_resource_claim(obj).value)],
        taint_rules=[r for obj in rules if (r := parse_taint_rule(obj).value)],
        release=Release(1, 37),
    )
    json.dumps([to_builtins(pool_figures(pool)) for pool in fleet.pools])
    devices = [device for pool in fleet.pools for device in pool.devices]
    json.dumps([to_builtins(device_figures(device)) for device in devices])
    return fleet


@given(JSON)
def test_any_json_is_parsed_without_raising(obj: Any) -> None:
    found = [parse(obj) for parse in PARSERS]

    assert all(item.value is not None or item.problems for item in found)


@settings(max_examples=50)
@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=2))
def test_any_slices_and_claims_are_assessed_without_raising(
    specs: list[Any], statuses: list[Any]
) -> None:
    slices = [
        {
            "metadata": {"name": str(n)},
            "spec": {"driver": "d", "pool": {"name": "p"}, "devices": spec},
        }
        for n, spec in enumerate(specs)
    ]
    claims = [{"metadata": {"name": "c"}, "status": {"allocation": raw}} for raw in statuses]

    assert len(assess(slices, claims, []).pools) == bool(slices)


def broken(obj: Any, *, dice: random.Random) -> Any:
    """A copy with a few members replaced, doubled or taken away, mostly deep inside."""
    found = copy.deepcopy(obj)
    for _ in range(dice.randint(1, 6)):
        _break_once(found, dice=dice)
    return found


def _break_once(obj: Any, *, dice: random.Random) -> None:
    here = obj
    while True:
        places = list(here) if isinstance(here, dict) else list(range(len(here)))
        place = dice.choice(places)
        if isinstance(here[place], dict | list) and here[place] and dice.random() < 0.95:
            here = here[place]
            continue
        change = dice.choice(["replace", "replace", "delete", "double"])
        if change == "delete" and len(here) > 1:
            del here[place]
        elif change == "double" and isinstance(here, list):
            here.append(here[place])
        else:
            here[place] = copy.deepcopy(dice.choice(REPLACEMENTS))
        return


@pytest.mark.parametrize("seed", range(12))
def test_broken_real_objects_are_assessed_and_answered_without_raising(seed: int) -> None:
    dice = random.Random(seed)
    names = recorded.pool_status_names()[seed::12]
    recordings = [recorded.pool_status(name)["objects"] for name in names]
    wrecks = [[broken(o, dice=dice) for o in objects if "kind" in o] for objects in recordings]

    fleets = [assess(objects, objects, objects) for objects in wrecks]
    statuses = [status for objects in wrecks for status in answers(objects)]

    assert sum(len(fleet.pools) for fleet in fleets) > 10
    assert len(json.dumps(statuses)) > 1000


def answers(objects: list[Any]) -> list[dict[str, Any]]:
    slices = [s for obj in objects if (s := parse_resource_slice(obj).value)]
    claims = [c for obj in objects if (c := parse_resource_claim(obj).value)]
    rules = [r for obj in objects if (r := parse_taint_rule(obj).value)]
    results = [result for claim in claims for result in claim.results]
    requests = [StatusRequest(driver) for driver in {item.driver for item in slices}]
    found = [answer_1_36(slices, results, request=request) for request in requests]
    found += [
        answer_1_37(slices, results, taint_rules=rules, request=request) for request in requests
    ]
    return [pool_status_json(pool) for answer in found for pool in answer.pools]
