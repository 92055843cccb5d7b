"""Control planes shared by a whole test session. A test wipes what it uses before it begins."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.cluster import cases
from tests.cluster.controlplane import ControlPlane
from tests.cluster.live import Tally

_FOLDER = Path(__file__).parent
_TALLY = pytest.StashKey[Tally]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Tally:
    """Told at the end of the session."""
    return pytestconfig.stash.setdefault(_TALLY, Tally())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash.get(_TALLY, Tally())
    if lines := tally.lines():
        terminalreporter.section("the real control plane")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """The program's own release with pool status requests and partition types."""
    with ControlPlane(pool_status_requests=True) as plane:
        yield plane


@pytest.fixture(scope="session")
def control_plane_default() -> Iterator[ControlPlane]:
    """The program's own release as it comes: no pool status requests."""
    with ControlPlane() as plane:
        yield plane


@pytest.fixture(scope="session")
def emulated_control_plane() -> Iterator[Callable[[str], ControlPlane]]:
    """Return the plain control plane of "1.34", "1.35" or "1.36", one each in a session."""
    with ExitStack() as planes:

        @cache
        def start(version: str) -> ControlPlane:
            return planes.enter_context(ControlPlane(emulated_version=version))

        yield start


@pytest.fixture(scope="session")
def case_plane() -> Iterator[ControlPlane]:
    """Nothing runs but the controller that answers pool status requests: allocations are written by hand."""
    with cases.case_control_plane() as plane:
        yield plane
