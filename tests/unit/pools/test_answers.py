"""What pages say of a pool or device in a sentence."""

from typing import Any

import pytest

from pools.models import Allocation, Device, Pool
from pools.views.device_detail import device_answer
from pools.views.pool_detail import pool_answer
from pools.views.shared import ShownProblem, fits_now, generation_note, problems_of, slices_note

PLAIN = {
    "is_complete": True,
    "is_valid": True,
    "slices_seen": 1,
    "slices_expected": 1,
    "devices_seen": 4,
    "devices_total": 4,
    "devices_available": 2,
    "devices_partly_used": 0,
}
SHARED = [
    {"name": "bandwidth", "total": "100G", "consumed": "2G", "available": "98G"},
    {"name": "memory", "total": "1Gi", "consumed": None, "available": None},
]
KEEPING = {"key": "broken", "value": "", "effect": "NoExecute", "rule": None}


def pool(**fields: Any) -> Pool:
    return Pool(**{**PLAIN, **fields})


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, "2 of 4 devices are free."),
        ({"devices_total": 1, "devices_available": 0}, "0 of 1 device is free."),
        (
            {"is_complete": False, "slices_expected": 2},
            "Incomplete: 1 of 2 slices, with 4 devices seen. Its total is unknown.",
        ),
        (
            {"is_complete": False, "devices_seen": 1},
            "Incomplete: its slices disagree, with 1 device seen. Its total is unknown.",
        ),
        ({"is_valid": False}, "Invalid, with 4 devices seen. The scheduler takes nothing from it."),
        (
            {"devices_available": None},
            "4 devices. How many are free is unknown, since claims or taint rules were not read.",
        ),
        ({"devices_total": 0, "devices_available": 0}, "Its driver is up and publishes no device."),
        (
            {"devices_available": 0, "devices_partly_used": 2, "capacity": SHARED},
            "0 of 4 devices are free. Fits now: 98\u202fG bandwidth.",
        ),
    ],
)  # fmt: skip
def test_pool_answer_says_what_can_be_had(fields: dict[str, Any], answer: str) -> None:
    assert pool_answer(pool(**fields)) == answer


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({"is_complete": False}, ""),
        ({"is_valid": False}, ""),
        ({"devices_available": 0}, ""),
        ({"devices_available": 1}, "1 device"),
        ({"devices_available": None}, ""),
    ],
)
def test_fits_now_of_a_pool(fields: dict[str, Any], fits: str) -> None:
    assert fits_now(pool(**fields)) == fits


@pytest.mark.parametrize(
    ("seen", "expected", "note"),
    [
        (1, 1, ""),
        (1, 2, "1 of 2 slices"),
        (3, None, "3 slices, which disagree on how many there are"),
    ],
)
def test_slices_note_of_a_pool(seen: int, expected: int | None, note: str) -> None:
    assert slices_note(pool(slices_seen=seen, slices_expected=expected)) == note


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"generation": 3}, ""),
        ({"generation": None}, "generation unknown"),
        ({"generation": 3, "is_complete": False}, "generation 3"),
        ({"generation": 3, "problem_codes": ["older_generation_published"]}, "generation 3"),
    ],
)
def test_generation_is_said_where_it_is_not_plain(fields: dict[str, Any], note: str) -> None:
    assert generation_note(pool(**fields)) == note


def test_problems_come_worst_first_with_words_and_what_to_do() -> None:
    found = [
        {"code": "no_devices", "parameters": {}},
        {"code": "of_another_release", "parameters": {}},
        {"code": "generation_unknown", "parameters": {}},
    ]

    assert problems_of(pool(problems=found)) == (
        ShownProblem(
            "generation_unknown",
            "the generation of this pool cannot be read",
            "error",
            hint="The driver has to publish the pool anew; restart or upgrade it.",
        ),
        ShownProblem("of_another_release", "of_another_release", "warning"),
        ShownProblem(
            "no_devices",
            "the pool is complete and has no device: its driver is up and has found none",
            "info",
        ),
    )


def allocation(claim: str, **fields: Any) -> Allocation:
    return Allocation(claim_namespace="ns", claim_name=claim, **fields)


@pytest.mark.parametrize(
    ("fields", "holders", "answer"),
    [
        ({"state": "allocated"}, [allocation("a")], "Held by 1 claim."),
        (
            {"state": "allocated", "is_partly_used": True},
            [allocation("a"), allocation("a"), allocation("b"), allocation("w", has_admin_access=True)],
            "Held by 2 claims. It has room for another share.",
        ),
        ({"state": "available"}, [], "Free: a claim that asks for this device alone could get it now."),
        (
            {"state": "blocked"},
            [],
            "Free, but other devices have used up the counters that it shares with them.",
        ),
        (
            {"state": "unavailable", "taints": [KEEPING]},
            [],
            "Not allocated, and tainted with broken by its driver.",
        ),
        (
            {"state": "unavailable", "taints": [{**KEEPING, "rule": "r1"}]},
            [],
            "Not allocated, and tainted with broken by the rule r1.",
        ),
        ({"state": "unavailable"}, [], "Not allocated, and tainted."),
        (
            {"state": "unknown"},
            [],
            "Nothing is known of its use. The problems of its pool say why.",
        ),
    ],
)  # fmt: skip
def test_device_answer_says_its_state_and_why(
    fields: dict[str, Any], holders: list[Allocation], answer: str
) -> None:
    assert device_answer(Device(**fields), holders) == answer
