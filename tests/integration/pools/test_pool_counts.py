"""What a list of pools says of all that match."""

from __future__ import annotations

from typing import Any

import pytest

from pools import queries
from pools.queries import DriverFigures, Facet, PoolCounts, PoolFilter
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.factories.snapshots import SNAPSHOT

pytestmark = pytest.mark.django_db

MIG = "mig.example.com"
PARTITIONS = [
    {"type": "1g", "seen": 7, "allocatable": 3},
    {"type": "3g", "seen": 2, "allocatable": 0},
    {"type": "7g", "seen": 1, "allocatable": None},
]
ODD = [{"type": 5, "allocatable": 1}]
FULL = {"devices_available": 0, "devices_allocated": 3}


def figures(cluster_id: int, driver: str, **more: Any) -> DriverFigures:
    """Of one pool, as the factory makes it."""
    known = {
        "total": 4,
        "allocated": 1,
        "partly_used": 0,
        "unavailable": 1,
        "blocked": 0,
        "available": 2,
    }
    counted = {"pools": 1, "pools_with_unknown_total": 0, "pools_with_problems": 0, "seen": 4}
    named: dict[str, Any] = {
        "cluster_id": cluster_id,
        "driver": driver,
    }
    return DriverFigures(**{**named, **counted, **known, "known": known, **more})


def test_pool_counts_are_by_cluster_and_driver_and_by_what_can_be_filtered_by() -> None:
    one, two = api_rows.cluster("one"), api_rows.cluster("two")
    api_rows.pool(two)
    api_rows.pool(one, "a", driver=MIG, partitions=PARTITIONS)
    api_rows.pool(
        one, "b", driver=MIG, partitions=PARTITIONS, severity=2, problem_codes=["x", "y"], **FULL
    )
    api_rows.pool(one, "c", driver=MIG, partitions=ODD, severity=1, problem_codes=["y"])
    api_rows.pool(one, "d", driver=MIG, partitions=PARTITIONS, is_complete=False)
    api_rows.pool(one, "gone", vanished_at=NOON)

    found = queries.pool_counts(SNAPSHOT, PoolFilter())

    sums = {"total": 16, "allocated": 6, "unavailable": 4, "available": 6}
    known = {**sums, "partly_used": 0, "blocked": 0}
    mig = {"pools": 4, "pools_with_problems": 1, "seen": 16, **sums, "known": known}
    assert found == PoolCounts(
        drivers=[
            figures(one.pk, MIG, **mig),
            figures(two.pk, api_rows.DRIVER),
        ],
        facets={
            "driver": [Facet(MIG, 4), Facet(api_rows.DRIVER, 1)],
            "problem": [Facet("y", 2), Facet("x", 1)],
            "fits": [Facet("device", 4), Facet("1g", 2)],
        },
    )
    assert queries.driver_figures(SNAPSHOT, PoolFilter()) == found.drivers


def test_sum_is_unknown_as_soon_as_one_pool_does_not_know_it() -> None:
    cluster = api_rows.cluster("one")
    api_rows.pool(cluster)
    api_rows.unknown_pool(cluster, devices_seen=2)

    unknown = dict.fromkeys(
        ["total", "allocated", "partly_used", "unavailable", "blocked", "available"]
    )
    counted = {"pools": 2, "pools_with_unknown_total": 1, "pools_with_problems": 1, "seen": 6}
    assert queries.driver_figures(SNAPSHOT, PoolFilter()) == [
        figures(cluster.pk, api_rows.DRIVER, **counted, **unknown)
    ]


def test_pools_that_vanished_are_counted_where_they_are_listed_and_have_no_figures() -> None:
    cluster = api_rows.cluster("one")
    api_rows.pool(cluster)
    api_rows.pool(cluster, "gone", vanished_at=NOON)

    found = queries.pool_counts(SNAPSHOT, PoolFilter(includes_vanished=True))

    assert found.facets["driver"] == [Facet(api_rows.DRIVER, 2)]
    assert found.drivers == [figures(cluster.pk, api_rows.DRIVER)]


def test_no_pool_has_no_figures_and_no_device_that_fits() -> None:
    assert queries.pool_counts(SNAPSHOT, PoolFilter()) == PoolCounts(
        drivers=[], facets={"driver": [], "problem": [], "fits": [Facet("device", 0)]}
    )


def test_pool_counts_take_the_filters_of_the_list() -> None:
    cluster = api_rows.cluster("one")
    api_rows.pool(cluster, "a%b", node_name="x")
    api_rows.pool(cluster, "other")

    asked = PoolFilter(clusters=("one",), pools=("a%b",), text="A%", fits=("device",))

    assert queries.pool_counts(SNAPSHOT, asked).facets["driver"] == [Facet(api_rows.DRIVER, 1)]
