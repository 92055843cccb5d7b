from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connection

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.services import WatchedCluster
from ingest import services
from kube.targets import Target
from simulator import server
from tests.revisions import forgotten_revisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clusters.models import Cluster
    from ingest.services import SyncResult
    from simulator.cluster import Simulator


def clock() -> datetime:
    return datetime.now(UTC)


def another_connection() -> psycopg.Connection[Any]:
    """As another worker has it; what it did is committed at the end of its block."""
    parameters = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}
    return psycopg.connect(**parameters)


def is_waited_for(other: psycopg.Connection[Any]) -> bool:
    """Whether somebody waits for a lock that another has."""
    return other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with server.start() as running:
        yield running


@pytest.fixture
def cluster(transactional_db: None, simulator: Simulator) -> Cluster:
    wanted = WatchedCluster("sim", Source.SIMULATED, Target("url", url=simulator.url))
    return cluster_services.ensure_clusters([wanted], now=clock())[0]


@pytest.fixture
def every_write_raises_its_revision(transactional_db: None) -> Iterator[None]:
    with forgotten_revisions() as forgotten:
        yield
    assert forgotten == []


@pytest.fixture
def sync(cluster: Cluster) -> Callable[[], SyncResult]:
    """One pass, as short as the API server's windows allow."""
    return lambda: services.sync_cluster(cluster.pk, seconds=0, clock=clock)


@pytest.fixture
def following(cluster: Cluster) -> Iterator[None]:
    """A worker that reads the cluster, window after window, while the test runs."""
    is_over = threading.Event()

    def follow() -> None:
        try:
            while not is_over.is_set():
                services.sync_cluster(cluster.pk, seconds=5, clock=clock)
        finally:
            connection.close()

    thread = threading.Thread(target=follow)
    thread.start()
    yield
    is_over.set()
    thread.join()
