from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from django.db import connection

from clusters.choices import ReadState
from clusters.models import Cluster, Gap
from ingest import keeping, leases, services
from objects.models import Checkpoint, KubeObject, ObjectEvent
from objects.services.partitions import LOG, ensure_partitions, pack_partitions
from objects.services.versions import closed_versions
from pools.choices import Outcome
from pools.models import PoolHour, PoolSample, PoolStatusRequest
from pools.services.rollups import HOURS, SAMPLES
from tests.factories import kube
from tests.factories.clusters import revisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ingest.services import SyncResult
    from simulator.cluster import Simulator


@dataclass(frozen=True)
class Kept:
    retention_days: int
    rollup_retention_days: int


def clock() -> datetime:
    return datetime.now(UTC)


def partitions(table: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass",
            [table],
        )
        return {name for (name,) in cursor.fetchall()}


@pytest.fixture
def read_at(simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]) -> datetime:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_claim("c", holds=["gpu-0"])])
    sync()
    return clock()


@pytest.fixture
def other_cluster(cluster: Cluster, read_at: datetime) -> Cluster:
    """A cluster with one slice, kept after `cluster`."""
    other = Cluster.objects.create(name="other", source=cluster.source, created_at=read_at)
    KubeObject.objects.create(
        cluster=other,
        kind="ResourceSlice",
        uid=UUID(int=1),
        name="slice-b",
        digest=UUID(int=2),
        first_seen_at=read_at,
        changed_at=read_at,
    )
    return other


@pytest.fixture
def refused_checkpoints(cluster: Cluster) -> Iterator[None]:
    """Postgres takes no checkpoint of `cluster`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE objects_checkpoint ADD CONSTRAINT refused CHECK (cluster_id <> %s)",
            [cluster.pk],
        )
        yield
        cursor.execute("ALTER TABLE objects_checkpoint DROP CONSTRAINT refused")


@pytest.fixture
def slow_checkpoints(cluster: Cluster) -> Iterator[None]:
    """A checkpoint takes longer than a page may."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE objects_checkpoint ADD CONSTRAINT slow CHECK (pg_sleep(0.3)::text IS NOT NULL)"
        )
        cursor.execute("SET statement_timeout = 200")
        yield
        cursor.execute("RESET statement_timeout")
        cursor.execute("ALTER TABLE objects_checkpoint DROP CONSTRAINT slow")


@pytest.fixture
def kept_requests(cluster: Cluster) -> Iterator[None]:
    """Postgres removes no pool status request."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN RAISE ''kept''; END'"
        )
        cursor.execute(
            "CREATE TRIGGER kept BEFORE DELETE ON pools_poolstatusrequest"
            " FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.refuse()"
        )
        yield
        cursor.execute("DROP TRIGGER kept ON pools_poolstatusrequest")


@pytest.mark.usefixtures("slow_checkpoints")
def test_keep_storage_takes_longer_than_a_page_may(cluster: Cluster, read_at: datetime) -> None:
    keeping.keep_storage(Kept(30, 400), now=read_at)

    kinds = Checkpoint.objects.filter(cluster=cluster).values_list("kind", flat=True)
    assert sorted(kinds) == ["ResourceClaim", "ResourceSlice"]


@pytest.mark.usefixtures("kept_requests")
def test_keep_storage_goes_on_with_the_other_steps_when_one_fails(
    cluster: Cluster, read_at: datetime
) -> None:
    ended_at = read_at - timedelta(days=500)
    Gap.objects.create(
        cluster=cluster, kind="Node", started_at=ended_at, ended_at=ended_at, reason="relist"
    )
    PoolStatusRequest.objects.create(
        cluster=cluster, name="old", driver="d", created_at=ended_at, is_removed=True
    )

    keeping.keep_storage(Kept(30, 400), now=read_at)

    assert PoolStatusRequest.objects.filter(name="old").exists()
    assert not Gap.objects.filter(ended_at=ended_at).exists()


@pytest.mark.usefixtures("every_write_raises_its_revision")
def test_keep_storage_writes_checkpoints_and_hours(cluster: Cluster, read_at: datetime) -> None:
    later = read_at + timedelta(hours=2)
    cluster.kinds.update(last_synced_at=later)
    ensure_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=later)

    keeping.keep_storage(Kept(30, 400), now=later)

    kinds = Checkpoint.objects.filter(cluster=cluster).values_list("kind", flat=True)
    assert sorted(kinds) == ["ResourceClaim", "ResourceSlice"]
    assert PoolHour.objects.filter(cluster=cluster).count() >= 1


def test_keep_storage_drops_what_is_too_old_and_still_knows_what_is_live(
    cluster: Cluster, read_at: datetime
) -> None:
    PoolStatusRequest.objects.create(
        cluster=cluster,
        name="old",
        driver="d",
        outcome=Outcome.ANSWERED,
        created_at=read_at,
        is_removed=True,
    )
    later = read_at + timedelta(days=40)
    ensure_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=later)

    keeping.keep_storage(Kept(30, 400), now=later)

    assert f"objects_objectevent_p{read_at:%Y%m%d}" not in partitions("objects_objectevent")
    assert not ObjectEvent.objects.filter(cluster=cluster).exists()
    assert Checkpoint.objects.filter(cluster=cluster).count() == 2
    assert PoolSample.objects.get(cluster=cluster).available == 1
    assert not PoolStatusRequest.objects.exists()
    assert revisions(cluster)["ResourcePoolStatusRequest"] == 1


def test_keep_storage_packs_days_that_are_over(cluster: Cluster, read_at: datetime) -> None:
    later = read_at + timedelta(days=2)
    events = ObjectEvent.objects.filter(cluster=cluster).count()
    ensure_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=later)

    keeping.keep_storage(Kept(30, 400), now=later)

    assert pack_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=later) == []
    assert ObjectEvent.objects.filter(cluster=cluster).count() == events > 0


def test_keep_storage_goes_on_with_the_other_clusters_when_one_fails(
    cluster: Cluster, other_cluster: Cluster, refused_checkpoints: None, read_at: datetime
) -> None:
    keeping.keep_storage(Kept(30, 400), now=read_at)

    written = Checkpoint.objects.filter(cluster__in=[cluster, other_cluster])
    assert list(written.values_list("cluster_id", "kind")) == [(other_cluster.pk, "ResourceSlice")]


def test_keep_storage_is_repeated_without_effect(cluster: Cluster, read_at: datetime) -> None:
    keeping.keep_storage(Kept(30, 400), now=read_at)
    count = Checkpoint.objects.filter(cluster=cluster).count()

    keeping.keep_storage(Kept(30, 400), now=read_at + timedelta(minutes=10))

    assert Checkpoint.objects.filter(cluster=cluster).count() == count


def test_clusters_to_sync_leaves_out_what_somebody_reads(cluster: Cluster) -> None:
    idle = services.clusters_to_sync(now=clock())

    with leases.holder().held(f"sync {cluster.pk}") as is_ours:
        busy = services.clusters_to_sync(now=clock())

    assert (idle, is_ours, busy) == ([cluster.pk], True, [])
    assert services.clusters_to_sync(now=clock()) == [cluster.pk]


def test_clusters_to_sync_leaves_out_what_waits_after_a_failure(cluster: Cluster) -> None:
    now = clock()
    cluster.kinds.update(state=ReadState.FAILING, retry_at=now + timedelta(seconds=30))
    cluster.kinds.filter(kind="Node").update(state=ReadState.NOT_SERVED, retry_at=None)

    while_waiting = services.clusters_to_sync(now=now)
    later = services.clusters_to_sync(now=now + timedelta(seconds=31))

    assert (while_waiting, later) == ([], [cluster.pk])
