"""Celery's side of the collection: when what is run. The clock is read here and nowhere below."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import structlog
from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings

from ingest import keeping, pool_status, services

log = structlog.get_logger()


def _now() -> datetime:
    return datetime.now(UTC)


@worker_ready.connect
def _discover_at_start(**_kwargs: Any) -> None:
    """The configuration may be another than in the run before."""
    discover_clusters.apply_async(expires=60)


@shared_task(name="ingest.start_syncs", ignore_result=True)
def start_syncs() -> None:
    """Begin with each cluster that nobody reads at this moment."""
    try:
        for cluster_id in services.clusters_to_sync():
            _queue_sync(cluster_id)
    except services.DATABASE_ERRORS as error:
        log.warning("the database cannot be reached", error=str(error))


@shared_task(name="ingest.sync_cluster", ignore_result=True, time_limit=1800)
def sync_cluster(cluster_id: int) -> None:
    """One window of one cluster. The next one is queued at its end, so that windows follow each other at once."""
    seconds = settings.DRADASH.watch_window_seconds
    if services.follow_cluster(cluster_id, seconds=seconds, clock=_now):
        _queue_sync(cluster_id)


def _queue_sync(cluster_id: int) -> None:
    expires = 2 * settings.DRADASH.watch_window_seconds
    sync_cluster.apply_async((cluster_id,), expires=expires)


@shared_task(name="ingest.discover_clusters", ignore_result=True)
def discover_clusters() -> None:
    """Bring the list of clusters up to date, then ask each what it serves, each in a task of its own."""
    for cluster_id in services.ensure_clusters(settings.DRADASH, now=_now()):
        discover_cluster.apply_async((cluster_id,), expires=60)


@shared_task(name="ingest.discover_cluster", ignore_result=True, time_limit=300)
def discover_cluster(cluster_id: int) -> None:
    """Ask one cluster what it serves and lets us do."""
    services.rediscover_cluster(cluster_id, clock=_now)


@shared_task(name="objects.keep_storage", ignore_result=True, time_limit=3600)
def keep_storage() -> None:
    """Partitions, rollups, checkpoints, dictionaries, retention."""
    keeping.keep_storage(settings.DRADASH, now=_now())


@shared_task(name="pools.request_pool_status", ignore_result=True)
def request_pool_status() -> None:
    """Look in each cluster where we may whether a driver is due to be asked about."""
    for cluster_id in pool_status.clusters_to_ask():
        request_pool_status_of_cluster.apply_async((cluster_id,), expires=30)


@shared_task(name="pools.request_pool_status_of_cluster", ignore_result=True, time_limit=600)
def request_pool_status_of_cluster(cluster_id: int) -> None:
    """One round of pool status requests."""
    pool_status.request_pool_status(cluster_id, clock=_now)
