"""Why nobody read a cluster for a while."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster, Gap
from clusters.services import WatchedCluster
from ingest import keeping, leases, services
from kube.targets import Target
from pools import queries
from pools.models import Pool
from simulator import server
from tests.factories import kube
from tests.factories.snapshots import SNAPSHOT
from tests.integration.ingest.conftest import another_connection, clock, is_waited_for
from tests.integration.ingest.test_keeping import Kept
from tests.integration.ingest.test_sync import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from ingest.services import SyncResult
    from simulator.cluster import Simulator

    Sync = Callable[[], SyncResult]

pytestmark = pytest.mark.usefixtures("every_write_raises_its_revision", "redis_server_url")


@pytest.fixture
def another(cluster: Cluster, simulator: Simulator) -> Iterator[Cluster]:
    """A second cluster."""
    with server.start(seed=5) as running:
        wanted = [
            WatchedCluster(name, Source.SIMULATED, Target("url", url=each.url))
            for name, each in (("sim", simulator), ("another", running))
        ]
        yield cluster_services.ensure_clusters(wanted, now=clock())[1]


def later() -> datetime:
    return clock() + timedelta(minutes=10)


def find_database_away(cluster: Cluster) -> None:
    """A pass that can store nothing."""
    with another_connection() as other:
        other.execute("SELECT FROM clusters_clusterkind FOR UPDATE")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        assert services.follow_cluster(cluster.pk, seconds=0, longest=5, clock=clock) is None
        other.rollback()


def reasons(cluster: Cluster) -> set[str]:
    return set(Gap.objects.filter(cluster=cluster).values_list("reason", flat=True))


def test_absent_database_is_the_reason_for_every_cluster(
    cluster: Cluster, another: Cluster, sync: Sync
) -> None:
    sync()
    services.sync_cluster(another.pk, seconds=0, clock=clock)

    find_database_away(cluster)
    services.sync_cluster(cluster.pk, seconds=0, clock=later)
    services.sync_cluster(another.pk, seconds=0, clock=later)

    assert (reasons(cluster), reasons(another)) == ({"database_away"}, {"database_away"})


def test_database_that_was_away_before_is_no_reason(cluster: Cluster, sync: Sync) -> None:
    sync()
    find_database_away(cluster)
    sync()

    services.sync_cluster(cluster.pk, seconds=0, clock=later)

    assert reasons(cluster) == {"worker_away"}


def test_pause_is_a_reason(cluster: Cluster, sync: Sync) -> None:
    sync()

    cluster_services.pause_cluster(cluster.pk)
    cluster_services.resume_cluster(cluster.pk, now=later())
    services.sync_cluster(cluster.pk, seconds=0, clock=later)

    assert reasons(cluster) == {"paused"}
    assert not Gap.objects.filter(cluster=cluster, ended_at=None).exists()


def pause(cluster: Cluster) -> None:
    cluster_services.pause_cluster(cluster.pk)


def watch_no_more(cluster: Cluster) -> None:
    del cluster
    cluster_services.ensure_clusters([], now=clock())


@pytest.mark.parametrize(("leave", "reason"), [(pause, "paused"), (watch_no_more, "not_watched")])
def test_what_is_left_unread_on_purpose_is_a_gap_while_that_lasts(
    simulator: Simulator,
    cluster: Cluster,
    sync: Sync,
    leave: Callable[[Cluster], None],
    reason: str,
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    sync()
    leave(cluster)

    keeping.keep_storage(Kept(30, 400), now=later())

    end = later()
    found = queries.pool_history(
        SNAPSHOT, Pool.objects.get(), start=end - timedelta(hours=1), end=end, step=None
    )
    assert reasons(cluster) == {reason}
    assert (Pool.objects.get().devices_available, found.points[-1].figures.available) == (2, None)


def test_upkeep_leaves_a_window_alone_that_is_still_open(cluster: Cluster, sync: Sync) -> None:
    sync()
    pause(cluster)

    with leases.holder().held(f"sync {cluster.pk}"):
        keeping.keep_storage(Kept(30, 400), now=later())

    assert reasons(cluster) == set()


def test_resuming_waits_for_whoever_writes_about_the_cluster_and_keeps_nobody_waiting(
    cluster: Cluster, sync: Sync
) -> None:
    sync()
    pause(cluster)

    def resume() -> None:
        cluster_services.resume_cluster(cluster.pk, now=later())
        connection.close()

    resuming = threading.Thread(target=resume)
    with another_connection() as other:
        other.execute("UPDATE clusters_cluster SET reach = reach WHERE id = %s", [cluster.pk])
        resuming.start()
        eventually(lambda: is_waited_for(other))
        other.execute("UPDATE clusters_revision SET number = number + 1")
    resuming.join()

    assert reasons(cluster) == {"paused"}
    assert not Cluster.objects.get().is_paused


def test_short_pause_leaves_no_gap(cluster: Cluster, sync: Sync) -> None:
    sync()

    cluster_services.pause_cluster(cluster.pk)
    cluster_services.resume_cluster(cluster.pk, now=clock())
    sync()

    assert reasons(cluster) == set()
