"""What measurements share: a Postgres with fsync on, a simulated cluster in another process, and steps in processes of their own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from dradash.up import launch, postgres, privileges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_SECONDS = 120
MIB = 1 << 20
# The WAL of a step is read this long after it, when Postgres has told what it wrote.
SETTLE_SECONDS = 1.0


@dataclass(frozen=True)
class Measured:
    """One step: what it said of itself, and what it wrote."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    wal_bytes: int
    rows_written: dict[str, int]
    said: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """Runs steps of `bench.steps`, each in a process of its own."""

    database: str
    url: str

    def __call__(self, name: str, *, is_fresh: bool = False) -> Measured:
        """A step between two readings of what Postgres has written.

        First comes what has to be so for it. Checkpoints are left to Postgres, which makes one every five minutes: after one, the
        first change of each page writes the whole page once. `is_fresh` asks for one before the step.
        """
        self._run(name, "--prepare")
        with psycopg.connect(self.database, autocommit=True) as connection:
            if is_fresh:
                connection.execute("CHECKPOINT")
            time.sleep(SETTLE_SECONDS)
            wal_before, rows_before = _written(connection)
            said = json.loads(self._run(name))
            wal, _ = _written(connection)
            time.sleep(SETTLE_SECONDS)
            _, rows = _written(connection)
        changed = {table: count - rows_before.get(table, 0) for table, count in rows.items()}
        return Measured(
            seconds=said.pop("seconds"),
            cpu_seconds=said.pop("cpu_seconds"),
            peak_bytes=said.pop("peak_bytes"),
            wal_bytes=wal - wal_before,
            rows_written={table: count for table, count in changed.items() if count},
            said=said,
        )

    def _run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "bench.steps", self.url, *arguments]
        done = subprocess.run(
            command,
            env=environment(self.database),
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return done.stdout


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


@contextmanager
def private_postgres() -> Iterator[str]:
    """The address of a new server. Autovacuum is off, so that all WAL is of what is measured."""
    # Sockets need a short path.
    folder = Path(tempfile.mkdtemp(prefix="dradash-bench-", dir="/tmp"))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir(mode=0o700)
    privileges.give_folder(data)
    _run(folder, postgres.initialise_command(data)).wait()
    settings = {"autovacuum": "off", "shared_buffers": "256MB"}
    server = _run(folder, postgres.server_command(data, folder, settings=settings))
    url = f"postgresql://{postgres.USER}@/postgres?host={folder}"
    try:
        _wait_for_postgres(url)
        yield url
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, command: Sequence[str]) -> subprocess.Popen[bytes]:
    launched = launch.command("postgres", folder, command, without_root=True)
    return subprocess.Popen(launched, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for_postgres(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(psycopg.OperationalError):
            psycopg.connect(url, connect_timeout=2).close()
            return
        if time.monotonic() > deadline:
            sys.exit("the private Postgres does not start")
        time.sleep(0.05)


@dataclass(frozen=True)
class ServedCluster:
    """A simulated cluster and the process that serves it."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def simulated_cluster(workload: str) -> Iterator[ServedCluster]:
    """A simulated cluster that stands still: "L", or "L-slices" for its ResourceSlices alone."""
    command = [sys.executable, "-m", "bench.serve", workload]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield ServedCluster(server.stdout.readline().strip(), server)
    finally:
        server.terminate()
        server.wait()


def environment(database_url: str) -> dict[str, str]:
    """The settings that a step needs."""
    return {
        **os.environ,
        "DATABASE_URL": database_url,
        "DATABASE_STATEMENT_TIMEOUT_SECONDS": "600",
        "SECRET_KEY": secrets.token_hex(32),
        "DRADASH_HOME": tempfile.gettempdir(),
        "STATIC_FROM_SOURCE": "true",
    }


def migrate(database_url: str) -> None:
    """Make the tables."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=environment(database_url), check=True)
