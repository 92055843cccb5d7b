"""Servers of their own for a measurement: a Postgres with fsync on, and a simulated cluster in another process."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from dradash.up import launch, postgres, privileges

START_SECONDS = 120


@contextmanager
def private_postgres() -> Iterator[str]:
    """The address of a new server. Autovacuum is off, so that all WAL is of what is measured."""
    folder = Path(tempfile.mkdtemp(prefix="dradash-bench-", dir="/tmp"))  # noqa: S108 -- sockets need a short path
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


@contextmanager
def simulated_cluster(workload: str) -> Iterator[str]:
    """The address of a simulated cluster that stands still: "L", or "L-slices" for its ResourceSlices alone."""
    command = [sys.executable, "-m", "bench.serve", workload]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
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
    }


def migrate(database_url: str) -> None:
    """Make the tables."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=environment(database_url), check=True)
