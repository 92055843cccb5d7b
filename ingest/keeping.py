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
from clusters.services import note_unread, raise_revisions, raising_revisions
from ingest import services
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from objects.services import bodies, keeping
from objects.services.partitions import (
    LOG,
    Partitioned,
    drop_partitions,
    ensure_partitions,
    pack_partitions,
)
from objects.services.staging import as_long_as_it_takes
from objects.services.versions import closed_versions
from pools.models import PoolStatusRequest
from pools.services import rollups
from pools.services.keeping import remove_vanished

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
    busy = services.clusters_in_sync()
    tables = [*LOG, *closed_versions(), *rollups.SAMPLES, *rollups.HOURS]
    with as_long_as_it_takes():
        with _logged_failure("partitions ahead"):
            ensure_partitions(tables, now=now)
        for cluster_id in Cluster.objects.order_by("pk").values_list("pk", flat=True):
            if cluster_id not in busy:
                with _logged_failure("gaps of what is not read", cluster_id):
                    note_unread(cluster_id, now=now)
            _keep_cluster(cluster_id, now=now)
        _drop_old(retention, now=now)
        with _logged_failure("packing of partitions"):
            _pack(tables, now=now)


def _keep_cluster(cluster_id: int, *, now: datetime) -> None:
    with _logged_failure("hourly figures", cluster_id):
        rollups.roll_up(cluster_id, now=now)
    with _logged_failure("samples", cluster_id):
        rollups.renew_samples(cluster_id, now=now)
    for kind in registry.watched_names():
        with _logged_failure(f"checkpoint of {kind}", cluster_id):
            keeping.write_checkpoint(cluster_id, kind, now=now)
    with _logged_failure("dictionaries", cluster_id):
        bodies.renew_dictionaries(cluster_id, now=now)


def _pack(tables: Sequence[Partitioned], *, now: datetime) -> None:
    packed = pack_partitions(tables, now=now)
    if packed:
        log.info("packed partitions", names=packed)


@contextmanager
def _logged_failure(step: str, cluster_id: int | None = None) -> Iterator[None]:
    """Whatever stops this step, the other steps and clusters go on, and this one is tried again at the next upkeep.

    None: it is a step of all clusters together.
    """
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
    dropped: list[str] = []
    with _logged_failure("old partitions"):
        dropped += drop_partitions([*LOG, *closed_versions(), *rollups.SAMPLES], before=oldest)
        dropped += drop_partitions(rollups.HOURS, before=oldest_rollup)
    with _logged_failure("old pool status requests"):
        old_requests = PoolStatusRequest.objects.filter(created_at__lt=oldest, is_removed=True)
        _delete(old_requests, subject=RESOURCE_POOL_STATUS_REQUEST.name)
    with _logged_failure("old gaps"):
        _delete(Gap.objects.filter(ended_at__lt=oldest_rollup), subject=CLUSTER)
    # Only the end of a partition leaves bodies that nothing names; the base of a difference that goes now goes at the next.
    if dropped:
        log.info("dropped partitions", names=dropped)
        _remove_unnamed(oldest, now=now)


def _remove_unnamed(oldest: datetime, *, now: datetime) -> None:
    """What nothing that is kept names any more."""
    for cluster_id in Cluster.objects.order_by("pk").values_list("pk", flat=True):
        with (
            _logged_failure("rows of what vanished", cluster_id),
            raising_revisions(cluster_id, POOLS, *registry.watched_names()),
        ):
            remove_vanished(cluster_id, before=oldest)
        with _logged_failure("bodies that nothing names", cluster_id):
            keeping.remove_orphans(cluster_id, gone_before=oldest, now=now)
