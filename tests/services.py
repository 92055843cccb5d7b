"""A pytest plugin: a private Postgres and Redis for one run of the tests, where DATABASE_URL and REDIS_URL name none.

Addresses are known from the start, so that Django's settings can be read; the servers start when the first test needs them, once
for all workers of a parallel run, and stop with the run.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
import redis

from dradash.up import launch, outside, postgres, privileges, redis_server

FOLDER = "DRADASH_TEST_FOLDER"
PREFIX = "dradash-tests-"
# Under /tmp itself, not $TMPDIR: the path of a socket may have 108 bytes only.
ROOM = "/tmp"
START_SECONDS = 60
# What a crash of the machine would lose does not matter here. In tests only.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "100",
}


def _is_controller() -> bool:
    return "PYTEST_XDIST_WORKER" not in os.environ


def _prepare_environment() -> Path:
    """Runs when the plugin is imported: before pytest-django reads the settings."""
    if _is_controller():
        _remove_abandoned_folders()
        os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=ROOM)
        os.environ["DRADASH_HOME"] = f"{os.environ[FOLDER]}/home"
    folder = Path(os.environ[FOLDER])
    own_postgres = f"postgresql://{postgres.USER}@/postgres?host={folder}"
    own_redis = f"unix://{folder}/redis.sock"
    os.environ.setdefault("SECRET_KEY", "tests-only-" + "0123456789abcdef" * 3)
    os.environ.setdefault("STATIC_FROM_SOURCE", "true")
    os.environ.setdefault("DATABASE_URL", own_postgres)
    if os.environ.setdefault("REDIS_URL", own_redis).startswith(own_redis):
        # A database of its own for each worker; Postgres gets the same from pytest-django.
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        os.environ["REDIS_URL"] = f"{own_redis}?db={worker}"
    return folder


def _remove_abandoned_folders() -> None:
    """What a killed run left: a folder is named after its process."""
    for folder in Path(ROOM).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).split("-")[0]
        if folder.stat().st_uid == os.geteuid() and not Path(f"/proc/{number}").exists():
            _stop_all(folder)


def _stop_all(folder: Path) -> None:
    for name, stop in (("postgres", signal.SIGQUIT), ("redis", signal.SIGTERM)):
        file = folder / f"{name}-server"
        if file.exists():
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), stop)
    shutil.rmtree(outside.folder_of(folder / "postgres"), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


_folder = _prepare_environment()


@contextmanager
def _only_one_at_a_time(name: str) -> Iterator[None]:
    with (_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start_once(
    name: str, command: Callable[[], Sequence[str]], answers: Callable[[], object]
) -> None:
    """Start a server unless another worker has, and wait until it answers."""
    file = _folder / f"{name}-server"
    with _only_one_at_a_time(name):
        if file.exists():
            return
        log = _folder / f"{name}.log"
        number = _spawn(command(), log=log)
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if os.waitpid(number, os.WNOHANG)[0] or time.monotonic() > deadline:
                pytest.exit(f"{name} does not start:\n{log.read_text()}")
            time.sleep(0.02)
        file.write_text(str(number))


def _spawn(command: Sequence[str], *, log: Path) -> int:
    """Without `subprocess`, which warns when its server is still running as the worker that started it ends."""
    to_log = (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    redirections = [to_log, (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawn(
        command[0], list(command), os.environ, file_actions=redirections, setsid=True
    )


def _postgres_answers() -> bool:
    try:
        psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_answers() -> bool:
    try:
        with redis.from_url(os.environ["REDIS_URL"]) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def start_postgres() -> None:
    """The server that DATABASE_URL names, if it is the one of this run."""
    if str(_folder) not in os.environ["DATABASE_URL"]:
        return
    data = _folder / "postgres"

    def command() -> list[str]:
        data.mkdir(mode=0o700)
        postgres.bring_within_reach(data, _folder)
        privileges.give_folder(data.resolve())
        initialise = [*postgres.initialise_command(data), "--no-sync"]
        subprocess.run(
            launch.command("initdb", _folder, initialise, without_root=True),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        serve = postgres.server_command(data, _folder, settings=FAST)
        return launch.command("postgres", _folder, serve, without_root=True)

    _start_once("postgres", command, _postgres_answers)


def start_redis() -> None:
    """The server that REDIS_URL names, if it is the one of this run."""
    if str(_folder) in os.environ["REDIS_URL"]:
        socket = _folder / "redis.sock"
        _start_once("redis", lambda: redis_server.server_command(_folder, socket), _redis_answers)


@pytest.fixture(scope="session")
def redis_server_url() -> str:
    """A Redis that is this worker's own for the whole run."""
    start_redis()
    return os.environ["REDIS_URL"]


@pytest.fixture
def redis_client(redis_server_url: str) -> Iterator[redis.Redis]:
    """An empty Redis, the one that the settings name."""
    with redis.from_url(redis_server_url) as client:
        client.flushdb()
        yield client


def pytest_unconfigure() -> None:
    if _is_controller():
        _stop_all(_folder)
