"""The slices of the large workload (13,500 slices, 150,000 devices): first read, unchanged read again, and two other ways.

`python -m bench.large` measures, in one run and on one machine: ours; the official client's models with
`bulk_create(update_conflicts)`; and `json.loads` with a comparison of resourceVersions. It prints ratios, and what an unchanged
poll wrote.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import psycopg

from bench.servers import environment, migrate, private_postgres, simulated_cluster

MIB = 1 << 20


@dataclass(frozen=True)
class Measured:
    """One step: what it said of itself, and what it wrote."""

    seconds: float
    peak_bytes: int
    wal_bytes: int
    rows_written: dict[str, int]


def main() -> None:
    """Measure everything and print it."""
    with private_postgres() as database, simulated_cluster("L-slices") as url:
        migrate(database)
        first = step("sync", url, database)
        again = min((step("resync", url, database) for _ in range(3)), key=lambda m: m.seconds)
        idle = min((step("window", url, database) for _ in range(3)), key=lambda m: m.wal_bytes)
        step("official_client", url, database)
        client = step("official_client", url, database)
        loads = min((step("json_loads", url, database) for _ in range(3)), key=lambda m: m.seconds)
    print_report(first, again, idle, client, loads)


def step(name: str, url: str, database: str) -> Measured:
    """Run a step in a process of its own, between two readings of what Postgres has written."""
    with psycopg.connect(database, autocommit=True) as connection:
        # Without it the first change of each page writes the whole page into the WAL.
        connection.execute("CHECKPOINT")
        before = _written(connection)
        command = [sys.executable, "-m", "bench.steps", name, url]
        done = subprocess.run(
            command, env=environment(database), stdout=subprocess.PIPE, check=True
        )
        wal, rows = _written(connection)
    said = json.loads(done.stdout)
    changed = {table: count - before[1].get(table, 0) for table, count in rows.items()}
    return Measured(
        seconds=said["seconds"],
        peak_bytes=said["peak_bytes"],
        wal_bytes=wal - before[0],
        rows_written={table: count for table, count in changed.items() if count},
    )


def _written(connection: psycopg.Connection[Any]) -> tuple[int, dict[str, int]]:
    """WAL so far in bytes, and rows inserted, updated and deleted by table."""
    connection.execute("SELECT pg_stat_clear_snapshot()")
    (wal,) = connection.execute(
        "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
    ).fetchone() or (0,)
    rows = connection.execute(
        "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables"
    ).fetchall()
    return wal, dict(rows)


def print_report(
    first: Measured, again: Measured, idle: Measured, client: Measured, loads: Measured
) -> None:
    """Figures and ratios."""
    lines = [
        ("first read, everything derived and stored", first),
        ("read again, nothing changed", again),
        ("official client, bulk_create(update_conflicts), nothing changed", client),
        ("json.loads, resourceVersions compared, nothing changed", loads),
    ]
    for label, measured in lines:
        print(
            f"{label:<66}{measured.seconds:8.2f} s{measured.peak_bytes / MIB:8.0f} MiB"
            f"{measured.wal_bytes / MIB:9.2f} MiB WAL"
        )
    print(
        f"unchanged read, times faster than the official client: {client.seconds / again.seconds:.0f}"
    )
    print(
        f"unchanged read, times faster than json.loads:          {loads.seconds / again.seconds:.1f}"
    )
    print(
        f"peak memory, of that of the official client:           1/{client.peak_bytes / again.peak_bytes:.1f}"
    )
    print(
        f"peak memory of the first read, of the same:            1/{client.peak_bytes / first.peak_bytes:.1f}"
    )
    for label, measured in (("read again", again), ("idle window", idle)):
        print(
            f"written by an unchanged poll ({label}): {measured.wal_bytes} bytes of WAL, rows {measured.rows_written}"
        )


if __name__ == "__main__":
    main()
