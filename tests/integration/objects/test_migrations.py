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
    event = (
        "INSERT INTO objects_objectevent (cluster_id, object_id, at, kind, op, resource_version, digest)"
        " VALUES (%s, %s, %s, %s, %s, '1', gen_random_uuid())"
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            event,
            [
                (cluster.pk, 1, NOON, "ResourceSlice", "added"),
                (cluster.pk, 2, NOON, "ResourceClaim", "modified"),
                (cluster.pk, 3, NOON, "DeviceClass", "deleted"),
                (cluster.pk, 4, NOON, "DeviceTaintRule", "resync_added"),
                (cluster.pk, 5, NOON, "ResourcePoolStatusRequest", "resync_modified"),
                (cluster.pk, 6, NOON, "Node", "resync_deleted"),
            ],
        )

    migrate("objects", "0008_numbers_in_the_log")

    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, op FROM objects_objectevent ORDER BY object_id")
        numbers = cursor.fetchall()
        cursor.execute("DELETE FROM objects_objectevent")
    assert numbers == [
        (RESOURCE_SLICE.number, Op.ADDED),
        (RESOURCE_CLAIM.number, Op.MODIFIED),
        (DEVICE_CLASS.number, Op.DELETED),
        (DEVICE_TAINT_RULE.number, Op.RESYNC_ADDED),
        (RESOURCE_POOL_STATUS_REQUEST.number, Op.RESYNC_MODIFIED),
        (NODE.number, Op.RESYNC_DELETED),
    ]
