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

from bench.serve import LIFE_SECONDS, LIVES_PER_SECOND, SECONDS
from bench.servers import Step, environment, migrate, private_postgres, simulated_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Found:
    """What following the changes took."""

    changes: int
    seconds: float
    cpu_seconds: float
    record_bytes: int
    # Whole pages, each at its first change after a checkpoint.
    page_bytes: int
    log_bytes: int
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
        position, sizes = _position(connection), _log_bytes(connection)
        began = time.monotonic()
        cluster.process.send_signal(signal.SIGUSR1)
        seen = _watch(connection, seconds=SECONDS + LIFE_SECONDS[-1] + 3)
        seconds = time.monotonic() - began
        records, pages = _wal_since(connection, position)
        sizes = _log_bytes(connection) - sizes
    made = json.loads(cluster.process.stdout.readline())
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
        log_bytes=sizes,
        median_delay=delays[len(delays) // 2],
        p95_delay=delays[len(delays) * 95 // 100],
    )


def report(found: Found) -> Iterator[str]:
    lives = LIVES_PER_SECOND * SECONDS
    yield (
        f"{LIVES_PER_SECOND} claim lives a second for {SECONDS} s: {found.changes} changes,"
        f" stored after {found.median_delay:.2f} s, p95 {found.p95_delay:.2f} s"
    )
    yield f"worker: {found.cpu_seconds / found.seconds:.3f} CPU seconds a second"
    yield (
        f"WAL: {found.record_bytes / found.seconds / 1000:.0f} kB/s, {found.record_bytes / lives:.0f} bytes a life;"
        f" and {found.page_bytes / 1e6:.0f} MB of pages whose first change after a checkpoint this was"
    )
    yield f"log and bodies grew by {found.log_bytes / lives:.0f} bytes a life, indexes included"


def _watch(connection: psycopg.Connection[Any], *, seconds: float) -> dict[str, float]:
    """By resourceVersion: when another connection could first read the change."""
    seen: dict[str, float] = {}
    deadline = time.monotonic() + seconds
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


def _log_bytes(connection: psycopg.Connection[Any]) -> int:
    (size,) = connection.execute(
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
        " AND relname ~ '^objects_(objectevent|body|kubeobject)'"
    ).fetchone() or (0,)
    return int(size)


if __name__ == "__main__":
    main()
