from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from django.db import connection

from bench import kills

if TYPE_CHECKING:
    from clusters.models import Cluster
    from simulator.cluster import Simulator


def environment() -> dict[str, str]:
    """Of a worker that uses the database of this test."""
    url = urlsplit(os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    return {**os.environ, "DATABASE_URL": urlunsplit(url._replace(path=f"/{name}"))}


def test_worker_killed_at_random_moments_loses_and_doubles_nothing(
    simulator: Simulator, cluster: Cluster
) -> None:
    report = kills.run(cluster.pk, simulator, kills=6, seed=3, environment=environment(), pools=50)

    assert (report.kills, report.wrong) == (6, [])
    assert report.changes > 0
