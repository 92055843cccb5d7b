from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, transaction

from clusters import services
from clusters.choices import ReadState
from clusters.models import Cluster, ClusterKind, Gap
from clusters.registry import watched_kinds
from dra.values import Release
from ingest.services import SyncResult
from ingest.writing import Writer
from kube.capabilities import Capabilities, ServerVersion
from objects.choices import Op
from objects.models import KubeObject, ObjectEvent
from objects.services.staging import open_cursor
from pools.models import Device, DeviceClass, Node, Pool, PoolSample
from pools.services import derive
from tests.factories import kube
from tests.integration.ingest.conftest import another_connection, clock, is_waited_for
from tests.statements import sent_statements

if TYPE_CHECKING:
    from simulator.cluster import Simulator

Sync = Callable[[], SyncResult]

pytestmark = pytest.mark.usefixtures("every_write_raises_its_revision")


def figures(name: str = "node-1") -> tuple[object, ...]:
    pool = Pool.objects.get(name=name)
    return (
        pool.generation,
        pool.is_complete,
        pool.devices_total,
        pool.devices_allocated,
        pool.devices_unavailable,
        pool.devices_available,
    )


def events(cluster: Cluster) -> list[tuple[int, str]]:
    """Operations and names, in the order of the log."""
    names = dict(KubeObject.objects.filter(cluster=cluster).values_list("id", "name"))
    rows = ObjectEvent.objects.filter(cluster=cluster).order_by("at", "object_id")
    return [(op, names[id_]) for op, id_ in rows.values_list("op", "object_id")]


def kind(cluster: Cluster, name: str) -> ClusterKind:
    return ClusterKind.objects.get(cluster=cluster, kind=name)


def test_sync_first_time_shows_the_whole_cluster(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all(
        [
            kube.resource_slice("slice-a", devices=3),
            kube.resource_claim("claim-a", holds=["gpu-0"]),
            kube.taint_rule("rule-a", selector={"device": "gpu-1"}),
            kube.node("node-1"),
        ]
    )

    sync()

    assert figures() == (1, True, 3, 1, 1, 1)
    assert dict(Device.objects.values_list("name", "state")) == {
        "gpu-0": "allocated",
        "gpu-1": "unavailable",
        "gpu-2": "available",
    }
    assert list(Node.objects.values_list("name", "is_ready")) == [("node-1", True)]
    assert list(
        ClusterKind.objects.order_by("kind").values_list("kind", "state", "object_count")
    ) == [
        ("DeviceClass", "watching", 0),
        ("DeviceTaintRule", "watching", 1),
        ("Node", "watching", 1),
        ("ResourceClaim", "watching", 1),
        ("ResourceSlice", "watching", 1),
    ]
    assert sorted(events(cluster)) == [
        (Op.RESYNC_ADDED, "claim-a"),
        (Op.RESYNC_ADDED, "node-1"),
        (Op.RESYNC_ADDED, "rule-a"),
        (Op.RESYNC_ADDED, "slice-a"),
    ]


@pytest.mark.usefixtures("following")
def test_watch_gives_nodes_a_history_without_their_heartbeats(
    simulator: Simulator, cluster: Cluster
) -> None:
    node = kube.node("node-1")
    simulator.put(node)
    eventually(lambda: Node.objects.filter(is_ready=True).exists())

    node["status"]["images"] = [{"names": ["a"]}]
    simulator.put(node)
    simulator.put(kube.node("node-1", ready=False))
    eventually(lambda: Node.objects.filter(is_ready=False).exists())
    simulator.delete("Node", "node-1")
    eventually(lambda: Node.objects.get().vanished_at is not None)

    # The first may have been found by a full read.
    assert events(cluster)[1:] == [(Op.MODIFIED, "node-1"), (Op.DELETED, "node-1")]


def test_sync_makes_rows_of_what_is_stored_where_they_are_made_in_another_way_by_now(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.device_class("gpu"), kube.resource_slice("slice-a")])
    sync()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE pools_deviceclass, pools_pool")
    ClusterKind.objects.filter(kind__in=("DeviceClass", "ResourceSlice")).update(record_version=0)

    sync()

    assert list(DeviceClass.objects.values_list("name", "selectors")) == [
        ("gpu", ["device.driver == 'gpu.example.com'"])
    ]
    assert figures() == (1, True, 2, 0, 0, 2)
    versions = ClusterKind.objects.values_list("kind", "record_version")
    assert dict(versions) == {kind.name: kind.record_version for kind in watched_kinds()}


def test_sync_leaves_a_cluster_to_a_worker_that_has_read_on(cluster: Cluster, sync: Sync) -> None:
    sync()
    ClusterKind.objects.filter(kind="Node").update(record_version=0)
    results: list[SyncResult] = []

    def read() -> None:
        results.append(sync())
        connection.close()

    reading = threading.Thread(target=read)
    with another_connection() as other:
        other.execute("UPDATE clusters_clusterkind SET resource_version = '7' WHERE kind = 'Node'")
        reading.start()
        eventually(lambda: is_waited_for(other))
    reading.join()

    assert results == [SyncResult(is_busy=True)]


def test_sync_of_a_cluster_that_serves_nothing_takes_few_statements_once_that_is_stored(
    cluster: Cluster, sync: Sync
) -> None:
    nothing = Capabilities(ServerVersion(1, 30, "v1.30.0"), resources={}, rights={}, gates=None)
    services.record_discovery(cluster.pk, nothing, now=clock())
    sync()

    with sent_statements() as sent:
        sync()

    assert set(ClusterKind.objects.values_list("state", flat=True)) == {ReadState.NOT_SERVED}
    # The cluster, taking and ending its lease, partitions, kinds, what figures rest on, and pools that wait.
    assert len(sent) == 7


def test_pools_are_derived_for_the_release_that_was_found_since_the_pass_began(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.taint_rule("rule-a")])
    sync()
    with transaction.atomic(), open_cursor() as cursor:
        derive.mark_all_dirty(cursor, cluster.pk)
    # In this one a rule without selector tainted every device.
    began_with = Release(1, 36)
    kinds = ClusterKind.objects.filter(cluster=cluster)
    writer = Writer(
        cluster_id=cluster.pk,
        clock=clock,
        served=frozenset(kinds.values_list("kind", flat=True)),
        release=began_with,
        cursors=dict(kinds.values_list("kind", "resource_version")),
        reading=set(),
        first_reads=set(),
    )
    writer.begin()

    has_derived = writer.derive_some()

    assert (has_derived, Pool.objects.get().problem_codes) == (True, [])
    assert figures() == (1, True, 2, 0, 0, 2)


@pytest.mark.usefixtures("following")
def test_watch_follows_each_change_once(simulator: Simulator, cluster: Cluster) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    eventually(lambda: figures() == (1, True, 2, 0, 0, 2))

    simulator.put(kube.resource_claim("claim-a"))
    simulator.put(kube.resource_claim("claim-a", holds=["gpu-1"]))
    eventually(lambda: figures() == (1, True, 2, 1, 0, 1))
    simulator.put(kube.resource_slice("slice-a", generation=2))
    eventually(lambda: figures() == (2, True, 2, 1, 0, 1))
    simulator.delete("ResourceClaim", "claim-a", namespace="default")
    eventually(lambda: figures() == (2, True, 2, 0, 0, 2))
    simulator.delete("ResourceSlice", "slice-a")
    eventually(lambda: Pool.objects.get().vanished_at is not None)

    assert [event for event in events(cluster) if event[1] == "claim-a"] == [
        (Op.ADDED, "claim-a"),
        (Op.MODIFIED, "claim-a"),
        (Op.DELETED, "claim-a"),
    ]
    samples = PoolSample.objects.filter(cluster=cluster).order_by("at")
    assert list(samples.values_list("generation", "total", "available", "has_vanished")) == [
        (1, 2, 2, False),
        (1, 2, 1, False),
        (2, 2, 1, False),
        (2, 2, 2, False),
        (2, None, None, True),
    ]
    # A roll-out changes the generation alone: no new body.
    slices = ObjectEvent.objects.filter(
        cluster=cluster, object_id=KubeObject.objects.get(cluster=cluster, kind="ResourceSlice").id
    )
    assert slices.exclude(digest=None).values("digest").distinct().count() == 1


def test_resync_of_an_unchanged_cluster_writes_nothing_but_cursors(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_claim("c", holds=["gpu-0"])])
    sync()
    before = contents(cluster)
    ClusterKind.objects.filter(cluster=cluster).update(resource_version="")

    sync()

    assert contents(cluster) == before
    assert kind(cluster, "ResourceSlice").relists == 1


def contents(cluster: Cluster) -> list[object]:
    """Rows with their physical place: a row that was rewritten as it was is another one."""
    tables = (
        "objects_kubeobject",
        "objects_objectevent",
        "objects_body",
        "pools_pool",
        "pools_publisheddevice",
        "pools_deviceuse",
        "pools_resourceslice",
        "pools_allocation",
        "pools_poolsample",
    )
    with connection.cursor() as cursor:
        found: list[object] = []
        for table in tables:
            cursor.execute(
                f"SELECT tableoid::int8, ctid::text, t::text FROM {table} t WHERE cluster_id = %s ORDER BY 3",
                [cluster.pk],
            )
            found.append((table, cursor.fetchall()))
        return found


def test_resync_after_410_finds_what_changed_and_says_that_something_may_be_missed(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_slice("slice-b", pool="b")])
    sync()
    simulator.delete("ResourceSlice", "slice-a")
    simulator.put(kube.resource_slice("slice-b", pool="b", devices=5))
    simulator.put(kube.resource_slice("slice-c", pool="c"))
    simulator.forget_history()

    sync()

    assert sorted(events(cluster)[2:]) == [
        (Op.RESYNC_ADDED, "slice-c"),
        (Op.RESYNC_MODIFIED, "slice-b"),
        (Op.RESYNC_DELETED, "slice-a"),
    ]
    assert figures("b") == (1, True, 5, 0, 0, 5)
    gaps = Gap.objects.filter(cluster=cluster, kind="ResourceSlice", ended_at__isnull=False)
    assert list(gaps.values_list("reason", flat=True)) == ["relist"]


def test_store_set_back_is_noticed_and_read_anew(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put(kube.resource_slice("slice-a", devices=1))
    revision = int(simulator.objects("ResourceSlice")[0]["metadata"]["resourceVersion"])
    simulator.put(kube.resource_slice("slice-a", devices=4))
    sync()
    simulator.restore(revision)

    sync()

    assert figures() == (1, True, 1, 0, 0, 1)
    gaps = Gap.objects.filter(cluster=cluster, kind="ResourceSlice", ended_at__isnull=False)
    assert list(gaps.values_list("reason", flat=True)) == ["restored"]


def test_right_that_is_missing_leaves_figures_unknown_and_the_other_kinds_alone(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_claim("c", holds=["gpu-0"])])
    simulator.revoke("list", "resourceclaims")
    simulator.revoke("watch", "resourceclaims")

    sync()

    cluster.refresh_from_db()
    assert cluster.reach == "ok"
    assert kind(cluster, "ResourceClaim").state == "forbidden"
    assert kind(cluster, "ResourceSlice").state == "watching"
    assert figures() == (1, True, 2, None, None, None)


def test_right_that_is_revoked_makes_figures_unknown_and_comes_back(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all([kube.resource_slice("slice-a"), kube.resource_claim("c", holds=["gpu-0"])])
    sync()
    simulator.revoke("list", "resourceclaims")
    simulator.revoke("watch", "resourceclaims")
    sync()
    known_while_revoked = figures()
    open_reasons = list(
        Gap.objects.filter(cluster=cluster, ended_at__isnull=True).values_list("kind", "reason")
    )
    simulator.grant("list", "resourceclaims")
    simulator.grant("watch", "resourceclaims")
    ClusterKind.objects.filter(cluster=cluster).update(retry_at=None)

    sync()

    assert known_while_revoked == (1, True, 2, None, None, None)
    assert open_reasons == [("ResourceClaim", "forbidden")]
    assert figures() == (1, True, 2, 1, 0, 1)
    assert not Gap.objects.filter(cluster=cluster, ended_at__isnull=True).exists()


def test_api_server_away_keeps_what_is_known_and_recovers(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    sync()
    simulator.down()
    sync()
    cluster.refresh_from_db()
    reach, known = cluster.reach, figures()
    states = set(ClusterKind.objects.filter(cluster=cluster).values_list("state", flat=True))
    simulator.up()
    simulator.put(kube.resource_slice("slice-a", devices=7))
    ClusterKind.objects.filter(cluster=cluster).update(retry_at=None)

    sync()

    cluster.refresh_from_db()
    assert (reach, known, states) == ("unreachable", (1, True, 2, 0, 0, 2), {"failing"})
    assert (cluster.reach, figures()) == ("ok", (1, True, 7, 0, 0, 7))
    assert not Gap.objects.filter(cluster=cluster, ended_at__isnull=True).exists()


def test_paused_cluster_is_not_read(simulator: Simulator, cluster: Cluster, sync: Sync) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    services.pause_cluster(cluster.pk)

    sync()
    while_paused = Pool.objects.count()
    services.resume_cluster(cluster.pk, now=clock())
    sync()

    assert (while_paused, Pool.objects.count()) == (0, 1)


def eventually(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Until it holds; the assertion after the time is up says what does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(ObjectDoesNotExist):
            if condition():
                return
        time.sleep(0.05)
    assert condition()
