"""One pass over one cluster: readers of all kinds side by side, one writer, until the window is over."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

import psycopg
import redis
import structlog
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, transaction
from django.db import connection as database
from django.db.models import Exists, OuterRef, Q

from clusters import services as clusters
from clusters.choices import ReadState
from clusters.models import Cluster, ClusterKind
from clusters.services import KindFailure, Overtaken
from ingest import connections, leases
from ingest.channel import Channel
from ingest.configured import Configuration, configured_clusters
from ingest.database import give_back
from ingest.passes import Pass, reach_of
from ingest.reading import Reader, Round
from ingest.stopping import is_stopping, stopped_by
from ingest.writing import Tally, Writer
from kube.capabilities import Capabilities
from kube.connect import Connection, connect
from kube.discovery import discover, read_identity
from kube.failures import KubeFailure
from kube.kinds import KINDS
from objects.services.partitions import LOG, ensure_partitions
from objects.services.staging import open_cursor
from objects.services.versions import closed_versions
from pools.services import derive
from pools.services.rollups import HOURS, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dra.values import Release
    from kube.kinds import ServedResource

log = structlog.get_logger()

# Prefix of the lease by which one task at a time reads a cluster.
_SYNC_LEASE: Final = "sync "
# A worker that is killed is replaced this long after the end of its window at the latest, and at once under its own name.
_LEASE_BEYOND_WINDOW_SECONDS: Final = 15.0
# API servers send no bookmark in shorter windows.
SHORTEST_WINDOW_SECONDS: Final = 5.0
# Failures that say nothing of the connection.
_OF_ONE_KIND: Final = frozenset({"forbidden", "not_found", "throttled"})
_CHANNEL_BYTES: Final = 16 << 20
# A pass that was over so soon had nothing to read.
_SHORTEST_PASS_SECONDS: Final = 1.0
DATABASE_ERRORS: Final = (OperationalError, InterfaceError, psycopg.OperationalError)
_DATABASE_AWAY: Final = "ingest.database_away_at"


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one pass did, by kind; `is_busy` when another worker was at it."""

    is_busy: bool = False
    tallies: Mapping[str, Tally] | None = None
    failure: str = ""

    @property
    def has_changes(self) -> bool:
        """Whether anything of the cluster was news."""
        return any(tally.changes for tally in (self.tallies or {}).values())


def follow_cluster(
    cluster_id: int, *, seconds: float, longest: float, clock: Callable[[], datetime]
) -> float | None:
    """One pass that outlives a database that is away; how long the next one should be, None if none should follow at once.

    Where something changes the next window is short, since each end of a window tells how fresh all is that did not change; where
    nothing does, it is twice as long, up to `longest`. A change waits for no end of a window. None follows at once on a pass that
    was over at once, having nothing to read: nobody runs in circles.
    """
    began = time.monotonic()
    try:
        result = sync_cluster(cluster_id, seconds=seconds, clock=clock)
    except DATABASE_ERRORS as error:
        # What was not stored is read again: cursors move only with their data.
        why = str(error).partition("\n")[0]
        log.warning("the database cannot be used", cluster=cluster_id, why=why)
        _note_database_away(now=clock())
        database.close()
        return None
    was_short = time.monotonic() - began < _SHORTEST_PASS_SECONDS
    if was_short or result.is_busy or result.failure or is_stopping():
        return None
    return next_window_seconds(seconds, has_changes=result.has_changes, longest=longest)


def next_window_seconds(seconds: float, *, has_changes: bool, longest: float) -> float:
    """How long the window after one of `seconds` is."""
    return min(SHORTEST_WINDOW_SECONDS if has_changes else 2 * seconds, longest)


def sync_cluster(cluster_id: int, *, seconds: float, clock: Callable[[], datetime]) -> SyncResult:
    """Follow a cluster for one window; at once over when it is paused, or when another worker has it."""
    cluster = Cluster.objects.get(pk=cluster_id)
    if not cluster.is_watched or cluster.is_paused:
        return SyncResult()
    lease_seconds = seconds + _LEASE_BEYOND_WINDOW_SECONDS
    with leases.holder().held(f"{_SYNC_LEASE}{cluster_id}", seconds=lease_seconds) as is_ours:
        if not is_ours:
            return SyncResult(is_busy=True)
        try:
            return _sync(cluster, seconds=seconds, clock=clock)
        except Overtaken as overtaken:
            # It took the lease that had run out.
            log.warning("another worker reads this cluster", kind=str(overtaken))
            return SyncResult(is_busy=True)


def clusters_in_sync() -> set[int]:
    """Clusters that a worker is reading at this moment."""
    return {int(name) for name in leases.held_names(_SYNC_LEASE)}


def _sync(cluster: Cluster, *, seconds: float, clock: Callable[[], datetime]) -> SyncResult:
    now = clock()
    ensure_partitions([*LOG, *closed_versions(), *SAMPLES, *HOURS], now=now)
    try:
        connection, is_new = connections.connection_to(cluster)
        recognition = _Recognition(cluster.pk, connection, clock)
        if is_new:
            recognition.confirm()
        capabilities = capabilities_of(cluster, connection, clock=clock)
    except KubeFailure as failure:
        connections.forget(cluster.pk)
        fail_cluster(cluster.pk, failure, now=clock())
        return SyncResult(failure=failure.message)
    except _AnotherCluster as another:
        return SyncResult(failure=str(another))
    rows = {row.kind: row for row in ClusterKind.objects.filter(cluster=cluster)}
    _note_absence(rows, now=now)
    writer = Writer(
        cluster_id=cluster.pk,
        clock=clock,
        served=frozenset(capabilities.resources),
        release=capabilities.release,
        cursors={kind: row.resource_version for kind, row in rows.items()},
        reading=set(),
        first_reads={kind for kind, row in rows.items() if row.last_synced_at is None},
        outdated=frozenset(kind for kind, row in rows.items() if clusters.is_outdated(row)),
    )
    writer.begin()
    due = _due(writer, rows, capabilities, now=now)
    shared = Round(seconds=seconds, confirm=recognition.confirm)
    readers = _readers(connection, cluster.pk, due, writer.cursors, shared)
    writer.reading |= {reader.kind for reader in readers if not reader.resource_version}
    one = Pass(cluster.pk, writer, readers, clock)
    try:
        one.run()
    except _AnotherCluster as another:
        return SyncResult(tallies=writer.tallies, failure=str(another))
    if one.failure_codes - _OF_ONE_KIND:
        connections.forget(cluster.pk)
    return SyncResult(tallies=writer.tallies)


class _AnotherCluster(Exception):
    """What answers is not the cluster whose data we have. It is read from its beginning, into a row of its own."""

    def __init__(self) -> None:
        super().__init__("Another cluster answers under this name; it is read from its beginning.")


class _Recognition:
    """Finds out, once in a pass and from any of its threads, whether it is still the same cluster that answers.

    A cluster that is made anew cuts connections and knows nothing of our cursors. So it is enough to ask whenever a connection is made,
    and before everything of a kind is read.
    """

    def __init__(
        self, cluster_id: int, connection: Connection, clock: Callable[[], datetime]
    ) -> None:
        self._cluster_id = cluster_id
        self._connection = connection
        self._clock = clock
        self._lock = threading.Lock()
        self._is_confirmed = False

    def confirm(self) -> None:
        """Raises _AnotherCluster; KubeFailure when nobody answers."""
        with self._lock:
            if self._is_confirmed:
                return
            give_back()
            with stopped_by(self._connection.interrupt):
                identity = read_identity(self._connection)
            if not clusters.recognise(self._cluster_id, identity, now=self._clock()):
                log.warning("another cluster answers", cluster=self._cluster_id)
                connections.forget(self._cluster_id)
                raise _AnotherCluster
            give_back()
            self._is_confirmed = True


def capabilities_of(
    cluster: Cluster, connection: Connection, *, clock: Callable[[], datetime]
) -> Capabilities:
    """What was discovered; discovered now, when it never was."""
    if cluster.capabilities is not None:
        return Capabilities.from_json(cluster.capabilities)
    return discover_cluster(cluster, connection, clock=clock)


def discover_cluster(
    cluster: Cluster, connection: Connection, *, clock: Callable[[], datetime]
) -> Capabilities:
    """Ask what the cluster serves and lets us do, and store it; figures that rest on it are derived anew."""
    stored = cluster.capabilities
    previous = None if stored is None else Capabilities.from_json(stored)
    give_back()
    with stopped_by(connection.interrupt):
        capabilities = discover(connection, previous=previous)
    with transaction.atomic():
        clusters.record_discovery(cluster.pk, capabilities, now=clock())
        if previous is not None and _basis_of_figures(previous) != _basis_of_figures(capabilities):
            with open_cursor() as cursor:
                derive.mark_all_dirty(cursor, cluster.pk)
    return capabilities


def _basis_of_figures(capabilities: Capabilities) -> tuple[Release | None, frozenset[str]]:
    return capabilities.release, frozenset(capabilities.resources)


def fail_cluster(cluster_id: int, failure: KubeFailure, *, now: datetime) -> None:
    """Nothing of the cluster can be read."""
    said = KindFailure(failure.code, failure.statement, failure.retry_after_seconds)
    with transaction.atomic():
        reach = reach_of(failure.code)
        clusters.record_reach(cluster_id, reach, failure=failure.statement, now=now)
        rows = ClusterKind.objects.select_for_update().filter(cluster_id=cluster_id)
        for row in rows.exclude(state=ReadState.NOT_SERVED).order_by("kind"):
            if row.retry_at is None or row.retry_at <= now:
                clusters.record_failure(row, said, now=now)


def _note_absence(rows: Mapping[str, ClusterKind], *, now: datetime) -> None:
    """Open a gap for each kind that nobody has read for longer than an API server is sure to keep events."""
    absent = [row for row in rows.values() if clusters.is_left_unread(row, now=now)]
    away_at = _database_away_at() if absent else None
    with transaction.atomic():
        for row in absent:
            reason = _absence_reason(row, away_at=away_at)
            clusters.open_gap(row, reason=reason, failure=None, now=now)


def _absence_reason(row: ClusterKind, *, away_at: datetime | None) -> str:
    """Why nobody read it for a while: the database was away in that time, or else the worker itself."""
    if away_at is None or row.last_synced_at is None or away_at <= row.last_synced_at:
        return clusters.WORKER_AWAY
    return clusters.DATABASE_AWAY


def _due(
    writer: Writer,
    rows: Mapping[str, ClusterKind],
    capabilities: Capabilities,
    *,
    now: datetime,
) -> list[ServedResource]:
    """The kinds to read in this pass: served, and not waiting after a failure."""
    due = []
    for kind, row in sorted(rows.items()):
        served = capabilities.resources.get(kind)
        if served is None and row.state != ReadState.NOT_SERVED:
            writer.set_not_served(kind)
        elif served and (row.retry_at is None or row.retry_at <= now):
            due.append(served)
    return due


def _readers(
    connection: Connection,
    cluster_id: int,
    due: list[ServedResource],
    cursors: Mapping[str, str],
    shared: Round,
) -> list[Reader]:
    channel = Channel(most_bytes=_CHANNEL_BYTES)
    return [
        Reader(
            connection,
            served,
            KINDS[served.kind].kept,
            cluster_id,
            cursors[served.kind],
            channel,
            shared,
        )
        for served in due
    ]


def ensure_clusters(configuration: Configuration, *, now: datetime) -> list[int]:
    """Watch what the configuration means; returns the ids of all watched clusters."""
    wanted = configured_clusters(configuration, known=clusters.watched_by_kubeconfig)
    if wanted is not None:
        clusters.ensure_clusters(wanted, now=now)
    return list(
        Cluster.objects.filter(is_watched=True).order_by("pk").values_list("pk", flat=True)
    )


def clusters_to_sync(*, now: datetime) -> list[int]:
    """Clusters of which something is to be read now, and that nobody reads at this moment."""
    served = ClusterKind.objects.filter(cluster=OuterRef("pk")).exclude(state=ReadState.NOT_SERVED)
    due = served.filter(Q(retry_at__isnull=True) | Q(retry_at__lte=now))
    wanted = Cluster.objects.filter(is_watched=True, is_paused=False).filter(
        Exists(due) | ~Exists(served)
    )
    busy = clusters_in_sync()
    return [pk for pk in wanted.order_by("pk").values_list("pk", flat=True) if pk not in busy]


def rediscover_cluster(cluster_id: int, *, clock: Callable[[], datetime]) -> None:
    """Ask a cluster again what it serves; a failure is its reach, and lowers nothing that is known."""
    cluster = Cluster.objects.get(pk=cluster_id)
    if not cluster.is_watched or cluster.is_paused:
        return
    try:
        with closing(connect(clusters.target_of(cluster))) as connection:
            _Recognition(cluster_id, connection, clock).confirm()
            discover_cluster(cluster, connection, clock=clock)
    except _AnotherCluster:
        # The next round asks it under its new row.
        return
    except KubeFailure as failure:
        clusters.record_reach(
            cluster_id, reach_of(failure.code), failure=failure.statement, now=clock()
        )


def _note_database_away(*, now: datetime) -> None:
    """Remember, outside the database, when it was away last, so that a gap of that time can say why."""
    with suppress(OSError, redis.RedisError):
        cache.set(_DATABASE_AWAY, now.isoformat(), timeout=86_400)


def _database_away_at() -> datetime | None:
    """When the database was found to be away last, whoever found it."""
    with suppress(OSError, redis.RedisError):
        if found := cache.get(_DATABASE_AWAY):
            return datetime.fromisoformat(found)
    return None
