import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dradash.up import launch, leftovers

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
PARENT = [
    sys.executable,
    "-c",
    "import subprocess, sys; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); import time; time.sleep(60)",
    *SLEEP,
]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(
    started: list[subprocess.Popen[str]], run: Path, command: list[str]
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        launch.command("program", run, command),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started.append(process)
    return process


def wait_for_record(run: Path, process: subprocess.Popen[str]) -> None:
    while not (run / "program.pid").exists() or not (run / "program.pid").read_text():
        assert process.poll() is None


def test_end_of_recorded_program_ends_it(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = start(started, tmp_path, SLEEP)
    wait_for_record(tmp_path, process)
    running = psutil.Process(process.pid)

    ended = leftovers.end(tmp_path)

    assert (ended, running.is_running(), list(tmp_path.iterdir())) == (["program"], False, [])


def test_end_of_program_that_is_gone_ends_its_children(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = start(started, tmp_path, PARENT)
    assert process.stdout is not None
    child = psutil.Process(int(process.stdout.readline()))
    process.kill()
    process.wait()

    ended = leftovers.end(tmp_path)

    assert (ended, child.is_running()) == (["program"], False)


def test_end_of_number_that_another_program_has_now_leaves_it_alone(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = start(started, tmp_path, SLEEP)
    wait_for_record(tmp_path, process)
    record = json.loads((tmp_path / "program.pid").read_text())
    (tmp_path / "program.pid").write_text(json.dumps(record | {"birth": "another"}))

    ended = leftovers.end(tmp_path)

    assert (ended, process.poll()) == ([], None)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"pid": 999999999, "birth": "x"}'])
def test_end_of_torn_record_forgets_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "program.pid").write_text(content)

    assert (leftovers.end(tmp_path), list(tmp_path.iterdir())) == ([], [])


@pytest.mark.parametrize(
    "content", [f"{os.getpid()}\n/data\n", "999999999\n"], ids=["of this test", "of nobody"]
)
def test_remove_stale_lock_of_no_postgres_removes_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "postmaster.pid").write_text(content)

    leftovers.remove_stale_lock(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "text\n"])
def test_remove_stale_lock_that_cannot_be_read_leaves_it_to_postgres(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "postmaster.pid").write_text(content)

    leftovers.remove_stale_lock(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["postmaster.pid"]
