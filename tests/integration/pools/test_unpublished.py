"""Allocations of devices that no pool publishes: pools are asked first, and what is found is what a look for each device finds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from django.db.models import Exists, OuterRef

from pools import queries
from pools.models import Allocation, Pool, PublishedDevice
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.factories.churn import Churn
from tests.factories.snapshots import SNAPSHOT
from tests.series import for_each
from ui.snapshot import Snapshot, open_snapshot

if TYPE_CHECKING:
    from clusters.models import Cluster

pytestmark = pytest.mark.django_db

STEPS = 80
Names = list[tuple[str, str, str]]


def told(snapshot: Snapshot, cluster: Cluster, *, limit: int = 1000) -> Names:
    rows = queries.unpublished_allocations(snapshot, [cluster.pk], limit=limit)
    return [(row.pool_name, row.device, row.claim_name) for row in rows]


def looked_for(cluster: Cluster) -> Names:
    published = PublishedDevice.objects.filter(
        vanished_at=None,
        cluster_id=OuterRef("cluster_id"),
        driver=OuterRef("driver"),
        pool_name=OuterRef("pool_name"),
        name=OuterRef("device"),
    )
    rows = Allocation.objects.filter(~Exists(published), cluster_id=cluster.pk)
    names = rows.order_by("driver", "pool_name", "device", "id")
    return list(names.values_list("pool_name", "device", "claim_name"))


def both(cluster: Cluster, *, now: datetime, at: datetime) -> tuple[Names, Names]:
    with open_snapshot(SNAPSHOT.viewer, now=now, at=at) as snapshot:
        return told(snapshot, cluster), looked_for(cluster)


@pytest.mark.parametrize("seed", [1, 2])
def test_unpublished_allocations_are_those_whose_device_is_nowhere(seed: int) -> None:
    churn = Churn(seed)
    churn.steps(STEPS)
    moments = [churn.now - (churn.now - NOON) * share / STEPS for share in range(STEPS)]

    pairs = [
        both(churn.cluster, now=churn.now + timedelta(hours=1), at=moment) for moment in moments
    ]

    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]
    # There were such, and there were moments without.
    assert {bool(ours) for ours, _ in pairs} == {True, False}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"devices_allocated": None}, [("node-1", "gpu-9", "worker-1")]),
        (
            {"problem_codes": ["device_tainted", "figures_not_stored"]},
            [("node-1", "gpu-9", "worker-1")],
        ),
        ({"problem_codes": ["unpublished_allocation"]}, [("node-1", "gpu-9", "worker-1")]),
        ({"problem_codes": ["unseen_allocation"]}, [("node-1", "gpu-9", "worker-1")]),
        ({"vanished_at": NOON}, [("node-1", "gpu-9", "worker-1")]),
        ({"name": "node-2"}, [("node-1", "gpu-9", "worker-1")]),
    ],
    ids=[
        "said to be all there",
        "unknown",
        "older figures",
        "told",
        "told of an incomplete pool",
        "gone",
        "never there",
    ],
)
def test_pool_that_does_not_say_that_all_is_published_is_looked_into(
    changed: dict[str, object], expected: Names
) -> None:
    cluster = api_rows.cluster()
    pool = api_rows.pool(cluster)
    api_rows.allocation(api_rows.device(pool), "worker-0")
    lost = api_rows.allocation(api_rows.device(pool, "gpu-1"), "worker-1")
    Allocation.objects.filter(id=lost.id).update(device="gpu-9")
    Pool.objects.filter(id=pool.id).update(**changed)

    assert told(SNAPSHOT, cluster) == expected


def test_no_more_are_read_than_asked_for() -> None:
    cluster = api_rows.cluster()
    pool = api_rows.unknown_pool(cluster)
    for_each(
        range(3),
        lambda number: api_rows.allocation(api_rows.device(pool, f"gpu-{number}"), "worker-0"),
    )
    PublishedDevice.objects.update(vanished_at=NOON)

    assert [device for _, device, _ in told(SNAPSHOT, cluster, limit=2)] == ["gpu-0", "gpu-1"]
