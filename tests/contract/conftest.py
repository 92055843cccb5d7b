from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import Api, resource_slice


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    """What the recordings were made on: three slices, and a user called nobody."""
    slices = [resource_slice(name) for name in ("w0", "w1", "w2")]
    start_at = datetime(2026, 11, 29, 19, tzinfo=UTC)
    with server.start(slices, start_at=start_at, user="nobody") as running:
        yield running


@pytest.fixture
def api(simulator: Simulator) -> Api:
    return Api(simulator.url)
