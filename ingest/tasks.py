"""Celery's side of the collection: when what is run. The clock is read here and nowhere below."""

from __future__ import annotations

import os
import resource
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from celery import shared_task
from celery.signals import worker_init, worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings

from ingest import keeping, leases, pool_status, services, stopping

log = structlog.get_logger()

_DISCOVERIES_APART_SECONDS: Final = 0.4
_DISCOVERIES_WITHIN_SECONDS: Final = 50.0
_END_SECONDS: Final = 3.0
_FILES: Final = 65_536
# Set while the database cannot be reached.
_is_away: Final = threading.Event()
_room: Final = threading.BoundedSemaphore(settings.WORKER_CLUSTERS)


def _now() -> datetime:
    return datetime.now(UTC)


@worker_init.connect
def _open_many_files(**_kwargs: Any) -> None:
    """Each cluster takes a socket for each kind, and many systems allow 1,024 files unless more are asked for."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


@worker_init.connect
def _take_place(sender: Any, **_kwargs: Any) -> None:
    """Whatever a killed worker of this name was at may be taken up at once."""
    with suppress(*services.DATABASE_ERRORS):
        leases.begin_as(str(sender))


@worker_ready.connect
def _discover_at_start(**_kwargs: Any) -> None:
    """The configuration may be another than in the run before."""
    discover_clusters.apply_async(expires=60)


@worker_shutting_down.connect
def _stop(**_kwargs: Any) -> None:
    """Windows may be long: a worker that is asked to end does not wait for them.

    In a thread, because a signal may come while this one holds any lock.
    """
    threading.Thread(target=_end, name="end", daemon=True).start()


def _end() -> None:
    """What has not ended after some seconds waits for a server that hangs: it loses no more than by a kill, which is nothing."""
    stopping.stop_all()
    time.sleep(_END_SECONDS)
    leases.holder().end_all()
    os._exit(0)


@worker_shutdown.connect
def _give_back_leases(**_kwargs: Any) -> None:
    """Whatever had not ended by now: another worker takes it up at once."""
    leases.holder().end_all()


@shared_task(name="ingest.start_syncs", ignore_result=True)
def start_syncs() -> None:
    """Begin with each cluster that is due and that nobody reads at this moment."""
    try:
        due = services.clusters_to_sync(now=_now())
    except services.DATABASE_ERRORS as error:
        # Asked every two seconds, and said once.
        if not _is_away.is_set():
            log.warning("the database cannot be reached", error=str(error))
        _is_away.set()
        return
    if _is_away.is_set():
        log.warning("the database can be reached again")
        _is_away.clear()
    for cluster_id in due:
        _queue_sync(cluster_id, services.SHORTEST_WINDOW_SECONDS)


@shared_task(name="ingest.sync_cluster", ignore_result=True)
def sync_cluster(cluster_id: int, seconds: float) -> None:
    """One window of one cluster. The next one is queued at its end, so that windows follow each other at once."""
    if not _room.acquire(blocking=False):
        # Other work needs threads too. A worker with room takes it, or this one when it has some.
        log.warning("more clusters than this worker can follow", most=settings.WORKER_CLUSTERS)
        return
    longest = float(settings.DRADASH.watch_window_seconds)
    try:
        following = services.follow_cluster(
            cluster_id, seconds=seconds, longest=longest, clock=_now
        )
    finally:
        _room.release()
    if following is not None:
        _queue_sync(cluster_id, following)


def _queue_sync(cluster_id: int, seconds: float) -> None:
    sync_cluster.apply_async((cluster_id, seconds), expires=30)


@shared_task(name="ingest.discover_clusters", ignore_result=True)
def discover_clusters() -> None:
    """Bring the list of clusters up to date, then ask each what it serves, each in a task of its own.

    One after the other, so that asking a hundred of them holds up none that changes meanwhile.
    """
    for number, cluster_id in enumerate(services.ensure_clusters(settings.DRADASH, now=_now())):
        countdown = min(number * _DISCOVERIES_APART_SECONDS, _DISCOVERIES_WITHIN_SECONDS)
        discover_cluster.apply_async((cluster_id,), countdown=countdown, expires=countdown + 60)


@shared_task(name="ingest.discover_cluster", ignore_result=True)
def discover_cluster(cluster_id: int) -> None:
    """Ask one cluster what it serves and lets us do."""
    services.rediscover_cluster(cluster_id, clock=_now)


@shared_task(name="objects.keep_storage", ignore_result=True)
def keep_storage() -> None:
    """Partitions, rollups, checkpoints, dictionaries, retention."""
    with leases.holder().held("keep storage") as is_ours:
        if is_ours:
            keeping.keep_storage(settings.DRADASH, now=_now())


@shared_task(name="pools.request_pool_status", ignore_result=True)
def request_pool_status() -> None:
    """Look in each cluster where we may whether a driver is due to be asked about."""
    for cluster_id in pool_status.clusters_to_ask():
        request_pool_status_of_cluster.apply_async((cluster_id,), expires=30)


@shared_task(name="pools.request_pool_status_of_cluster", ignore_result=True)
def request_pool_status_of_cluster(cluster_id: int) -> None:
    """One round of pool status requests."""
    pool_status.request_pool_status(cluster_id, clock=_now)
