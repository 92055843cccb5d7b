from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import connection

from kube.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NODE,
    RESOURCE_CLAIM,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from objects.choices import Op
from objects.services.partitions import LOG, ensure_partitions
from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from tests.integration.conftest import Migrate


def test_event_kind_of_a_log_that_was_written_before(migrate: Migrate) -> None:
    apps = migrate("objects", "0002_partitions")
    ensure_partitions(LOG, now=NOON)
    cluster = apps.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    digest = uuid.uuid4()
    apps.get_model("objects", "KubeObject").objects.create(
        cluster_id=cluster.pk,
        id=5,
        kind="ResourceClaim",
        uid=digest,
        name="c",
        api_version="v1",
        resource_version="1",
        digest=digest,
        first_seen_at=NOON,
        changed_at=NOON,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO objects_objectevent (cluster_id, object_id, at, op, resource_version, digest)"
            " VALUES (%s, 5, %s, 'added', '1', %s)",
            [cluster.pk, NOON, digest],
        )

    migrate("objects", "0004_past")

    with connection.cursor() as cursor:
        cursor.execute("SELECT kind FROM objects_objectevent WHERE cluster_id = %s", [cluster.pk])
        assert cursor.fetchall() == [("ResourceClaim",)]
        cursor.execute("DELETE FROM objects_objectevent WHERE cluster_id = %s", [cluster.pk])


def test_nodes_are_read_anew_and_rows_of_kinds_without_any_are_made_anew(migrate: Migrate) -> None:
    apps = migrate("clusters", "0002_lease")
    cluster = apps.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    apps.get_model("clusters", "ClusterNode").objects.create(
        cluster=cluster, name="node-1", changed_at=NOON
    )
    kinds = apps.get_model("clusters", "ClusterKind")
    kinds.objects.bulk_create(
        [
            kinds(cluster=cluster, kind=kind, resource_version="7")
            for kind in ("DeviceClass", "Node", "ResourceSlice")
        ]
    )

    apps = migrate("clusters", "0003_nodes_and_classes")

    rows = apps.get_model("clusters", "ClusterKind").objects.order_by("kind")
    assert list(rows.values_list("kind", "resource_version", "record_version")) == [
        ("DeviceClass", "7", 0),
        ("Node", "", 0),
        ("ResourceSlice", "7", 1),
    ]


def test_events_say_their_kind_and_what_happened_by_number(migrate: Migrate) -> None:
    apps = migrate("objects", "0007_differences")
    ensure_partitions(LOG, now=NOON)
    cluster = apps.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    body = uuid.uuid4()
    event = (
        "INSERT INTO objects_objectevent (cluster_id, object_id, at, kind, op, resource_version, digest)"
        " VALUES (%s, %s, %s, %s, %s, '1', %s)"
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            event,
            [
                (cluster.pk, 1, NOON, "ResourceSlice", "added", body),
                (cluster.pk, 2, NOON, "ResourceClaim", "modified", body),
                (cluster.pk, 3, NOON, "DeviceClass", "deleted", body),
                (cluster.pk, 4, NOON, "DeviceTaintRule", "resync_added", body),
                (cluster.pk, 5, NOON, "ResourcePoolStatusRequest", "resync_modified", body),
                (cluster.pk, 6, NOON, "Node", "resync_deleted", body),
            ],
        )

    migrate("objects", "0008_numbers_in_the_log")

    assert events() == [
        (RESOURCE_SLICE.number, Op.ADDED, body),
        (RESOURCE_CLAIM.number, Op.MODIFIED, body),
        (DEVICE_CLASS.number, Op.DELETED, None),
        (DEVICE_TAINT_RULE.number, Op.RESYNC_ADDED, body),
        (RESOURCE_POOL_STATUS_REQUEST.number, Op.RESYNC_MODIFIED, body),
        (NODE.number, Op.RESYNC_DELETED, None),
    ]

    migrate("objects", "0007_differences")

    # Of the two that were deleted nobody knows any more what they were.
    assert events() == [
        ("ResourceSlice", "added", body),
        ("ResourceClaim", "modified", body),
        ("DeviceTaintRule", "resync_added", body),
        ("ResourcePoolStatusRequest", "resync_modified", body),
    ]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM objects_objectevent")


def events() -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, op, digest FROM objects_objectevent ORDER BY object_id")
        return list(cursor.fetchall())
