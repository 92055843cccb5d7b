"""The whole large workload while five claims a second come and go: `python -m bench.churn`, or as a part of `python -m bench`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from bench.serve import LIFE_SECONDS, LIVES_PER_SECOND, SECONDS, WARM_SECONDS
from bench.servers import Step, environment, migrate, private_postgres, simulated_cluster
from objects.services.partitions import pack_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_SECONDS = 0.05
VACUUM_SECONDS = 30
# Tables whose rows are changed in place.
CURRENT = ("objects_kubeobject", "pools_allocation", "pools_deviceuse", "pools_pool")


@dataclass(frozen=True)
class Found:
    """What following the changes took."""

    changes: int
    seconds: float
    cpu_seconds: float
    record_bytes: int
    # Whole pages, each at its first change after a checkpoint.
    page_bytes: int
    # By table, with what of it was written, and how much it grew; apart from that the part of its indexes that is of the rows
    # that came, first as they are and then packed.
    tables: list[tuple[str, int, int, int, int]]
    median_delay: float
    p95_delay: float


def main() -> None:
    with private_postgres() as database, simulated_cluster("L") as cluster:
        migrate(database)
        Step(database, cluster.url)("sync")
        for line in report(measure(database, cluster)):
            print(line)


def measure(database: str, cluster: Any) -> Found:
    """Follow the cluster in a process of its own, look when each change can be read by others, and count."""
    Step(database, cluster.url)("keep")
    worker = subprocess.Popen(
        [sys.executable, "-m", "bench.steps", cluster.url, "follow"],
        env=environment(database),
        stdout=subprocess.PIPE,
        text=True,
    )
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_walinspect")
        connection.execute("CHECKPOINT")
        time.sleep(12)
        cluster.process.send_signal(signal.SIGUSR1)
        # The first versions of rows that stay as they are in number take room once.
        seen = _watch(connection, seconds=WARM_SECONDS)
        _pack(connection)
        position, before = _position(connection), _sizes(connection)
        began, began_at = time.monotonic(), time.time()
        seen |= _watch(connection, seconds=SECONDS - WARM_SECONDS + LIFE_SECONDS[-1] + 3)
        seconds = time.monotonic() - began
        records, pages = _wal_since(connection, position)
        loose, written = _sizes(connection), _written(connection, position)
        _pack(connection)
        tables = _tables(before, loose, _sizes(connection), written)
    made = {
        version: at
        for version, at in json.loads(cluster.process.stdout.readline()).items()
        if at > began_at
    }
    worker.terminate()
    said = json.loads(worker.communicate()[0])
    missing = made.keys() - seen.keys()
    if missing:
        sys.exit(f"{len(missing)} of {len(made)} changes were not stored")
    delays = sorted(seen[version] - at for version, at in made.items())
    return Found(
        changes=len(made),
        seconds=seconds,
        cpu_seconds=said["cpu_seconds"],
        record_bytes=records,
        page_bytes=pages,
        tables=tables,
        median_delay=delays[len(delays) // 2],
        p95_delay=delays[len(delays) * 95 // 100],
    )


def report(measured: Found) -> Iterator[str]:
    lives = measured.changes / len(LIFE_SECONDS)
    yield (
        f"{LIVES_PER_SECOND} claim lives a second for {measured.seconds:.0f} s: {measured.changes} changes,"
        f" stored after {measured.median_delay:.2f} s, p95 {measured.p95_delay:.2f} s"
    )
    yield f"worker: {measured.cpu_seconds / measured.seconds:.3f} CPU seconds a second"
    yield (
        f"WAL: {measured.record_bytes / measured.seconds / 1000:.0f} kB/s, {measured.record_bytes / lives:.0f} bytes a life;"
        f" and {measured.page_bytes / 1e6:.0f} MB of pages whose first change after a checkpoint this was"
    )
    loose = sum(table + index for _, _, table, index, _ in measured.tables)
    packed = sum(table + index for _, _, table, _, index in measured.tables)
    yield (
        f"disk: {packed / lives:.0f} bytes a life once its day is over, {loose / lives:.0f} before;"
        " versions and indexes included"
    )
    yield f"{'bytes':<28}{'WAL a change':>14}{'table a life':>14}{'indexes a life':>16}{'packed':>10}"
    for name, wal, table, index, tight in measured.tables:
        yield (
            f"{name:<28}{wal / measured.changes:14.0f}{table / lives:14.0f}{index / lives:16.0f}{tight / lives:10.0f}"
        )


def _watch(connection: psycopg.Connection[Any], *, seconds: float) -> dict[str, float]:
    """By resourceVersion: when another connection could first read the change.

    Room of versions that ended is freed twice a minute. Autovacuum waits until a fifth of a table is such room; it grows by that once.
    """
    seen: dict[str, float] = {}
    deadline = time.monotonic() + seconds
    vacuum_due = time.monotonic() + VACUUM_SECONDS
    latest = connection.execute("SELECT now()").fetchone()
    while time.monotonic() < deadline:
        rows = connection.execute(
            "SELECT resource_version, at FROM objects_objectevent WHERE at > %s - interval '3 s'",
            latest,
        ).fetchall()
        now = time.time()
        for version, at in rows:
            seen.setdefault(version, now)
            latest = (max(latest[0], at),) if latest else (at,)
        if time.monotonic() > vacuum_due:
            connection.execute(f"VACUUM {', '.join(CURRENT)}")
            vacuum_due += VACUUM_SECONDS
        time.sleep(LOOK_SECONDS)
    return seen


def _position(connection: psycopg.Connection[Any]) -> str:
    (position,) = connection.execute("SELECT pg_current_wal_lsn()::text").fetchone() or ("0/0",)
    return str(position)


def _wal_since(connection: psycopg.Connection[Any], position: str) -> tuple[int, int]:
    """Bytes of records, and of whole pages in them."""
    records, pages = connection.execute(
        "SELECT sum(record_size), sum(fpi_size) FROM pg_get_wal_stats(%s, pg_current_wal_lsn())",
        (position,),
    ).fetchone() or (0, 0)
    return int(records), int(pages)


# Partitions under the name of their table; an index under that of the table that it is of. Days to come have an empty page each.
_RELATIONS = """
SELECT regexp_replace(coalesce(t.relname, c.relname), '_p\\d+$', '') AS name, c.oid, c.relfilenode,
    t.relname IS NOT NULL AS is_index
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
WHERE c.relkind IN ('r', 'i') AND c.relfilenode <> 0 AND c.relnamespace = 'public'::regnamespace
    AND pg_relation_size(coalesce(t.oid, c.oid)) > 0
"""


@dataclass(frozen=True)
class _Size:
    """How large a table is."""

    rows: int = 0
    table_bytes: int = 0
    index_bytes: int = 0


def _sizes(connection: psycopg.Connection[Any]) -> dict[str, _Size]:
    """How large each table is now, partitions together."""
    rows = connection.execute(
        f"WITH relations AS ({_RELATIONS}) SELECT name,"
        " coalesce(sum(pg_relation_size(oid)) FILTER (WHERE NOT is_index), 0)::int8,"
        " coalesce(sum(pg_relation_size(oid)) FILTER (WHERE is_index), 0)::int8"
        " FROM relations GROUP BY 1"
    ).fetchall()
    return {name: _Size(_count(connection, name), *sizes) for name, *sizes in rows}


def _count(connection: psycopg.Connection[Any], table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
    return int(count)


def _written(connection: psycopg.Connection[Any], position: str) -> dict[str, int]:
    """By table, bytes of WAL about it and its indexes."""
    return dict(
        connection.execute(
            f"WITH relations AS ({_RELATIONS}) SELECT name, sum(block_data_length + 24)::int8"
            " FROM pg_get_wal_block_info(%s, pg_current_wal_lsn(), false) w"
            " JOIN relations r USING (relfilenode) GROUP BY 1",
            (position,),
        ).fetchall()
    )


def _pack(connection: psycopg.Connection[Any]) -> None:
    """What the upkeep does with partitions whose day is over, done with those of today; and what autovacuum does sooner or later."""
    for (name,) in connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
        " WHERE relkind = 'r' AND pg_relation_size(inhrelid) > 0"
    ).fetchall():
        pack_partition(connection.cursor(), name)
    connection.execute("VACUUM")


def _tables(
    before: dict[str, _Size],
    loose: dict[str, _Size],
    packed: dict[str, _Size],
    written: dict[str, int],
) -> list[tuple[str, int, int, int, int]]:
    """What was written of each table, how much it grew, and what its indexes have of that; the most first.

    An index does not grow with its rows: full pages split, all in the same minute, and are filled afterwards. Each row has its share.
    """
    sizes = []
    for name, size in loose.items():
        old = before.get(name, _Size())
        share = max(0.0, 1 - old.rows / size.rows) if size.rows else 0.0
        indexes = int(share * size.index_bytes), int(share * packed[name].index_bytes)
        sizes.append((name, written.get(name, 0), size.table_bytes - old.table_bytes, *indexes))
    return sorted((each for each in sizes if any(each[1:])), key=lambda each: -sum(each[1:]))[:24]


if __name__ == "__main__":
    main()
