"""The upkeep of what is stored: partitions ahead, rollups, checkpoints, dictionaries, and the end of what is too old."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from django.db import transaction

from clusters import registry
from clusters.choices import CLUSTER, POOLS
from clusters.models import Cluster, Gap
from clusters.services import raise_revisions, raising_revisions
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from objects.services import bodies, keeping
from objects.services.partitions import (
    LOG,
    drop_partitions,
    ensure_partitions,
    pack_partitions,
)
from objects.services.versions import closed_versions
from pools.models import PoolStatusRequest
from pools.services import rollups
from pools.services.keeping import remove_vanished

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from django.db.models import QuerySet

log = structlog.get_logger()


class Retention(Protocol):
    """The settings that say how long things are kept."""

    @property
    def retention_days(self) -> int:
        """Days of objects, samples and answers."""

    @property
    def rollup_retention_days(self) -> int:
        """Days of hourly figures, and of the gaps in them."""


def keep_storage(retention: Retention, *, now: datetime) -> None:
    """Everything that keeps the storage in shape; each step may be repeated, and one cluster's trouble is its own."""
    ensure_partitions([*LOG, *closed_versions(), *rollups.SAMPLES, *rollups.HOURS], now=now)
    for cluster_id in Cluster.objects.order_by("pk").values_list("pk", flat=True):
        _keep_cluster(cluster_id, now=now)
    _drop_old(retention, now=now)
    _pack(now=now)


def _keep_cluster(cluster_id: int, *, now: datetime) -> None:
    with _logged_failure(cluster_id, "hourly figures"):
        rollups.roll_up(cluster_id, now=now)
    with _logged_failure(cluster_id, "samples"):
        rollups.renew_samples(cluster_id, now=now)
    for kind in registry.watched_names():
        with _logged_failure(cluster_id, f"checkpoint of {kind}"):
            keeping.write_checkpoint(cluster_id, kind, now=now)
    with _logged_failure(cluster_id, "dictionaries"):
        bodies.renew_dictionaries(cluster_id, now=now)


def _pack(*, now: datetime) -> None:
    packed = pack_partitions([*LOG, *closed_versions(), *rollups.SAMPLES, *rollups.HOURS], now=now)
    if packed:
        log.info("packed partitions", names=packed)


@contextmanager
def _logged_failure(cluster_id: int, step: str) -> Iterator[None]:
    """Whatever stops this step, the other steps and clusters go on, and this one is tried again at the next upkeep."""
    try:
        yield
    except Exception:
        log.exception("upkeep failed", cluster_id=cluster_id, step=step)


def _delete(rows: QuerySet[Any], *, subject: str) -> None:
    with transaction.atomic():
        ids = list(rows.order_by("cluster_id").values_list("cluster_id", flat=True).distinct())
        rows.delete()
        raise_revisions(ids, [subject])


def _drop_old(retention: Retention, *, now: datetime) -> None:
    oldest = now - timedelta(days=retention.retention_days)
    oldest_rollup = now - timedelta(days=retention.rollup_retention_days)
    dropped = drop_partitions([*LOG, *closed_versions(), *rollups.SAMPLES], before=oldest)
    dropped += drop_partitions(rollups.HOURS, before=oldest_rollup)
    old_requests = PoolStatusRequest.objects.filter(created_at__lt=oldest, is_removed=True)
    _delete(old_requests, subject=RESOURCE_POOL_STATUS_REQUEST.name)
    _delete(Gap.objects.filter(ended_at__lt=oldest_rollup), subject=CLUSTER)
    if not dropped:
        return
    log.info("dropped partitions", names=dropped)
    # Only the end of a partition leaves bodies that nothing names; the base of a difference that goes now goes at the next.
    for cluster_id in Cluster.objects.order_by("pk").values_list("pk", flat=True):
        with (
            _logged_failure(cluster_id, "rows of what vanished"),
            raising_revisions(cluster_id, POOLS, *registry.watched_names()),
        ):
            remove_vanished(cluster_id, before=oldest)
        with _logged_failure(cluster_id, "bodies that nothing names"):
            keeping.remove_orphans(cluster_id, gone_before=oldest, now=now)
