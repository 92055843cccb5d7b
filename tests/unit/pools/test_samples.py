from datetime import UTC, datetime
from typing import Any

from objects.services.versions import Row, RowChange, RowName
from pools.services.samples import sample_rows

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
POOL: Row = {
    "generation": 3,
    "is_complete": True,
    "devices_total": 4,
    "devices_allocated": 1,
    "devices_partly_used": 0,
    "devices_unavailable": 1,
    "devices_blocked": 0,
    "devices_available": 2,
    "severity": 0,
}


def change(before: Row | None, after: Row | None) -> RowChange:
    return RowChange(
        RowName("pools_pool", 7, ("gpu.example.com", "node-1"), 11), NOON, before, after
    )


def samples(before: Row | None, after: Row | None) -> list[Any]:
    return sample_rows([change(before, after)])


def test_pool_that_is_new_has_a_sample() -> None:
    assert samples(None, POOL) == [(7, 11, NOON, 3, True, False, 4, 1, 0, 1, 0, 2)]


def test_pool_with_another_figure_has_a_sample() -> None:
    after = {**POOL, "devices_allocated": 2, "devices_available": 1}

    assert samples(POOL, after) == [(7, 11, NOON, 3, True, False, 4, 2, 0, 1, 0, 1)]


def test_pool_with_the_same_figures_has_none() -> None:
    assert samples(POOL, {**POOL, "severity": 2}) == []


def test_pool_that_is_gone_has_a_sample_without_figures() -> None:
    nothing = (None,) * 6

    assert samples(POOL, None) == [(7, 11, NOON, 3, False, True, *nothing)]
