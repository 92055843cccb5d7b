from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from ingest import services
from ingest.services import SyncResult
from kube.connect import Target
from simulator import server
from simulator.cluster import Simulator


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with server.start() as running:
        yield running


@pytest.fixture
def cluster(transactional_db: None, simulator: Simulator) -> Cluster:
    wanted = WatchedCluster("sim", Source.SIMULATED, Target("url", url=simulator.url))
    return cluster_services.ensure_clusters([wanted], now=clock())[0]


@pytest.fixture
def sync(cluster: Cluster) -> Callable[[], SyncResult]:
    """One pass, as short as the API server's windows allow."""
    return lambda: services.sync_cluster(cluster.pk, seconds=0, clock=clock)
