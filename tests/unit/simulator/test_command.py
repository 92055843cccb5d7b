"""`python -m simulator` as a program of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.simulator.client import SLICES, Api

ROOT = Path(__file__).parents[3]


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "simulator", "--port", "0", "--token", "t"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as running:
        yield running
        running.kill()


def test_program_says_its_address_serves_the_fleet_and_stops_when_told(
    program: subprocess.Popen[str],
) -> None:
    assert program.stdout is not None
    url = program.stdout.readline().removeprefix("simulated cluster: ").strip()

    served = Api(url, token="t").get(SLICES).json()["items"]
    program.send_signal(signal.SIGTERM)

    assert len(served) > 100
    assert program.wait(timeout=10) == 0
