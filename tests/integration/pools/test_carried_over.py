"""Rows of an installation from before the storage of versions, after all migrations."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connection
from psycopg.types.json import Jsonb

from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[3]
UID = "7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77"
SLICE_DIGEST = "0b1f0c9e-52a4-4b8e-9d0a-3b1f0c9e8a01"

Rows = list[tuple[Any, ...]]


@pytest.fixture
def empty_database() -> Iterator[str]:
    """The address of a database beside that of the tests."""
    settings = connection.settings_dict
    name = f"migrated_{secrets.token_hex(4)}"
    address = f"postgresql://{settings['USER']}@/{{}}?host={settings['HOST']}"
    with psycopg.connect(address.format("postgres"), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield address.format(name)
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def migrate(address: str, *target: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0", *target],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": address},
        check=True,
    )


def insert(database: psycopg.Connection[Any], table: str, **row: Any) -> None:
    values = [Jsonb(value) if isinstance(value, (list, dict)) else value for value in row.values()]
    marks = ", ".join(["%s"] * len(row))
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", values)


def write_rows(database: psycopg.Connection[Any]) -> None:
    """One cluster with a pool of one device that a claim holds and a rule taints, and a pool that is gone."""
    insert(
        database,
        "clusters_cluster",
        id=1,
        name="one",
        source="simulated",
        kubeconfig_path="",
        context="",
        url="http://127.0.0.1:1",
        is_watched=True,
        is_paused=False,
        pool_status_mode="auto",
        created_at=NOON,
        reach="ok",
        reach_message="",
        server_version="",
        revision=1,
    )
    database.execute(
        "INSERT INTO clusters_clusternode (cluster_id, name, changed_at) VALUES (1, 'node-1', now())"
    )
    database.execute(
        "INSERT INTO clusters_clusterkind (cluster_id, kind, state, message, api_version,"
        " resource_version, failures, relists) SELECT 1, kind, 'watching', '', 'v1', '7', 0, 0"
        " FROM unnest(ARRAY['DeviceClass', 'Node', 'ResourceSlice']) kind"
    )
    database.execute(
        "CREATE TABLE objects_objectevent_p20261129 PARTITION OF objects_objectevent"
        " FOR VALUES FROM ('2026-11-29 00:00+0') TO ('2026-11-30 00:00+0')"
    )
    version = {"resource_version": "1", "digest": SLICE_DIGEST, "generation": 3}
    insert(
        database,
        "objects_kubeobject",
        cluster_id=1,
        id=5,
        kind="ResourceSlice",
        uid=UID,
        namespace="",
        name="slice-a",
        api_version="resource.k8s.io/v1",
        first_seen_at=NOON,
        changed_at=NOON,
        **version,
    )
    insert(
        database,
        "objects_objectevent",
        cluster_id=1,
        object_id=5,
        at=NOON,
        op="added",
        **version,
    )
    write_pools(database)


def write_pools(database: psycopg.Connection[Any]) -> None:
    place = {"cluster_id": 1, "driver": "gpu.example.com"}
    node = {"node_kind": "node", "node_name": "node-1"}
    lists: dict[str, Any] = {"partitions": [], "capacity": [], "problem_codes": []}
    pool = {
        **place,
        **node,
        **lists,
        "is_valid": True,
        "node_selection": "",
        "problems": [],
        "severity": 0,
        "first_seen_at": NOON,
        "changed_at": NOON,
    }
    insert(
        database,
        "pools_pool",
        **pool,
        id=11,
        name="node-1",
        generation=3,
        is_complete=True,
        slices_seen=1,
        slices_expected=1,
        devices_seen=1,
    )
    insert(
        database,
        "pools_pool",
        **pool,
        id=12,
        name="gone",
        is_complete=False,
        slices_seen=0,
        devices_seen=0,
        vanished_at=NOON,
    )
    insert(
        database,
        "pools_resourceslice",
        **place,
        **node,
        object_id=5,
        name="slice-a",
        api_version="resource.k8s.io/v1",
        pool_name="node-1",
        generation=3,
        resource_slice_count=1,
        device_count=1,
        problems=[],
        changed_at=NOON,
    )
    taint = {"key": "k", "value": "", "effect": "NoSchedule", "added_at": None}
    insert(
        database,
        "pools_device",
        **place,
        id=21,
        pool_id=11,
        pool_name="node-1",
        name="gpu-0",
        slice_object_id=5,
        node_name="node-1",
        generation=3,
        state="allocated",
        is_partly_used=False,
        attributes={"model": "A100"},
        capacity=[{"name": "memory", "total": "80Gi", "consumed": "80Gi", "available": "0"}],
        taints=[{**taint, "rule": None}, {**taint, "rule": "maintenance"}],
        problems=[],
        capacity_numbers={"memory": 80 * 2**30},
        changed_at=NOON,
    )
    insert(
        database,
        "pools_allocation",
        **place,
        id=31,
        claim_object_id=7,
        claim_namespace="training",
        claim_name="worker-0",
        claim_uid=UID,
        pool_name="node-1",
        device="gpu-0",
        request="gpu",
        share_id="",
        has_admin_access=False,
        consumed_capacity={},
        changed_at=NOON,
    )


def rows(database: psycopg.Connection[Any], sql: str) -> Rows:
    return database.execute(sql).fetchall()


def test_migrations_carry_over_what_an_installation_has(empty_database: str) -> None:
    migrate(empty_database, "objects", "0002")
    migrate(empty_database, "pools", "0004")
    with psycopg.connect(empty_database) as database:
        write_rows(database)

    migrate(empty_database)

    with psycopg.connect(empty_database) as database:
        assert rows(database, "SELECT object_id, kind, op FROM objects_objectevent") == [(5, 1, 1)]
        # Nodes are read anew, and rows of kinds that had none are made anew.
        assert rows(
            database,
            "SELECT kind, resource_version, record_version FROM clusters_clusterkind ORDER BY kind",
        ) == [("DeviceClass", "7", 0), ("Node", "", 0), ("ResourceSlice", "7", 1)]
        assert rows(database, "SELECT id, name, since, vanished_at FROM pools_pool") == [
            (11, "node-1", NOON, None),
            (12, "gone", NOON, NOON),
        ]
        assert rows(database, "SELECT id, device, since FROM pools_allocation") == [
            (31, "gpu-0", NOON)
        ]
        assert rows(
            database,
            "SELECT object_id, device_count, generation, since FROM pools_resourceslice",
        ) == [(5, 1, 3, NOON)]
        assert rows(
            database,
            "SELECT id, pool_id, name, generation, state, is_partly_used, attributes, since,"
            " capacity->0->>'available', jsonb_path_query_array(taints, '$[*].rule')"
            " FROM pools_device",
        ) == [
            (
                21,
                11,
                "gpu-0",
                3,
                "allocated",
                False,
                {"model": "A100"},
                NOON,
                "0",
                [None, "maintenance"],
            )
        ]
