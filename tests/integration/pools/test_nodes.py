from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction

from objects.choices import Op
from objects.services.changes import RowChanges
from objects.services.log import record_events
from objects.services.staging import open_cursor
from pools.models import DeviceClass, Node
from pools.queries.nodes import nodes_not_ready
from pools.services.device_classes import DEVICE_CLASS_ROWS
from pools.services.nodes import NODE_ROWS
from tests.factories import kube
from tests.factories.clusters import NOON, watched_cluster
from tests.factories.events import new_event
from tests.factories.snapshots import SNAPSHOT
from ui.snapshot import open_snapshot

if TYPE_CHECKING:
    from clusters.models import Cluster

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture
def cluster() -> Cluster:
    return watched_cluster()


def store(
    cluster: Cluster, *objects: dict[str, Any], now: datetime = NOON, op: Op = Op.ADDED
) -> None:
    with transaction.atomic(), open_cursor() as cursor:
        moved = record_events(
            cursor, cluster.pk, [new_event(obj, op=op) for obj in objects], now=now
        )
        changes = RowChanges(cluster.pk)
        nodes = [each for each in moved if each.event.kind == "Node"]
        classes = [each for each in moved if each.event.kind == "DeviceClass"]
        NODE_ROWS.record(cursor, cluster.pk, nodes, now=now, changes=changes)
        DEVICE_CLASS_ROWS.record(cursor, cluster.pk, classes, now=now, changes=changes)


def values(row: Node | DeviceClass) -> dict[str, Any]:
    left_out = {"pk", "id", "cluster", "object_id"}
    return {
        field.name: getattr(row, field.name)
        for field in row._meta.fields
        if field.name not in left_out
    }


def readiness_at(moment: datetime) -> list[tuple[object, ...]]:
    with open_snapshot(SNAPSHOT.viewer, now=NOON, at=moment):
        return list(Node.objects.values_list("name", "is_ready", "vanished_at"))


def test_node_made_anew_is_the_later_object_while_the_earlier_one_is_living_too(
    cluster: Cluster,
) -> None:
    earlier, later = kube.node("node-1"), kube.node("node-1", ready=False)
    later["metadata"]["uid"] = "7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77"

    store(cluster, earlier, later)

    row = Node.objects.get()
    assert (row.uid, row.is_ready) == (later["metadata"]["uid"], False)


def test_record_nodes_keeps_what_tells_one_from_another(cluster: Cluster) -> None:
    node = kube.node("node-1", ready=False)
    node["metadata"] |= {
        "uid": "7e0c2f0a-3c0e-4ab7-9f53-4d9b7d5b4b1c",
        "creationTimestamp": "2026-02-01T10:00:00Z",
        "labels": {"zone": "a\x00b"},
    }
    node["spec"] = {
        "unschedulable": True,
        "taints": [{"key": "k", "effect": "NoExecute", "timeAdded": "2026-02-01T11:00:00Z"}],
    }
    node["status"]["conditions"][0] |= {"reason": "KubeletNotReady", "message": "no network"}
    node["status"]["addresses"] = [{"type": "InternalIP", "address": "10.1.0.1"}]
    node["status"]["nodeInfo"] = {"kubeletVersion": "v1.37.2", "osImage": ""}

    store(cluster, node)

    assert values(Node.objects.get()) == {
        "name": "node-1",
        "uid": "7e0c2f0a-3c0e-4ab7-9f53-4d9b7d5b4b1c",
        "created_at": datetime(2026, 2, 1, 10, tzinfo=UTC),
        "is_ready": False,
        "ready_reason": "KubeletNotReady",
        "ready_message": "no network",
        "is_unschedulable": True,
        "labels": {"zone": "a\ufffdb"},
        "taints": [
            {"key": "k", "value": "", "effect": "NoExecute", "added_at": "2026-02-01T11:00:00Z"}
        ],
        "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "facts": {"kubeletVersion": "v1.37.2"},
        "problems": [],
        "first_seen_at": NOON,
        "since": NOON,
        "vanished_at": None,
    }


def test_node_of_which_it_was_not_known_whether_it_was_cordoned_stays_so_in_the_past(
    cluster: Cluster,
) -> None:
    node = kube.node("node-1")
    node["spec"] = {"unschedulable": "perhaps"}
    store(cluster, node)
    node["spec"] = {"unschedulable": True}
    store(cluster, node, now=NOON + MINUTE, op=Op.MODIFIED)

    with open_snapshot(SNAPSHOT.viewer, now=NOON + MINUTE, at=NOON):
        then = Node.objects.get().is_unschedulable

    assert (then, Node.objects.get().is_unschedulable) == (None, True)


def test_record_device_classes_keeps_selectors_and_names(cluster: Cluster) -> None:
    store(
        cluster,
        {
            "apiVersion": "resource.k8s.io/v1beta1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu", "creationTimestamp": "never"},
            "spec": {
                "selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}],
                "config": [
                    {"opaque": {"driver": "gpu.example.com", "parameters": {}}},
                    {"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}},
                ],
                "extendedResourceName": "example.com/gpu",
            },
        },
    )

    row = DeviceClass.objects.get()
    assert values(row) == {
        "name": "gpu",
        "uid": row.uid,
        "created_at": None,
        "selectors": ["device.driver == 'gpu.example.com'"],
        "extended_resource_name": "example.com/gpu",
        "config_drivers": ["gpu.example.com"],
        "problems": [],
        "first_seen_at": NOON,
        "since": NOON,
        "vanished_at": None,
    }


def test_record_nodes_touches_only_rows_that_say_something_new(cluster: Cluster) -> None:
    store(cluster, kube.node("a"), kube.node("b"))
    relabelled = kube.node("b")
    relabelled["metadata"]["labels"] = {"zone": "z"}

    store(cluster, kube.node("a"), relabelled, now=NOON + MINUTE, op=Op.MODIFIED)

    assert list(Node.objects.order_by("name").values_list("name", "since", "labels")) == [
        ("a", NOON, {}),
        ("b", NOON + MINUTE, {"zone": "z"}),
    ]


def test_record_nodes_keeps_the_row_of_a_node_that_goes_and_comes_back(cluster: Cluster) -> None:
    again = kube.node("a", ready=False)
    again["metadata"]["uid"] = "9b1de6a5-66fc-4b08-9d1c-66f0c1d1a1a1"
    store(cluster, kube.node("a"))
    first = Node.objects.get()

    store(cluster, kube.node("a"), now=NOON + MINUTE, op=Op.DELETED)
    gone = Node.objects.get()
    store(cluster, again, now=NOON + 2 * MINUTE)

    back = Node.objects.get()
    assert (gone.id, gone.vanished_at, back.id, back.vanished_at) == (
        first.id,
        NOON + MINUTE,
        first.id,
        None,
    )
    assert (back.uid, back.is_ready) == ("9b1de6a5-66fc-4b08-9d1c-66f0c1d1a1a1", False)


def test_record_nodes_made_anew_under_its_name_before_the_old_one_is_missed_stays(
    cluster: Cluster,
) -> None:
    again = kube.node("a")
    again["metadata"]["uid"] = "9b1de6a5-66fc-4b08-9d1c-66f0c1d1a1a1"
    store(cluster, kube.node("a"))

    store(cluster, again, now=NOON + MINUTE, op=Op.RESYNC_ADDED)
    store(cluster, kube.node("a"), now=NOON + 2 * MINUTE, op=Op.RESYNC_DELETED)

    assert Node.objects.get().vanished_at is None


def test_node_is_read_as_it_was_at_a_moment(cluster: Cluster) -> None:
    store(cluster, kube.node("a"))
    store(cluster, kube.node("a", ready=False), now=NOON + MINUTE, op=Op.MODIFIED)
    store(cluster, kube.node("a"), now=NOON + 2 * MINUTE, op=Op.DELETED)

    assert [readiness_at(NOON + step * MINUTE) for step in (-1, 0, 1, 2)] == [
        [],
        [("a", True, None)],
        [("a", False, None)],
        [("a", False, NOON + 2 * MINUTE)],
    ]


def test_nodes_not_ready_are_those_that_are_there_and_say_so(cluster: Cluster) -> None:
    silent = kube.node("silent")
    silent["status"] = {}
    store(
        cluster, kube.node("b", ready=False), kube.node("a", ready=False), kube.node("ok"), silent
    )
    store(cluster, kube.node("gone", ready=False))
    store(cluster, kube.node("gone", ready=False), now=NOON + MINUTE, op=Op.DELETED)

    assert nodes_not_ready(SNAPSHOT, cluster.pk) == ["a", "b"]
