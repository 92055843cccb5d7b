import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from dradash.up import launch

ECHO = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]


def test_launch_becomes_the_program_with_its_arguments(tmp_path: Path) -> None:
    command = launch.command("echo", tmp_path, [*ECHO, "--after", "two words", "%d"])

    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert printed == "['--after', 'two words', '%d']\n"


def test_launch_waits_for_its_marker(tmp_path: Path) -> None:
    marker = tmp_path / "ready"
    command = launch.command("echo", tmp_path, ECHO, after=marker)

    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        marker.touch()

        assert process.wait(timeout=10) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part exists on Linux only")
def test_launch_with_parent_killed_ends_the_program(tmp_path: Path) -> None:
    program = launch.command(
        "sleep",
        tmp_path,
        [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"],
        ends_with_parent="SIGTERM",
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *program],
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"up\n"
    child = psutil.Process(parent.pid).children()[0]

    parent.send_signal(signal.SIGKILL)
    parent.communicate(timeout=10)

    assert psutil.wait_procs([child], timeout=5)[1] == []


def test_birth_tells_this_process_from_none() -> None:
    assert launch.birth(os.getpid()) == launch.birth(os.getpid())
    assert launch.birth(999_999_999) is None


def test_birth_tells_two_processes_apart() -> None:
    time.sleep(0.02)  # the kernel counts in hundredths of a second
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as other:
        assert launch.birth(other.pid) != launch.birth(os.getpid())
        other.communicate()
