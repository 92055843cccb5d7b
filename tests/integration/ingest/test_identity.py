from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from ingest import services
from ingest.services import SyncResult
from kube.targets import Target
from objects.models import KubeObject
from simulator import server
from tests.factories import kube
from tests.integration.ingest.conftest import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.cluster import Simulator


@pytest.fixture
def another() -> Iterator[Simulator]:
    """Another cluster, with a slice of the same name, that listens where the first one did."""
    with server.start(seed=99) as running:
        running.put(kube.resource_slice("slice-a", devices=5))
        yield running


def sync_at(url: str) -> SyncResult:
    """The cluster is to be found at another address from now on."""
    wanted = WatchedCluster("sim", Source.SIMULATED, Target("url", url=url))
    (row,) = cluster_services.ensure_clusters([wanted], now=clock())
    return services.sync_cluster(row.pk, seconds=0, clock=clock)


def living(cluster_id: int) -> list[str]:
    rows = KubeObject.objects.filter(cluster_id=cluster_id, deleted_at__isnull=True)
    return sorted(rows.filter(kind="ResourceSlice").values_list("name", flat=True))


def test_cluster_made_anew_under_an_old_name_is_read_into_a_row_of_its_own(
    simulator: Simulator,
    another: Simulator,
    cluster: Cluster,
    sync: Callable[[], SyncResult],
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_slice("slice-b", pool="b")])
    sync()

    noticed = sync_at(another.url)
    sync_at(another.url)

    successor = Cluster.objects.get(name="sim", replaced_at=None)
    assert noticed.failure.startswith("Another cluster answers under this name")
    assert (successor.replaces_id, successor.reach) == (cluster.pk, "ok")
    assert (living(cluster.pk), living(successor.pk)) == (["slice-a", "slice-b"], ["slice-a"])


def test_cluster_whose_address_changed_goes_on(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    sync()

    with server.start() as moved:
        result = sync_at(moved.url)

    assert result.failure == ""
    assert Cluster.objects.get(name="sim", replaced_at=None).pk == cluster.pk


def test_cluster_made_anew_at_the_same_address_is_noticed_before_it_is_read(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> None:
    """The connection that is kept still works, so only the full read tells that everything is another."""
    simulator.put(kube.resource_slice("slice-a"))
    sync()
    made_anew = {"metadata": {"name": "kube-system", "uid": "made anew"}, "kind": "Namespace"}
    simulator.put(made_anew)
    simulator.delete("ResourceSlice", "slice-a")
    simulator.forget_history()

    sync()

    successor = Cluster.objects.get(name="sim", replaced_at=None)
    assert successor.replaces_id == cluster.pk
    assert (living(cluster.pk), living(successor.pk)) == (["slice-a"], [])


def test_cluster_made_anew_is_put_aside_once_whoever_asks_for_it_again(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> None:
    sync()
    simulator.put({"metadata": {"name": "kube-system", "uid": "made anew"}, "kind": "Namespace"})

    services.rediscover_cluster(cluster.pk, clock=clock)
    services.rediscover_cluster(cluster.pk, clock=clock)
    late = services.sync_cluster(cluster.pk, seconds=0, clock=clock)

    assert late == SyncResult()
    rows = Cluster.objects.order_by("pk").values_list("name", "is_watched", "replaces_id")
    assert list(rows) == [("sim", False, None), ("sim", True, cluster.pk)]
