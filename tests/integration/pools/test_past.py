"""The same queries, as of a moment."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import ProgrammingError, connection
from django.db.migrations import RunSQL
from django.db.migrations.state import ProjectState

from clusters.models import Gap
from objects.choices import Op
from objects.services.versions import versioned_tables
from pools import queries
from pools.models import (
    Allocation,
    Device,
    DeviceUse,
    DirtyPool,
    Pool,
    PoolStatusRequest,
    PublishedDevice,
    ResourceSlice,
)
from pools.services import keeping
from pools.services.device_view import change_table
from tests.factories import api_rows, kube
from tests.factories.api_rows import NOON as NOON_OF_ROWS
from tests.factories.clusters import NOON, watched_cluster
from tests.factories.snapshots import SNAPSHOT
from tests.integration.pools.test_services import store
from tests.series import for_each
from ui.snapshot import Snapshot, open_snapshot

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.migrations.operations.base import Operation

    from clusters.models import Cluster

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
VERSIONED = [table.name for table in versioned_tables()]
# Of these nothing has ended in what the tests store.
NEVER_CHANGED = {"pools_node", "pools_deviceclass"}


@pytest.fixture
def cluster() -> Cluster:
    """A slice at noon; a minute later a claim, a minute later the claim gone, and then the slice."""
    cluster = watched_cluster()
    slice_ = kube.resource_slice("slice-a", devices=2)
    claim = kube.resource_claim("claim", holds=["gpu-1"])
    store(cluster, slice_)
    store(cluster, claim, now=NOON + MINUTE)
    store(cluster, claim, now=NOON + 2 * MINUTE, op=Op.DELETED)
    store(cluster, slice_, now=NOON + 3 * MINUTE, op=Op.DELETED)
    return cluster


def read(at: datetime | None) -> tuple[Any, ...]:
    """Pools, devices, allocations and slices."""
    with open_snapshot(SNAPSHOT.viewer, now=NOON + timedelta(hours=1), at=at):
        pools = Pool.objects.filter(vanished_at=None).order_by("name")
        devices = Device.objects.order_by("name")
        return (
            list(pools.values_list("name", "devices_available")),
            list(devices.values_list("name", "state", "since")),
            list(Allocation.objects.values_list("device", "since")),
            list(ResourceSlice.objects.values_list("name", "device_count")),
        )


def test_past_is_what_was_stored_at_the_moment(cluster: Cluster) -> None:
    nothing: tuple[list[Any], ...] = ([], [], [], [])
    free = [("gpu-0", "available", NOON), ("gpu-1", "available", NOON)]
    held = [("gpu-0", "available", NOON), ("gpu-1", "allocated", NOON + MINUTE)]
    again = [("gpu-0", "available", NOON), ("gpu-1", "available", NOON + 2 * MINUTE)]
    slices = [("slice-a", 2)]

    assert read(NOON - SECOND) == nothing
    assert read(NOON) == ([("node-1", 2)], free, [], slices)
    assert read(NOON + MINUTE) == (
        [("node-1", 1)],
        held,
        [("gpu-1", NOON + MINUTE)],
        slices,
    )
    assert read(NOON + 3 * MINUTE - SECOND) == ([("node-1", 2)], again, [], slices)
    assert read(NOON + 3 * MINUTE) == nothing
    assert read(None) == nothing


def test_same_question_of_two_moments_in_turn_has_two_answers(cluster: Cluster) -> None:
    """Oftener than a driver or Postgres would ask before it keeps a plan."""
    then, later = read(NOON), read(NOON + MINUTE)

    found = [read(at) for at in [NOON, NOON + MINUTE] * 12]

    assert then != later
    assert found == [then, later] * 12


def test_moment_is_known_when_a_query_is_planned() -> None:
    with open_snapshot(SNAPSHOT.viewer, now=NOON, at=NOON), connection.cursor() as cursor:
        cursor.execute("EXPLAIN (VERBOSE, COSTS OFF) SELECT past.moment()")
        plan = [line.strip() for (line,) in cursor.fetchall()]

    assert plan == ["Result", "Output: '2026-11-29 12:00:00+00'::timestamp with time zone"]


def test_ids_of_the_past_are_those_of_now() -> None:
    cluster = watched_cluster()
    store(cluster, kube.resource_slice("slice-a", devices=2))
    now = list(Device.objects.order_by("name").values_list("id", "name"))
    store(cluster, kube.resource_claim("claim", holds=["gpu-1"]), now=NOON + MINUTE)

    with open_snapshot(SNAPSHOT.viewer, now=NOON + MINUTE, at=NOON):
        then = list(Device.objects.order_by("name").values_list("id", "name"))

    assert then == now


def test_device_that_vanished_is_told_of_each_moment_as_it_was_then() -> None:
    cluster = watched_cluster()
    slice_ = kube.resource_slice("slice-a")
    store(cluster, slice_)
    device_id = Device.objects.get(name="gpu-0").id
    store(cluster, slice_, now=NOON + MINUTE, op=Op.DELETED)

    def ask(at: datetime) -> tuple[str, datetime | None]:
        with open_snapshot(SNAPSHOT.viewer, now=NOON + 2 * MINUTE, at=at) as snapshot:
            row = queries.device(snapshot, device_id)
            return row.state, row.vanished_at

    assert ask(NOON) == ("available", None)
    assert ask(NOON + MINUTE) == ("unknown", NOON + MINUTE)


def test_past_of_a_request_is_that_it_waits() -> None:
    request = api_rows.status_request(api_rows.cluster(), ended_at=NOON_OF_ROWS + SECOND)
    api_rows.status_answer(request)
    fields = ("outcome", "answered_at", "pool_count", "is_removed")

    def ask(at: datetime) -> list[tuple[Any, ...]]:
        with open_snapshot(SNAPSHOT.viewer, now=NOON, at=at):
            return list(PoolStatusRequest.objects.values_list(*fields))

    assert ask(NOON_OF_ROWS - SECOND) == []
    assert ask(NOON_OF_ROWS) == [("pending", None, None, False)]
    assert ask(NOON_OF_ROWS + SECOND) == [("answered", NOON_OF_ROWS + SECOND, 1, True)]


def test_past_of_a_gap_is_that_it_lasts() -> None:
    api_rows.gap(api_rows.cluster(), ended_at=NOON_OF_ROWS + MINUTE)

    def ask(at: datetime) -> list[Any]:
        with open_snapshot(SNAPSHOT.viewer, now=NOON, at=at):
            return list(Gap.objects.values_list("ended_at", flat=True))

    assert ask(NOON_OF_ROWS - SECOND) == []
    assert ask(NOON_OF_ROWS) == [None]
    assert ask(NOON_OF_ROWS + MINUTE) == [NOON_OF_ROWS + MINUTE]


def test_table_without_a_past_is_not_found() -> None:
    with (
        pytest.raises(ProgrammingError, match="does not exist"),
        open_snapshot(SNAPSHOT.viewer, now=NOON, at=NOON),
    ):
        DirtyPool.objects.exists()


def test_pool_and_device_are_found_by_their_names(cluster: Cluster) -> None:
    at = Snapshot(SNAPSHOT.viewer, now=NOON, at=NOON)
    names = {"driver": kube.DRIVER}

    with open_snapshot(SNAPSHOT.viewer, now=NOON, at=NOON):
        pool = queries.pool_named(at, cluster.pk, **names, name="node-1")
        device = queries.device_named(at, cluster.pk, **names, pool="node-1", name="gpu-1")

    assert (pool.devices_available, device.pool_id, device.state) == (2, pool.id, "available")


def test_rows_of_what_vanished_go_with_the_last_version_that_names_them(cluster: Cluster) -> None:
    long_after = NOON + timedelta(days=40)
    kept = keeping.remove_vanished(cluster.pk, before=long_after)

    with connection.cursor() as cursor:
        # As when their partitions are dropped.
        cursor.execute("DELETE FROM pools_publisheddevice_closed")
        cursor.execute("DELETE FROM pools_deviceuse_closed")
        cursor.execute("DELETE FROM pools_pool_closed")
        cursor.execute("DELETE FROM pools_poolsample")
    early = keeping.remove_vanished(cluster.pk, before=NOON)
    removed = keeping.remove_vanished(cluster.pk, before=long_after)

    assert (kept, early, removed) == (0, 0, 5)
    assert not PublishedDevice.objects.exists()
    assert not DeviceUse.objects.exists()
    assert not Pool.objects.exists()


COLUMNS = """
SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname
"""


def columns(table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [table])
        return list(cursor.fetchall())


def shown_tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT viewname::text FROM pg_views WHERE schemaname = 'past' ORDER BY viewname"
        )
        return [name for (name,) in cursor.fetchall()]


def test_each_view_of_the_past_has_the_columns_of_its_table() -> None:
    shown = shown_tables()

    assert "pools_device" in shown
    # Where this fails, the migration that changed the table needs `change_table` around it, or ShowPast behind it.
    assert {name: columns(f"past.{name}") for name in shown} == {
        name: columns(f"public.{name}") for name in shown
    }


def test_each_table_of_closed_versions_has_the_columns_of_its_table() -> None:
    until = ("until", "timestamp with time zone")

    assert {name: columns(f"{name}_closed") for name in VERSIONED} == {
        name: sorted([*columns(name), until]) for name in VERSIONED
    }


def test_each_versioned_table_is_written_with_all_of_its_columns() -> None:
    assert {
        table.name: sorted(["cluster_id", *table.columns]) for table in versioned_tables()
    } == {
        table.name: sorted(name for name, _ in columns(table.name)) for table in versioned_tables()
    }


def migrated(*operations: Operation) -> None:
    # As between two transactions: what is still to be checked would keep a table from being changed.
    connection.check_constraints()
    with connection.schema_editor() as editor:
        for_each(
            operations,
            lambda each: each.database_forwards("pools", editor, ProjectState(), ProjectState()),
        )


def reverted(*operations: Operation) -> None:
    with connection.schema_editor() as editor:
        for_each(
            reversed(operations),
            lambda each: each.database_backwards("pools", editor, ProjectState(), ProjectState()),
        )


def columns_of_all() -> dict[str, list[tuple[Any, ...]]]:
    tables = [*shown_tables(), *(f"past.{name}" for name in shown_tables())]
    return {name: columns(name) for name in [*tables, *(f"{name}_closed" for name in VERSIONED)]}


def devices_at(at: datetime | None) -> list[Any]:
    with open_snapshot(SNAPSHOT.viewer, now=NOON + timedelta(hours=1), at=at):
        return list(Device.known.order_by("name").values())


def shown_devices() -> list[list[Any]]:
    """Now, vanished ones among them, and while a claim held one."""
    return [devices_at(None), devices_at(NOON + MINUTE + SECOND)]


def gain(table: str) -> RunSQL:
    return RunSQL(
        f"ALTER TABLE {table} ADD COLUMN firmware text",
        reverse_sql=f"ALTER TABLE {table} DROP COLUMN firmware",
    )


@pytest.mark.parametrize("table", VERSIONED)
def test_column_that_a_table_gains_is_kept_and_goes_again_and_no_version_is_lost(
    cluster: Cluster, table: str
) -> None:
    del cluster
    before, rows = columns_of_all(), shown_devices()
    change = change_table(
        table,
        gain(table),
        fill={"firmware": "'0.9'"},
        indexes={"closed_firmware": "(firmware, since)"},
    )

    migrated(*change)
    gained = {name: found for name, found in columns_of_all().items() if found != before[name]}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT firmware FROM {table}_closed")
        filled = [value for (value,) in cursor.fetchall()]
    reverted(*change)

    shown = {"pools_publisheddevice", "pools_deviceuse"} & {table}
    names = {table, f"{table}_closed", f"past.{table}"} | {
        f"{schema}pools_device" for schema in ("", "past.") if shown
    }
    assert gained == {name: sorted([*before[name], ("firmware", "text")]) for name in names}
    assert filled == (["0.9"] if table not in NEVER_CHANGED else [])
    assert (columns_of_all(), shown_devices()) == (before, rows)
    assert [len(found) for found in rows] == [2, 2]


def test_column_that_may_be_null_from_now_on_may_be_null_in_closed_versions_too() -> None:
    migrated(
        *change_table(
            "pools_node",
            RunSQL("ALTER TABLE pools_node ALTER COLUMN uid DROP NOT NULL"),
        )
    )

    assert "uid" not in needed_columns("pools_node_closed")
    assert "name" in needed_columns("pools_node_closed")


def needed_columns(table: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname::text FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnotnull AND attnum > 0",
            [table],
        )
        return {name for (name,) in cursor.fetchall()}


def test_closed_versions_take_whatever_their_table_takes() -> None:
    too_strict = {
        name: needed_columns(f"{name}_closed") - needed_columns(name) for name in VERSIONED
    }

    assert too_strict == {name: {"until"} for name in VERSIONED}
