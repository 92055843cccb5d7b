"""Writes about clusters: which are watched, what was discovered, how far each kind is read, what failed, and gaps."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction
from django.db.models import DateTimeField, Q, Value
from django.db.models.functions import Greatest

from clusters import registry
from clusters.choices import CLUSTER, PoolStatusMode, Reach, ReadState, Source
from clusters.models import Cluster, ClusterKind, Gap
from dra.catalogue import Statement
from dra.shapes import statement_shape
from kube.identity import Identity
from kube.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kube.capabilities import Capabilities

# An API server keeps at least this much of the latest events, so a shorter absence loses nothing.
GUARANTEED_EVENTS: Final = timedelta(seconds=75)
_LONGEST_BACKOFF_SECONDS: Final = 60.0

API_UNREACHABLE: Final = "api_unreachable"
WORKER_AWAY: Final = "worker_away"
RELIST: Final = "relist"
DATABASE_AWAY: Final = "database_away"
FORBIDDEN: Final = "forbidden"
DISK_FULL: Final = "disk_full"
RESTORED: Final = "restored"
PAUSED: Final = "paused"
NOT_WATCHED: Final = "not_watched"


@dataclass(frozen=True, slots=True)
class WatchedCluster:
    """A cluster that the configuration names."""

    name: str
    source: Source
    target: Target


def ensure_clusters(wanted: Sequence[WatchedCluster], *, now: datetime) -> list[Cluster]:
    """Have a row for each cluster of the configuration; the others are no longer watched, and stay readable."""
    with transaction.atomic():
        rows = [_ensure_cluster(each, now=now) for each in wanted]
        names = [each.name for each in wanted]
        dropped = Cluster.objects.filter(is_watched=True).exclude(name__in=names)
        ids = list(dropped.values_list("pk", flat=True))
        Cluster.objects.filter(pk__in=ids).update(is_watched=False)
        raise_revisions(ids, [CLUSTER])
    return rows


def watched_by_kubeconfig(path: str | None) -> WatchedCluster | None:
    """The cluster that is watched by the current context of this file, as it was when the file could be read; the newest, if several are."""
    rows = Cluster.objects.filter(
        source=Source.KUBECONFIG, kubeconfig_path=path or "", is_watched=True
    ).exclude(context="")
    row = rows.order_by("-pk").first()
    return WatchedCluster(row.name, Source.KUBECONFIG, target_of(row)) if row else None


def _ensure_cluster(wanted: WatchedCluster, *, now: datetime) -> Cluster:
    fields = {
        "source": wanted.source,
        "kubeconfig_path": wanted.target.path or "",
        "context": wanted.target.context or "",
        "url": wanted.target.url or "",
        "is_watched": True,
    }
    cluster, is_new = Cluster.objects.get_or_create(
        name=wanted.name, replaced_at=None, defaults={**fields, "created_at": now}
    )
    if not is_new and any(getattr(cluster, name) != value for name, value in fields.items()):
        _set(cluster.pk, **fields)
        cluster.refresh_from_db()
    _ensure_kinds(cluster)
    return cluster


def _ensure_kinds(cluster: Cluster) -> None:
    ClusterKind.objects.bulk_create(
        [
            ClusterKind(cluster=cluster, kind=entry.name, record_version=entry.record_version)
            for entry in registry.watched_kinds()
        ],
        ignore_conflicts=True,
    )


def recognise(cluster_id: int, identity: Identity, *, now: datetime) -> bool:
    """Whether this is the cluster whose data we have; if it is another one, that begins anew under the name.

    What is known of the earlier one stays readable; it says since when another cluster has its name, and is not recognised any more.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster_id)
        if row.replaced_at is not None:
            return False
        before = Identity(row.kube_system_uid, row.authority, row.server)
        if row.server and identity.is_another_than(before):
            _put_aside(row, identity, now=now)
            return False
        joined = identity.joined_with(before)
        if joined != before:
            _note_identity(row.pk, joined)
    return True


def _put_aside(row: Cluster, identity: Identity, *, now: datetime) -> None:
    Cluster.objects.filter(pk=row.pk).update(replaced_at=now, is_watched=False)
    successor = Cluster.objects.create(
        name=row.name,
        source=row.source,
        kubeconfig_path=row.kubeconfig_path,
        context=row.context,
        url=row.url,
        is_watched=row.is_watched,
        is_paused=row.is_paused,
        pool_status_mode=row.pool_status_mode,
        created_at=now,
        replaces=row,
    )
    _note_identity(successor.pk, identity)
    _ensure_kinds(successor)
    raise_revisions([row.pk, successor.pk], [CLUSTER])


def _note_identity(cluster_id: int, identity: Identity) -> None:
    Cluster.objects.filter(pk=cluster_id).update(
        kube_system_uid=identity.uid, authority=identity.authority, server=identity.server
    )


def target_of(cluster: Cluster) -> Target:
    """How the cluster is reached."""
    if cluster.source == Source.SIMULATED:
        return Target("url", url=cluster.url)
    if cluster.source == Source.IN_CLUSTER:
        return Target("in_cluster")
    return Target(
        "kubeconfig",
        path=cluster.kubeconfig_path or None,
        context=cluster.context or None,
    )


def pause_cluster(cluster_id: int) -> None:
    """Stop reading a cluster; the window that is open ends by itself."""
    _set(cluster_id, is_paused=True)


def resume_cluster(cluster_id: int, *, now: datetime) -> None:
    """Read a paused cluster again; what was missed meanwhile was missed because of the pause."""
    with transaction.atomic():
        # The cluster before its revision, as whoever else writes both.
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster_id)
        note_unread(cluster_id, now=now)
        _set(cluster_id, is_paused=False)


def note_unread(cluster_id: int, *, now: datetime) -> None:
    """Open a gap for what is left unread on purpose: of a cluster that is paused, or that is no longer watched."""
    cluster = Cluster.objects.get(pk=cluster_id)
    if cluster.is_watched and not cluster.is_paused:
        return
    reason = PAUSED if cluster.is_watched else NOT_WATCHED
    with transaction.atomic():
        for row in ClusterKind.objects.filter(cluster_id=cluster_id).order_by("kind"):
            if is_left_unread(row, now=now):
                open_gap(row, reason=reason, failure=None, now=now)


def set_pool_status_mode(cluster_id: int, mode: PoolStatusMode) -> None:
    """Switch the making of pool status requests on, off, or back to automatic."""
    _set(cluster_id, pool_status_mode=mode)


def _set(cluster_id: int, **fields: Any) -> None:
    differing = Q()
    for name, value in fields.items():
        differing |= ~Q(**{name: value})
    with raising_revisions(cluster_id) as subjects:
        if Cluster.objects.filter(differing, pk=cluster_id).update(**fields):
            subjects.add(CLUSTER)


def record_discovery(cluster_id: int, capabilities: Capabilities, *, now: datetime) -> bool:
    """Store what a cluster serves and lets us do; whether anything about it is new."""
    fields = {
        "capabilities": capabilities.to_json(),
        "server_version": capabilities.server_version.git_version,
    }
    before = Cluster.objects.filter(pk=cluster_id).values(*fields).get()
    is_news = bool(before != fields)
    if is_news:
        _set(cluster_id, **fields)
    Cluster.objects.filter(pk=cluster_id).update(discovered_at=now)
    record_reach(cluster_id, Reach.OK, failure=None, now=now)
    return is_news


def record_reach(
    cluster_id: int, reach: Reach | str, *, failure: Statement | None, now: datetime
) -> None:
    """Store how the cluster answered; writes nothing when it answers as before."""
    stored = _stored(failure)
    others = Cluster.objects.filter(pk=cluster_id).exclude(reach=reach, reach_failure=stored)
    with raising_revisions(cluster_id) as subjects:
        if others.update(reach=reach, reach_failure=stored, reach_changed_at=now):
            subjects.add(CLUSTER)


class Overtaken(Exception):
    """Somebody else has moved this cursor, so what was read from it must not be stored."""


def lock_kinds(cluster_id: int, cursors: Mapping[str, str]) -> dict[str, ClusterKind]:
    """Lock the rows of kinds for this transaction, provided each still is where its reader began.

    This alone keeps two workers apart, should a lease run out while its holder still works.
    """
    rows = (
        ClusterKind.objects.select_for_update()
        .filter(cluster_id=cluster_id, kind__in=cursors)
        .order_by("kind")
    )
    locked = {row.kind: row for row in rows}
    for kind, resource_version in cursors.items():
        if kind not in locked or locked[kind].resource_version != resource_version:
            raise Overtaken(kind)
    return locked


def move_cursor(
    row: ClusterKind,
    *,
    resource_version: str,
    has_changed: bool,
    count: int,
    now: datetime,
) -> None:
    """Watch events up to `resource_version` are stored; `count` is how many objects more or fewer there are."""
    fields: dict[str, Any] = {
        "resource_version": resource_version,
        "last_synced_at": now,
    }
    if has_changed:
        fields["last_changed_at"] = now
    if count and row.object_count is not None:
        fields["object_count"] = max(0, row.object_count + count)
    _update(row, fields)


def begin_reading(row: ClusterKind, *, now: datetime) -> None:
    """A full read begins. Shown as such when it is the first; a later one keeps what is known in view."""
    if row.last_synced_at is None:
        _update(row, {"state": ReadState.READING, "read_count": 0, "failure": {}})
        raise_revisions([row.cluster_id], [CLUSTER])


def count_reading(row: ClusterKind, count: int) -> None:
    """How far a first read has come."""
    if row.state == ReadState.READING:
        _update(row, {"read_count": count})
        raise_revisions([row.cluster_id], [CLUSTER])


def end_reading(
    row: ClusterKind,
    *,
    resource_version: str,
    count: int,
    api_version: str,
    has_changed: bool,
    now: datetime,
) -> None:
    """A full read is stored to its end: from here on a watch follows."""
    is_first = row.last_synced_at is None
    has_recovered = row.failures > 0
    fields: dict[str, Any] = {
        "state": ReadState.WATCHING,
        "failure": {},
        "api_version": api_version,
        "resource_version": resource_version,
        "object_count": count,
        "read_count": None,
        "last_synced_at": now,
        "failing_since": None,
        "failures": 0,
        "retry_at": None,
    }
    if has_changed:
        fields["last_changed_at"] = now
    if is_first:
        fields["first_synced_at"] = now
    else:
        fields["relists"] = row.relists + 1
    _update(row, fields)
    close_gaps(row.cluster_id, [row.kind], now=now)
    if has_recovered:
        try_others_again(row.cluster_id)
    if is_first:
        raise_revisions([row.cluster_id], [CLUSTER])


def try_others_again(cluster_id: int) -> None:
    """The API server answers again: the next pass reads what still waits after a failure, each kind for itself.

    Only kinds that failed. One that we may not read is answered for, whatever else recovers. Called when a kind recovers and
    not whenever one is read, so that a kind that goes on failing keeps its own pace.
    """
    ClusterKind.objects.filter(
        cluster_id=cluster_id, state=ReadState.FAILING, retry_at__isnull=False
    ).update(retry_at=None)


# What an unchanged cluster costs is this one statement: it locks by updating, and touches no index.
_RECORD_CURRENT: Final = """
UPDATE clusters_clusterkind k SET last_synced_at = %s
FROM unnest(%s::text[], %s::text[]) AS c (kind, resource_version)
WHERE k.cluster_id = %s AND k.kind = c.kind AND k.resource_version = c.resource_version
RETURNING k.id, k.kind, k.state, k.failures
"""


def record_current(cluster_id: int, cursors: Mapping[str, str], *, now: datetime) -> None:
    """These kinds are known to be as stored: their windows ended well. Raises Overtaken as `lock_kinds` does."""
    with connection.cursor() as cursor:
        cursor.execute(_RECORD_CURRENT, [now, list(cursors), list(cursors.values()), cluster_id])
        updated = cursor.fetchall()
    overtaken = cursors.keys() - {kind for _, kind, _, _ in updated}
    if overtaken:
        raise Overtaken(min(overtaken))
    recovered = [
        pk for pk, _, state, failures in updated if state != ReadState.WATCHING or failures
    ]
    if recovered:
        ClusterKind.objects.filter(pk__in=recovered).update(
            state=ReadState.WATCHING,
            failure={},
            failing_since=None,
            failures=0,
            retry_at=None,
        )
        try_others_again(cluster_id)
        raise_revisions([cluster_id], [CLUSTER])


@dataclass(frozen=True, slots=True)
class KindFailure:
    """Why a kind of object could not be read: the failure's code, and what happened."""

    code: str
    statement: Statement
    retry_after_seconds: float | None = None

    @property
    def state(self) -> ReadState:
        """How the kind is shown from then on."""
        known = {"forbidden": ReadState.FORBIDDEN, "not_found": ReadState.NOT_SERVED}
        return known.get(self.code, ReadState.FAILING)

    @property
    def gap_reason(self) -> str:
        """Why changes may be missed meanwhile."""
        return self.code if self.code in {FORBIDDEN, DISK_FULL, DATABASE_AWAY} else API_UNREACHABLE


def record_failure(row: ClusterKind, failure: KindFailure, *, now: datetime) -> None:
    """Note that a kind cannot be followed, and when it is tried again; a gap opens from the latest moment known."""
    failures = row.failures + 1
    wait = max(backoff_seconds(failures), failure.retry_after_seconds or 0.0)
    stored = _stored(failure.statement)
    is_news = (row.state, row.failure) != (failure.state, stored)
    _update(
        row,
        {
            "state": failure.state,
            "failure": stored,
            "failing_since": row.failing_since or now,
            "failures": failures,
            "retry_at": now + timedelta(seconds=wait),
        },
    )
    open_gap(row, reason=failure.gap_reason, failure=failure.statement, now=now)
    if is_news:
        raise_revisions([row.cluster_id], [CLUSTER])


def backoff_seconds(failures: int) -> float:
    """Full jitter between 1 s and what doubles with each failure, at most a minute."""
    ceiling = min(_LONGEST_BACKOFF_SECONDS, 2.0 ** min(failures, 10))
    return random.uniform(1.0, max(1.0, ceiling))  # noqa: S311 -- no secret


def forget_cursor(
    row: ClusterKind, *, reason: str, failure: Statement | None, now: datetime
) -> None:
    """The cursor is of no use any more: everything of the kind must be read anew."""
    open_gap(row, reason=reason, failure=failure, now=now)
    _update(row, {"resource_version": ""})


def is_outdated(row: ClusterKind) -> bool:
    """Whether the rows of this kind are made in another way by now."""
    entry = registry.watched_kind(row.kind)
    return entry is not None and row.record_version != entry.record_version


def note_recorded(row: ClusterKind, *, record_version: int) -> None:
    """The rows of this kind are as this version of its entry makes them."""
    _update(row, {"record_version": record_version})


def record_not_served(row: ClusterKind, *, now: datetime) -> None:
    """The cluster does not have this kind; nothing is missed by not reading it."""
    if row.state != ReadState.NOT_SERVED:
        failure = _stored(Statement("kind_not_served"))
        _update(row, {"state": ReadState.NOT_SERVED, "failure": failure, "retry_at": None})
        close_gaps(row.cluster_id, [row.kind], now=now)
        raise_revisions([row.cluster_id], [CLUSTER])


def _stored(failure: Statement | None) -> dict[str, Any]:
    return {} if failure is None else statement_shape(failure)


def is_left_unread(row: ClusterKind, *, now: datetime) -> bool:
    """Whether a kind that could be followed was not, for longer than an API server is sure to keep events."""
    if not row.resource_version or row.state != ReadState.WATCHING or row.last_synced_at is None:
        return False
    return now - row.last_synced_at > GUARANTEED_EVENTS


def open_gap(row: ClusterKind, *, reason: str, failure: Statement | None, now: datetime) -> None:
    """From the latest moment known on, changes may be missed. Nothing is missed of what was never followed."""
    if row.last_synced_at is None:
        return
    with connection.cursor() as cursor:
        # A gap that is open stays as it began: its cause came first. A restore takes it over: the API server is away for it as
        # well, and only of a restore must people know that what they were shown was taken back.
        cursor.execute(
            "INSERT INTO clusters_gap AS gap (cluster_id, kind, started_at, reason, failure)"
            " VALUES (%s, %s, %s, %s, %s::jsonb)"
            " ON CONFLICT (cluster_id, kind) WHERE ended_at IS NULL"
            " DO UPDATE SET reason = excluded.reason, failure = excluded.failure"
            " WHERE excluded.reason = %s AND gap.reason <> excluded.reason",
            [
                row.cluster_id,
                row.kind,
                min(row.last_synced_at, now),
                reason,
                json.dumps(_stored(failure)),
                RESTORED,
            ],
        )
        is_new = cursor.rowcount > 0
    if is_new:
        raise_revisions([row.cluster_id], [CLUSTER])


def close_gaps(cluster_id: int, kinds: Sequence[str], *, now: datetime) -> int:
    """These kinds are followed again; returns how many gaps that ended."""
    count = Gap.objects.filter(
        cluster_id=cluster_id, kind__in=kinds, ended_at__isnull=True
    ).update(ended_at=Greatest("started_at", Value(now, DateTimeField())))
    if count:
        raise_revisions([cluster_id], [CLUSTER])
    return count


@contextmanager
def raising_revisions(cluster_id: int, *subjects: str) -> Iterator[set[str]]:
    """A transaction that writes about one cluster. The set that it gives may be added to.

    The revisions of the subjects in it rise as the last thing before the commit.
    """
    with transaction.atomic():
        written = set(subjects)
        yield written
        raise_revisions([cluster_id], written)


_RAISE: Final = """
INSERT INTO clusters_revision AS r (cluster_id, subject, number)
SELECT c, s, 1 FROM unnest(%s::bigint[]) c, unnest(%s::text[]) s ORDER BY c, s
ON CONFLICT (cluster_id, subject) DO UPDATE SET number = r.number + 1
"""


def raise_revisions(cluster_ids: Iterable[int], subjects: Iterable[str]) -> None:
    """Something that pages show of these subjects has changed, in the transaction that is open."""
    raised = list(cluster_ids), list(subjects)
    if all(raised):
        with connection.cursor() as cursor:
            cursor.execute(_RAISE, raised)


def _update(row: ClusterKind, fields: Mapping[str, Any]) -> None:
    """Only the columns that differ, in the row and in the value at hand."""
    differing = {name: value for name, value in fields.items() if getattr(row, name) != value}
    if differing:
        ClusterKind.objects.filter(pk=row.pk).update(**differing)
        for name, value in differing.items():
            setattr(row, name, value)
