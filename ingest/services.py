"""One pass over one cluster: readers of all kinds side by side, one writer, until the window is over."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psycopg
import redis
import structlog
from django.core.cache import cache
from django.db import (
    DEFAULT_DB_ALIAS,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)
from django.db.utils import Error as DatabaseError

from clusters import services as clusters
from clusters.choices import Reach, ReadState
from clusters.models import Cluster, ClusterKind
from clusters.services import KindFailure, Overtaken
from dra.values import Release
from ingest.channel import Channel
from ingest.configured import Configuration, configured_clusters
from ingest.messages import (
    Changed,
    Counted,
    Message,
    ReaderCrashed,
    ReaderEnded,
    ReadFailed,
    ReadingDone,
    WindowEnded,
)
from ingest.reading import Reader, Round
from ingest.writing import Tally, Writer, ends_batch
from kube.connect import Connection, connect
from kube.discovery import Capabilities, discover
from kube.failures import KubeFailure
from objects.services.partitions import LOG, ensure_partitions
from objects.services.staging import open_cursor
from pools.services import derive
from pools.services.rollups import HOURS, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from kube.kinds import ServedResource

log = structlog.get_logger()

# First number of the advisory locks by which one cluster is read by one task at a time.
SYNC_LOCK: Final = 0x7379_6E63
_CHANNEL_BYTES: Final = 16 << 20
_BATCH_BYTES: Final = 8 << 20
_BATCH_MESSAGES: Final = 500
_BATCH_SECONDS: Final = 0.25
_QUIET_SECONDS: Final = 0.03
_IDLE_SECONDS: Final = 0.5
_JOIN_SECONDS: Final = 30.0
# A pass that was over so soon had nothing to read.
_SHORTEST_PASS_SECONDS: Final = 1.0
DATABASE_ERRORS: Final = (OperationalError, InterfaceError, psycopg.OperationalError)
_DATABASE_AWAY: Final = "ingest.database_away_since"


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one pass did, by kind; `is_busy` when another worker was at it."""

    is_busy: bool = False
    tallies: Mapping[str, Tally] | None = None
    failure: str = ""


def follow_cluster(cluster_id: int, *, seconds: float, clock: Callable[[], datetime]) -> bool:
    """One pass that outlives a database that is away; whether the next one should follow at once.

    Not when this one was over at once, having nothing to read: nobody runs in circles.
    """
    began = time.monotonic()
    try:
        result = sync_cluster(cluster_id, seconds=seconds, clock=clock)
    except DATABASE_ERRORS as error:
        # What was not stored is read again: cursors move only with their data.
        why = str(error).partition("\n")[0]
        log.warning("the database cannot be used", cluster=cluster_id, why=why)
        _note_database_away(now=clock())
        connections[DEFAULT_DB_ALIAS].close()
        return False
    is_worth_another = time.monotonic() - began >= _SHORTEST_PASS_SECONDS
    return is_worth_another and not result.is_busy and not result.failure


def sync_cluster(cluster_id: int, *, seconds: float, clock: Callable[[], datetime]) -> SyncResult:
    """Follow a cluster for one window; at once over when it is paused, or when another worker has it."""
    cluster = Cluster.objects.get(pk=cluster_id)
    if not cluster.is_watched or cluster.is_paused:
        return SyncResult()
    with advisory_lock(SYNC_LOCK, cluster_id) as is_ours:
        if not is_ours:
            return SyncResult(is_busy=True)
        return _sync(cluster, seconds=seconds, clock=clock)


@contextmanager
def advisory_lock(what: int, cluster_id: int) -> Iterator[bool]:
    """Whether it is ours. Held on a connection of its own: it outlives every transaction, and dies with this process."""
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [what, cluster_id & 0x7FFF_FFFF])
            (is_ours,) = cursor.fetchone()
        yield is_ours
    finally:
        with suppress(DatabaseError):
            own.close()


def clusters_in_sync() -> set[int]:
    """Clusters that a worker is reading at this moment."""
    with open_cursor() as cursor:
        cursor.execute(
            "SELECT objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s::int8::oid"
            " AND objsubid = 2 AND granted AND database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())",
            (SYNC_LOCK,),
        )
        return {number for (number,) in cursor.fetchall()}


def _sync(cluster: Cluster, *, seconds: float, clock: Callable[[], datetime]) -> SyncResult:
    now = clock()
    ensure_partitions([*LOG, *SAMPLES, *HOURS], now=now)
    try:
        connection = connect(clusters.target_of(cluster))
        capabilities = capabilities_of(cluster, connection, clock=clock)
    except KubeFailure as failure:
        fail_cluster(cluster.pk, failure, now=clock())
        return SyncResult(failure=failure.message)
    rows = {row.kind: row for row in ClusterKind.objects.filter(cluster=cluster)}
    _note_absence(rows, now=now)
    writer = Writer(
        cluster_id=cluster.pk,
        clock=clock,
        served=frozenset(capabilities.resources),
        release=release_of(capabilities),
        cursors={kind: row.resource_version for kind, row in rows.items()},
        reading=set(),
        first_reads={kind for kind, row in rows.items() if row.last_synced_at is None},
    )
    writer.begin()
    due = _due(writer, rows, capabilities, now=now)
    readers = _readers(connection, cluster.pk, due, writer.cursors, seconds=seconds)
    writer.reading |= {reader.kind for reader in readers if not reader.resource_version}
    _Pass(cluster.pk, writer, readers, clock).run()
    return SyncResult(tallies=writer.tallies)


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
    found = discover(connection, previous=previous)
    with transaction.atomic():
        clusters.record_discovery(cluster.pk, found, now=clock())
        if previous is not None and _bearing(previous) != _bearing(found):
            with open_cursor() as cursor:
                derive.mark_all_dirty(cursor, cluster.pk)
    return found


def _bearing(capabilities: Capabilities) -> tuple[Release | None, frozenset[str]]:
    return release_of(capabilities), frozenset(capabilities.resources)


def release_of(capabilities: Capabilities) -> Release | None:
    """The minor release, where the server says it."""
    version = capabilities.server_version
    if version.major is None or version.minor is None:
        return None
    return Release(version.major, version.minor)


def fail_cluster(cluster_id: int, failure: KubeFailure, *, now: datetime) -> None:
    """Nothing of the cluster can be read."""
    said = KindFailure(failure.code, failure.message, failure.retry_after_seconds)
    with transaction.atomic():
        clusters.record_reach(cluster_id, _reach(failure.code), message=failure.message, now=now)
        rows = ClusterKind.objects.select_for_update().filter(cluster_id=cluster_id)
        for row in rows.exclude(state=ReadState.NOT_SERVED).order_by("kind"):
            if row.retry_at is None or row.retry_at <= now:
                clusters.record_failure(row, said, now=now)


def _reach(code: str) -> Reach:
    return Reach(code) if code in Reach.values else Reach.UNREACHABLE


def _absence_reason() -> str:
    """Why nobody read for a while: the database was away, or else the worker itself."""
    was_away = None
    with suppress(OSError, redis.RedisError):
        was_away = cache.get(_DATABASE_AWAY)
        if was_away is not None:
            cache.delete(_DATABASE_AWAY)
    return clusters.WORKER_AWAY if was_away is None else clusters.DATABASE_AWAY


def _note_absence(rows: Mapping[str, ClusterKind], *, now: datetime) -> None:
    """Nobody has read for longer than an API server is sure to keep events: what was seen late is said so."""
    reason = _absence_reason()
    for row in rows.values():
        is_followed = row.resource_version and row.state == ReadState.WATCHING
        if not is_followed or row.last_synced_at is None:
            continue
        if now - row.last_synced_at > clusters.GUARANTEED_EVENTS:
            clusters.open_gap(row, reason=reason, message="", now=now)


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
        if served is None:
            writer.set_not_served(kind)
        elif row.retry_at is None or row.retry_at <= now:
            due.append(served)
    return due


def _readers(
    connection: Connection,
    cluster_id: int,
    due: list[ServedResource],
    cursors: Mapping[str, str],
    *,
    seconds: float,
) -> list[Reader]:
    channel = Channel(most_bytes=_CHANNEL_BYTES)
    shared = Round(seconds=seconds)
    return [
        Reader(connection, served, cluster_id, cursors[served.kind], channel, shared)
        for served in due
    ]


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Values of the core hold no cycles, and looking for some takes a fifth of the time of a first read."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Pass:
    """Takes messages until every reader has ended, and has each batch stored."""

    def __init__(
        self,
        cluster_id: int,
        writer: Writer,
        readers: list[Reader],
        clock: Callable[[], datetime],
    ) -> None:
        self._cluster_id = cluster_id
        self._writer = writer
        self._clock = clock
        self._running = {reader.kind for reader in readers}
        # Kinds whose window ended well, and those of which anything could be read.
        self._current: set[str] = set()
        self._answered: set[str] = set()
        self._reach: KindFailure | None = None
        self._readers = readers
        self._threads = [
            threading.Thread(target=reader.run, name=f"read {reader.kind}", daemon=True)
            for reader in readers
        ]

    def run(self) -> None:
        if not self._readers:
            while self._writer.derive_some():
                pass
            return
        for thread in self._threads:
            thread.start()
        try:
            with _rare_collections():
                self._take_all()
            self._writer.end_windows(self._current)
            while self._writer.derive_some():
                pass
            self._record_reach()
        except Overtaken as overtaken:
            log.warning("another worker reads this cluster", kind=str(overtaken))
        except psycopg.errors.DiskFull as error:
            self._record_disk_full(error)
        finally:
            self._readers[0].channel.close()
            for thread in self._threads:
                thread.join(_JOIN_SECONDS)

    def _take_all(self) -> None:
        channel = self._readers[0].channel
        while self._running:
            batch, last = self._collect(channel)
            if batch:
                self._writer.store(batch)
            if last is not None:
                self._note(last)
            if (not batch and last is None) or isinstance(last, Counted):
                self._writer.derive_some()
            self._readers[0].round.is_writer_busy = self._writer.may_derive

    def _collect(self, channel: Channel) -> tuple[list[Message], Message | None]:
        """What belongs into one transaction, and a message that ended the collecting without being stored."""
        batch: list[Message] = []
        size = 0
        wait = 0.0 if self._writer.may_derive else _IDLE_SECONDS
        deadline = time.monotonic() + _BATCH_SECONDS
        while (message := channel.get(timeout=wait)) is not None:
            if isinstance(message, WindowEnded | ReaderCrashed | ReaderEnded):
                return batch, message
            batch.append(message)
            size += message.size if isinstance(message, Changed) else 0
            if len(batch) == 1:
                deadline = time.monotonic() + _BATCH_SECONDS
            is_full = size >= _BATCH_BYTES or len(batch) >= _BATCH_MESSAGES
            if ends_batch(message):
                return batch, message
            if is_full or time.monotonic() >= deadline:
                break
            wait = _QUIET_SECONDS
        return batch, None

    def _note(self, message: Message) -> None:
        if isinstance(message, ReaderEnded):
            self._running.discard(message.kind)
        elif isinstance(message, WindowEnded):
            self._current.add(message.kind)
            self._answered.add(message.kind)
        elif isinstance(message, ReadingDone):
            self._answered.add(message.kind)
        elif isinstance(message, ReadFailed):
            self._current.discard(message.kind)
            self._answered.discard(message.kind)
            self._reach = message.failure
        elif isinstance(message, ReaderCrashed):
            raise message.error

    def _record_reach(self) -> None:
        """The cluster is reachable when anything of it could be read."""
        if self._reach is None or self._answered:
            clusters.record_reach(self._cluster_id, Reach.OK, message="", now=self._clock())
        else:
            clusters.record_reach(
                self._cluster_id,
                _reach(self._reach.code),
                message=self._reach.message,
                now=self._clock(),
            )

    def _record_disk_full(self, error: psycopg.errors.DiskFull) -> None:
        """Say so where there is room for it; the cursors have not moved, so nothing is lost that the cluster still tells."""
        message = "The database has no room left to store changes. Free some space; reading goes on by itself."
        log.error("disk full", cluster=self._cluster_id, error=str(error))
        said = KindFailure(clusters.DISK_FULL, message)
        now = self._clock()
        with suppress(psycopg.OperationalError, DatabaseError), transaction.atomic():
            rows = ClusterKind.objects.select_for_update().filter(
                cluster_id=self._cluster_id, kind__in=[reader.kind for reader in self._readers]
            )
            for row in rows.order_by("kind"):
                clusters.record_failure(row, said, now=now)


def ensure_clusters(configuration: Configuration, *, now: datetime) -> list[int]:
    """Watch what the configuration means; returns the ids of all watched clusters."""
    wanted = configured_clusters(configuration)
    if wanted is not None:
        clusters.ensure_clusters(wanted, now=now)
    return list(
        Cluster.objects.filter(is_watched=True).order_by("pk").values_list("pk", flat=True)
    )


def clusters_to_sync() -> list[int]:
    """Clusters that should be read and that nobody reads at this moment."""
    wanted = Cluster.objects.filter(is_watched=True, is_paused=False).order_by("pk")
    busy = clusters_in_sync()
    return [pk for pk in wanted.values_list("pk", flat=True) if pk & 0x7FFF_FFFF not in busy]


def rediscover_cluster(cluster_id: int, *, clock: Callable[[], datetime]) -> None:
    """Ask a cluster again what it serves; a failure is its reach, and lowers nothing that is known."""
    cluster = Cluster.objects.get(pk=cluster_id)
    if cluster.is_paused:
        return
    try:
        discover_cluster(cluster, connect(clusters.target_of(cluster)), clock=clock)
    except KubeFailure as failure:
        clusters.record_reach(
            cluster_id, _reach(failure.code), message=failure.message, now=clock()
        )


def _note_database_away(*, now: datetime) -> None:
    """Remember, outside the database, since when it is away, so that the gap can say why."""
    with suppress(OSError, redis.RedisError):
        cache.add(_DATABASE_AWAY, now.isoformat(), timeout=86_400)
