"""Clusters as the configuration makes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clusters import services
from clusters.choices import Source
from clusters.models import Revision
from kube.targets import Target
from objects.services.partitions import LOG, ensure_partitions
from objects.services.versions import closed_versions
from pools.services.rollups import HOURS, SAMPLES

if TYPE_CHECKING:
    from clusters.models import Cluster

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def revisions(of: Cluster) -> dict[str, int]:
    return dict(Revision.objects.filter(cluster=of).values_list("subject", "number"))


def watched_cluster(name: str = "one", *, now: datetime = NOON) -> Cluster:
    """A cluster with its kinds, and partitions around `now`."""
    ensure_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=now)
    wanted = services.WatchedCluster(
        name, Source.SIMULATED, Target("url", url="http://127.0.0.1:1")
    )
    return services.ensure_clusters([wanted], now=now)[0]
