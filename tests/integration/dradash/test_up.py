"""`dradash up` as a person runs it: started, killed and stopped as a whole. Slow, and the only proof that the parts fit."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
import pytest

from dradash.up.address import free_local_port
from tests import services
from tests.series import for_each

# One worker of a parallel run takes them all, so that they share what they start.
pytestmark = pytest.mark.xdist_group("dradash up")

START_SECONDS = 120
REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAMS = ("postgres", "redis", "simulator", "web", "worker")


@dataclass
class Running:
    """One `dradash up` with everything that it started."""

    process: subprocess.Popen[str]
    home: Path
    printed: str
    url: str

    def program(self, name: str) -> psutil.Process:
        return psutil.Process(json.loads((self.home / "run" / f"{name}.pid").read_text())["pid"])

    def family(self) -> list[psutil.Process]:
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def get(self, path: str) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.url + path, timeout=10) as answer:
            body: str = answer.read().decode()
            return body


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)


def launch(home: Path, output: Path, **environment: str) -> Running:
    """Start it and wait for the first page."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "STATIC_FROM_SOURCE"}
    }
    port = free_local_port()
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "dradash.cli", "up", "--simulated", "--port", str(port)],
            cwd=REPOSITORY,
            env=inherited | {"DRADASH_HOME": str(home)} | environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        )
    wait_until(lambda: "DRA-Dash is at" in output.read_text() or process.poll() is not None)
    assert process.poll() is None, output.read_text()
    return Running(process, home, output.read_text(), f"http://127.0.0.1:{port}/")


def stop(running: Running) -> None:
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Running]]:
    started: list[Running] = []

    def _start() -> Running:
        started.append(launch(tmp_path / "home", tmp_path / f"output-{len(started)}"))
        return started[-1]

    yield _start
    for running in started:
        stop(running)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all tests that leave it whole."""
    folder = tmp_path_factory.mktemp("shared")
    running = launch(folder / "home", folder / "output")
    wait_until(lambda: (running.home / "run" / "work-ready").exists())
    yield running
    stop(running)


def test_up_makes_an_account_once_and_stops_without_a_trace(start: Callable[[], Running]) -> None:
    first = start()
    family = first.family()
    first.process.send_signal(signal.SIGINT)
    code = first.process.wait(timeout=60)
    second = start()

    assert code == 0
    assert psutil.wait_procs(family, timeout=5)[1] == []
    assert re.search(r"Sign in as admin with the password \S{16}\n", first.printed)
    assert "password" not in second.printed
    assert json.loads(second.get("readyz")) == {"ready": True, "missing": {}}


@pytest.mark.parametrize("name", PROGRAMS)
def test_up_with_a_program_killed_starts_it_again(shared: Running, name: str) -> None:
    killed = shared.program(name)

    killed.kill()

    wait_until(lambda: _again(shared, name, killed.pid))
    wait_until(lambda: _is_ready(shared))


def test_up_on_a_folder_in_use_says_so_and_what_to_do(shared: Running) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "dradash.cli", "up", "--port", str(free_local_port())],
        cwd=REPOSITORY,
        env=os.environ | {"DRADASH_HOME": str(shared.home)},
        capture_output=True,
        text=True,
    )

    assert (second.returncode, second.stderr) == (
        1,
        (
            f"\nDRA-Dash already runs with the data in {shared.home} (process "
            f"{shared.process.pid}). Stop it first, or start this one with another DRADASH_HOME.\n"
        ),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next start ends what is left")
def test_up_killed_takes_everything_along_and_comes_back_with_its_data(
    start: Callable[[], Running],
) -> None:
    first = start()
    wait_until(lambda: (first.home / "run" / "work-ready").exists())
    family = first.family()
    key = (first.home / "secret_key").read_text()

    first.process.kill()
    first.process.wait()
    left = psutil.wait_procs(family, timeout=30)[1]
    second = start()

    assert left == []
    assert "password" not in second.printed
    assert (second.home / "secret_key").read_text() == key
    assert json.loads(second.get("readyz")) == {"ready": True, "missing": {}}


def kill_if_there(process: psutil.Process) -> None:
    """Its parent's end may have ended it."""
    with suppress(psutil.NoSuchProcess):
        process.kill()


def test_up_with_everything_killed_at_once_comes_back_with_its_data(
    start: Callable[[], Running],
) -> None:
    first = start()
    wait_until(lambda: (first.home / "run" / "work-ready").exists())

    for_each(first.family(), kill_if_there)
    first.process.wait()
    second = start()

    assert "password" not in second.printed
    assert json.loads(second.get("readyz")) == {"ready": True, "missing": {}}


@pytest.fixture
def database_url() -> str:
    """An empty database of a server that `dradash up` did not start."""
    services.start_postgres()
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS of_ones_own")
        connection.execute("CREATE DATABASE of_ones_own")
    return server.replace("/postgres?", "/of_ones_own?")


def test_up_with_servers_of_ones_own_starts_none(
    tmp_path: Path, database_url: str, redis_server_url: str
) -> None:
    running = launch(
        tmp_path / "home",
        tmp_path / "output",
        DATABASE_URL=database_url,
        REDIS_URL=redis_server_url,
    )
    wait_until(lambda: _is_ready(running))
    started = {file.stem for file in (running.home / "run").glob("*.pid")}
    stop(running)

    assert started == {"simulator", "starter", "web", "worker"}


def _again(running: Running, name: str, killed: int) -> bool:
    try:
        return running.program(name).pid != killed
    except (psutil.Error, ValueError):
        return False


def _is_ready(running: Running) -> bool:
    try:
        return bool(json.loads(running.get("readyz"))["ready"])
    except OSError:
        return False
