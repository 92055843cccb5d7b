"""Reads about clusters: how each is reached, how fresh what we know of it is, and where something was missed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Prefetch, Q, QuerySet
from django.forms.models import model_to_dict

from clusters import registry
from clusters.choices import PoolStatusMode, ReadState, Source
from clusters.models import Cluster, ClusterKind, Gap, Revision
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old a cluster's figures are, and what they were computed from."""

    cluster_id: int
    cluster_name: str
    # What addresses call the cluster, and since when another one has its name.
    address_name: str
    replaced_at: datetime | None
    # The latest moment for which all that the figures need was known; None: never yet.
    observed_at: datetime | None
    # resourceVersion by kind; of a moment of the past it is not kept.
    resource_versions: Mapping[str, str]
    is_simulated: bool
    is_paused: bool
    is_watched: bool
    is_reading: bool
    # Objects read so far in a first read.
    read_count: int
    failures: tuple[ClusterKind, ...]
    # By subject; one that is not there has never changed.
    revisions: Mapping[str, int]
    # Of each kind that was read: the latest moment at which what is stored was known to be what there is.
    read_at: Mapping[str, datetime]

    def is_stale(self, now: datetime) -> bool:
        """Whether the figures are older than the configured number of seconds."""
        limit = timedelta(seconds=settings.DRADASH.stale_after_seconds)
        return self.observed_at is None or now - self.observed_at > limit


@dataclass(frozen=True, slots=True)
class ClusterFilter:
    """Which clusters; without names all of them."""

    names: tuple[str, ...] = ()


def wanted_clusters(snapshot: Snapshot, wanted: ClusterFilter) -> QuerySet[Cluster]:
    """The clusters that match, with their kinds, in two queries."""
    every = clusters(snapshot)
    if not wanted.names:
        return every
    return every.filter(reduce(or_, [_named(text, path="") for text in wanted.names]))


def clusters(snapshot: Snapshot) -> QuerySet[Cluster]:
    """All clusters with their revisions and kinds, in two queries."""
    return _with_revisions().prefetch_related(  # type: ignore[no-redef]  # the model says its type, for readers
        Prefetch("kinds", queryset=ClusterKind.objects.order_by("kind"), to_attr="known_kinds")
    )


def _with_revisions() -> QuerySet[Cluster]:
    revisions = Revision.objects.filter(cluster=OuterRef("pk")).order_by("subject")
    return Cluster.objects.annotate(  # type: ignore[no-redef]  # the model says their types, for readers
        revision_subjects=ArraySubquery(revisions.values("subject")),
        revision_numbers=ArraySubquery(revisions.values("number")),
    )


@cache
def _all_clusters() -> tuple[str, tuple[object, ...]]:
    """SQL and parameters."""
    return _with_revisions().defer("capabilities").query.sql_with_params()


_KINDS = "SELECT * FROM clusters_clusterkind ORDER BY kind"
_OPEN_GAPS = "SELECT * FROM clusters_gap WHERE ended_at IS NULL ORDER BY started_at, id"


def all_clusters(snapshot: Snapshot) -> list[Cluster]:
    """The same without capabilities. Every page and answer begins with them, and making SQL costs three times what reading them does."""
    rows = list(Cluster.objects.raw(*_all_clusters()))
    kinds: dict[int, list[ClusterKind]] = defaultdict(list)
    for kind in ClusterKind.objects.raw(_KINDS):
        kinds[kind.cluster_id].append(kind)
    for row in rows:
        row.known_kinds = kinds[row.pk]
    return rows


def cluster(snapshot: Snapshot, cluster_id: int) -> Cluster:
    """One cluster with its kinds, and those that had or have its name; raises Cluster.DoesNotExist."""
    return clusters(snapshot).select_related("replaces", "replaced_by").get(pk=cluster_id)


def clusters_named(text: str) -> Q:
    """Rows of a cluster that is given by its name or its number; a name is that of the cluster that has it now, or had it then."""
    return _named(text, path="cluster__")


def _named(text: str, *, path: str) -> Q:
    named = Q(**{f"{path}name": text, f"{path}replaced_at": None})
    is_number = text.isascii() and text.isdigit() and len(text) < 18
    return named | Q(**{f"{path}id": int(text)}) if is_number else named


def freshness(rows: Iterable[Cluster]) -> dict[int, Freshness]:
    """How fresh each of the rows is; they come from `clusters()`."""
    return {each.pk: _freshness(each) for each in rows}


def _freshness(row: Cluster) -> Freshness:
    kinds = {kind.kind: kind for kind in row.known_kinds}
    needed = [kinds[name] for name in registry.figure_kinds() if name in kinds]
    read = [kind for kind in needed if kind.state != ReadState.NOT_SERVED]
    moments = [kind.last_synced_at for kind in read]
    known = [moment for moment in moments if moment is not None]
    is_whole = bool(read) and len(known) == len(moments)
    return Freshness(
        cluster_id=row.pk,
        cluster_name=row.name,
        address_name=row.address_name,
        replaced_at=row.replaced_at,
        observed_at=min(known) if is_whole else None,
        resource_versions={k.kind: k.resource_version for k in read if k.resource_version},
        is_simulated=row.source == Source.SIMULATED,
        is_paused=row.is_paused,
        is_watched=row.is_watched,
        is_reading=any(kind.state == ReadState.READING for kind in needed),
        read_count=sum(kind.read_count or 0 for kind in needed),
        failures=tuple(
            kind
            for kind in kinds.values()
            if kind.state in {ReadState.FAILING, ReadState.FORBIDDEN}
        ),
        revisions=dict(zip(row.revision_subjects, row.revision_numbers, strict=True)),
        read_at={kind.kind: kind.last_synced_at for kind in kinds.values() if kind.last_synced_at},
    )


def reads(row: Cluster) -> list[dict[str, Any]]:
    """All that is known of how far each kind was read, for an ETag: it goes on without a new revision."""
    return [model_to_dict(kind) for kind in row.known_kinds]


def gaps(
    snapshot: Snapshot,
    cluster_ids: Sequence[int],
    *,
    start: datetime,
    end: datetime,
    kinds: Sequence[str] | None = None,
) -> QuerySet[Gap]:
    """Gaps that touch the time between start and end, earliest first; of the kinds that figures are made of, if none are given."""
    wanted = registry.figure_kinds() if kinds is None else kinds
    touching = Q(ended_at__isnull=True) | Q(ended_at__gte=start)
    return Gap.objects.filter(
        touching, cluster_id__in=cluster_ids, kind__in=wanted, started_at__lte=end
    ).order_by("started_at", "id")


def open_gaps(snapshot: Snapshot) -> tuple[Gap, ...]:
    """Gaps that last, earliest first."""
    return tuple(Gap.objects.raw(_OPEN_GAPS))


def latest_gaps(snapshot: Snapshot, cluster_id: int, *, count: int = 50) -> QuerySet[Gap]:
    """The newest gaps of one cluster, newest first."""
    return Gap.objects.filter(cluster_id=cluster_id).order_by("-started_at", "-id")[:count]


def makes_pool_status_requests(row: Cluster) -> bool:
    """Whether we create pool status requests there: as switched on the cluster, else as configured.

    Left to itself only where DRA-Dash has an account of its own; with a person's kubeconfig it stays read-only.
    """
    mode = row.pool_status_mode
    if mode == PoolStatusMode.AUTO:
        mode = PoolStatusMode(settings.DRADASH.pool_status_requests)
    if mode == PoolStatusMode.AUTO:
        return row.source in {Source.IN_CLUSTER, Source.SIMULATED}
    return mode == PoolStatusMode.ON
