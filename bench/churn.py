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
    wal_bytes: int
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
        connection.execute("CHECKPOINT")
        time.sleep(12)
        wal, sizes = _wal(connection), _log_bytes(connection)
        began = time.monotonic()
        cluster.process.send_signal(signal.SIGUSR1)
        seen = _watch(connection, seconds=SECONDS + LIFE_SECONDS[-1] + 3)
        seconds = time.monotonic() - began
        wal, sizes = _wal(connection) - wal, _log_bytes(connection) - sizes
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
        wal_bytes=wal,
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
    yield f"WAL: {found.wal_bytes / found.seconds / 1000:.0f} kB/s, {found.wal_bytes / lives:.0f} bytes a life"
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


def _wal(connection: psycopg.Connection[Any]) -> int:
    (wal,) = connection.execute(
        "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
    ).fetchone() or (0,)
    return int(wal)


def _log_bytes(connection: psycopg.Connection[Any]) -> int:
    (size,) = connection.execute(
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
        " AND relname ~ '^objects_(objectevent|body|kubeobject)'"
    ).fetchone() or (0,)
    return int(size)


if __name__ == "__main__":
    main()
