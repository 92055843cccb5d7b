"""Lists as of a moment among two million closed versions: `python -m bench.past`, or `python -m bench past`.

150,000 devices of 9,375 pools, each with a past of thirty days: thirteen states a device, and what a third of them published. The rows
are made by SQL, since two million allocations take long. Timed is what a page reads of the database, at moments of all thirty days.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg

from bench.servers import environment, migrate, private_postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

DEVICES = 150_000
PER_POOL = 16
DAYS = 30
STATES = 13
MOMENTS = 40
FIRST_DAY = datetime(2026, 11, 1, tzinfo=UTC)
UNFILTERED_MS, FILTERED_MS = 50, 250

ROWS = f"""
INSERT INTO pools_pool (cluster_id, id, driver, name, generation, is_complete, is_valid, slices_seen,
    slices_expected, node_kind, node_name, node_selection, devices_total, devices_seen,
    devices_allocated, devices_partly_used, devices_unavailable, devices_blocked, devices_available,
    devices_admin_access, partitions, capacity, problems, problem_codes, severity, first_seen_at, since)
SELECT %(cluster)s, n, 'driver-' || n %% 5 || '.example.com', 'node-' || lpad(n::text, 5, '0'), 1, true, true, 1, 1,
    'node', 'node-' || lpad(n::text, 5, '0'), '', 16, 16, 8, 0, 0, 0, 8, 0, '[]', '[]', '[]', '[]', 0,
    %(start)s, %(start)s + interval '29 days'
FROM generate_series(0, {DEVICES // PER_POOL - 1}) n;

INSERT INTO pools_publisheddevice (cluster_id, id, pool_id, driver, pool_name, name, slice_object_id,
    node_name, attributes, capacity, taints, capacity_numbers, since)
SELECT %(cluster)s, i, p.id, p.driver, p.name, 'gpu-' || i %% {PER_POOL}, p.id, p.node_name,
    jsonb_build_object('productName', 'Example ' || i %% 7, 'index', i %% {PER_POOL}, 'uuid', md5(i::text),
        'driverVersion', '1.2.3', 'architecture', 'Hopper', 'brand', 'Example', 'type', 'gpu'),
    '[{{"name": "memory", "total": "80Gi", "consumed": "0", "available": "80Gi"}}]', '[]',
    '{{"memory": 85899345920}}',
    CASE WHEN i %% 3 = 0 THEN %(start)s + i %% {DAYS} * interval '1 day' ELSE %(start)s END
FROM generate_series(0, {DEVICES - 1}) i JOIN pools_pool p ON p.id = i / {PER_POOL};

CREATE TEMP TABLE turn AS
SELECT i, k, %(start)s::timestamptz + (k * 2.28 + i * 7919 %% 1000 / 1000.0 * 2.2) * interval '1 day' AS at,
    (ARRAY['allocated', 'available', 'blocked', 'unavailable'])[1 + CASE
        WHEN (i + k) %% 50 = 0 THEN 2 WHEN (i + k) %% 67 = 0 THEN 3 ELSE (i + k) %% 2 END] AS state
FROM generate_series(0, {DEVICES - 1}) i, generate_series(0, {STATES - 1}) k;

INSERT INTO pools_deviceuse_closed (cluster_id, device_id, state, is_partly_used, problems, since, until)
SELECT %(cluster)s, i, state, false, '[]', coalesce(lag(at) OVER (PARTITION BY i ORDER BY k), %(start)s), at FROM turn;

INSERT INTO pools_deviceuse (cluster_id, device_id, state, is_partly_used, problems, since)
SELECT %(cluster)s, i, state, false, '[]', at FROM turn WHERE k = {STATES - 1};

INSERT INTO pools_publisheddevice_closed (cluster_id, id, pool_id, driver, pool_name, name, slice_object_id,
    node_name, attributes, capacity, taints, capacity_numbers, since, until)
SELECT cluster_id, id, pool_id, driver, pool_name, name, slice_object_id, node_name, attributes, capacity,
    taints, capacity_numbers, %(start)s, since
FROM pools_publisheddevice WHERE since > %(start)s;

INSERT INTO pools_pool_closed
SELECT (jsonb_populate_record(c, jsonb_build_object('since', d))).*, d + interval '1 day'
FROM pools_pool c, generate_series(%(start)s, %(start)s + interval '28 days', '1 day') d;
"""


@dataclass(frozen=True)
class Timed:
    """One read, at many moments; milliseconds."""

    name: str
    bound: int
    median: float
    p95: float
    rows: int


def main() -> None:
    """Print a table; the work is done in a process whose database is the one that is made."""
    if "--filled" in sys.argv:
        import django

        django.setup()
        from clusters.models import Cluster

        cluster = Cluster.objects.create(name="bench", source="simulated", created_at=FIRST_DAY)
        fill(os.environ["DATABASE_URL"], cluster.pk)
        for each in measure():
            print(line(each), flush=True)
        return
    with private_postgres() as database:
        migrate(database)
        command = [sys.executable, "-m", "bench.past", "--filled"]
        subprocess.run(command, env=environment(database), check=True)


def fill(database: str, cluster_id: int) -> None:
    """Two million closed versions in thirty partitions a table."""
    days = [FIRST_DAY + timedelta(days=n) for n in range(DAYS + 1)]
    # Bound by the client, since it is several statements.
    with psycopg.connect(database, autocommit=True, cursor_factory=psycopg.ClientCursor) as made:
        for table in (
            "pools_pool",
            "pools_publisheddevice",
            "pools_deviceuse",
            "pools_allocation",
        ):
            for day in days:
                made.execute(
                    f"CREATE TABLE {table}_closed_p{day:%Y%m%d} PARTITION OF {table}_closed"
                    f" FOR VALUES FROM ('{day.isoformat()}') TO ('{(day + timedelta(days=1)).isoformat()}')"
                )
        made.execute(ROWS, {"start": FIRST_DAY, "cluster": cluster_id})
        made.execute("VACUUM (ANALYZE)")
        print_sizes(made)


def print_sizes(connection: psycopg.Connection[Any]) -> None:
    for table in ("pools_deviceuse", "pools_publisheddevice", "pools_pool"):
        versions, heap, indexes = connection.execute(
            "SELECT sum(reltuples), sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) FROM pg_class"
            " WHERE relkind = 'r' AND relname ~ %s",
            (rf"^{table}_closed_p\d+$",),
        ).fetchone() or (0, 0, 0)
        print(
            f"{table:<24}{int(versions):>10,} closed versions, {int(heap) / versions:.0f} bytes each"
            f" and {int(indexes) / versions:.0f} in indexes"
        )


def measure() -> Iterator[Timed]:
    """Each read at the same moments, in another order each time."""
    rng = random.Random(7)
    moments = [FIRST_DAY + timedelta(seconds=rng.uniform(0, DAYS * 86400)) for _ in range(MOMENTS)]
    for name, bound, read in _reads():
        rng.shuffle(moments)
        yield _time(name, bound, read, moments)


def _time(name: str, bound: int, read: Callable[[Any], int], moments: list[datetime]) -> Timed:
    from ui.snapshot import Viewer, open_snapshot

    viewer = Viewer(user_id=1, role="viewer")
    milliseconds = []
    rows = 0
    for moment in moments:
        began = time.perf_counter()
        with open_snapshot(viewer, now=moment, at=moment) as snapshot:
            rows = read(snapshot)
        milliseconds.append(1000 * (time.perf_counter() - began))
    milliseconds.sort()
    at = len(milliseconds)
    return Timed(name, bound, milliseconds[at // 2], milliseconds[-(-at * 95 // 100) - 1], rows)


def _reads() -> Iterator[tuple[str, int, Callable[[Any], int]]]:
    from pools import queries
    from pools.queries import AttributeMatch, DeviceFilter, PoolFilter
    from ui.paging import order_columns

    def pool_page(wanted: PoolFilter, order: str) -> Callable[[Any], int]:
        def read(snapshot: Any) -> int:
            columns = order_columns(queries.POOL_ORDERS, order)
            rows = list(queries.pools(snapshot, wanted).order_by(*columns)[:51])
            queries.pool_counts(snapshot, wanted)
            if wanted != PoolFilter():
                queries.pools(snapshot, PoolFilter()).count()
            return len(rows)

        return read

    def device_page(wanted: DeviceFilter, order: str) -> Callable[[Any], int]:
        def read(snapshot: Any) -> int:
            columns = order_columns(queries.DEVICE_ORDERS, order)
            rows = list(queries.devices(snapshot, wanted).order_by(*columns)[:51])
            facets = queries.device_facets(snapshot, wanted)
            queries.attribute_names(snapshot, [facet.value for facet in facets["driver"]])
            queries.holders(snapshot, rows)
            if wanted != DeviceFilter():
                queries.device_count(snapshot, DeviceFilter())
            return len(rows)

        return read

    model = AttributeMatch("productName", "=", ("Example 3",))
    yield "devices", UNFILTERED_MS, device_page(DeviceFilter(), "name")
    filters = {
        "driver": DeviceFilter(drivers=("driver-3.example.com",)),
        "node": DeviceFilter(nodes=("node-00123",)),
        "state unavailable": DeviceFilter(states=("unavailable",)),
        "state available": DeviceFilter(states=("available",)),
        "model": DeviceFilter(matches=((model,),)),
        "model and state": DeviceFilter(matches=((model,),), states=("available",)),
        "taint": DeviceFilter(is_tainted=True),
        "a part of a name": DeviceFilter(text="node-0123"),
    }
    for name, wanted in filters.items():
        yield f"devices by {name}", FILTERED_MS, device_page(wanted, "name")
    yield "devices in order of state", FILTERED_MS, device_page(DeviceFilter(), "state")
    yield "pools", UNFILTERED_MS, pool_page(PoolFilter(), "problems")
    yield (
        "pools of a driver",
        FILTERED_MS,
        pool_page(PoolFilter(drivers=("driver-3.example.com",)), "name"),
    )
    yield "pools by a part of a name", FILTERED_MS, pool_page(PoolFilter(text="node-0123"), "name")


def line(each: Timed) -> str:
    return (
        f"{each.name:<34}{each.median:8.1f} ms{each.p95:8.1f} ms p95 (wanted {each.bound})"
        f"{each.rows:4} rows"
    )


if __name__ == "__main__":
    main()
