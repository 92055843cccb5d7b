from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import Api, resource_slice

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    """Three slices, and a clock that stands at noon."""
    slices = [resource_slice(name) for name in ("w0", "w1", "w2")]
    with server.start(slices, start_at=NOON) as running:
        yield running


@pytest.fixture
def api(simulator: Simulator) -> Api:
    return Api(simulator.url)
