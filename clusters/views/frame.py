"""What every page says about its clusters: which are shown, how fresh they are, and what is wrong with reading them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from clusters import queries, registry
from clusters.choices import CLUSTER, Reach, ReadState, Source
from clusters.models import Cluster, ClusterKind, Gap
from kube.kinds import KINDS, plural_of
from ui.formatting import exact_time
from ui.frame import Banner, ClusterChoice, Frame, Freshness, Past, time_control
from ui.lists import with_query
from ui.moments import AT, NotAMoment, moment_text, read_moment
from ui.snapshot import Snapshot, open_snapshot, viewer_of
from ui.words import cluster_words, gap_words, source_words, words_of

_REACHED = {Reach.OK, Reach.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Scope:
    """The clusters that one request is about."""

    snapshot: Snapshot
    # All that there are, by id, those that are no longer watched among them.
    known: dict[int, Cluster]
    # Those that can be chosen.
    clusters: tuple[Cluster, ...]
    fresh: dict[int, queries.Freshness]
    # The cluster that the URL chose; None: all that are watched.
    chosen: Cluster | None
    # As the URL has it, also when no cluster is called so.
    chosen_name: str
    open_gaps: tuple[Gap, ...]

    @property
    def now(self) -> datetime:
        """When the answer is made."""
        return self.snapshot.now

    @property
    def moment(self) -> datetime:
        """What the answer is about: a moment of the past, or now."""
        return self.snapshot.moment

    def about(self, cluster_id: int) -> Self:
        """The same for a page about something of one cluster, which may be no longer watched."""
        row = self.known[cluster_id]
        return replace(self, chosen=row, chosen_name=row.address_name)

    @property
    def is_missing(self) -> bool:
        """Whether the URL chose a cluster that there is not: then nothing is in view."""
        return bool(self.chosen_name) and self.chosen is None

    @property
    def rows(self) -> tuple[Cluster, ...]:
        """The clusters in view."""
        if self.is_missing:
            return ()
        return (self.chosen,) if self.chosen else self.clusters

    @property
    def shown(self) -> tuple[queries.Freshness, ...]:
        """Freshness of the clusters in view."""
        return tuple(self.fresh[row.pk] for row in self.rows)

    @property
    def observed_at(self) -> datetime | None:
        """The oldest moment for which the figures in view hold; None when a cluster was never read."""
        moments = [each.observed_at for each in self.shown]
        known = [moment for moment in moments if moment is not None]
        return min(known) if known and len(known) == len(moments) else None

    @property
    def only(self) -> Cluster | None:
        """The cluster in view, when it is one."""
        return self.rows[0] if len(self.rows) == 1 else None

    @property
    def source(self) -> str:
        """What the figures in view were computed from; of several clusters only in general."""
        if len(self.shown) == 1:
            (fresh,) = self.shown
            return source_words(fresh.resource_versions, fresh.observed_at)
        return _("computed from the ResourceSlices, claims and taint rules of each cluster")

    @property
    def is_stale(self) -> bool:
        """Whether a cluster in view has figures that are older than they should be."""
        return any(each.is_stale(self.moment) for each in self.shown)

    def state(self, *subjects: str) -> tuple[object, ...]:
        """Another one whenever something of these subjects has changed, or what is said of the clusters themselves."""
        return tuple(
            (
                each.cluster_id,
                each.is_stale(self.moment),
                *(each.revisions.get(subject, 0) for subject in (CLUSTER, *subjects)),
            )
            for each in self.shown
        )

    def name_of(self, cluster_id: int) -> str:
        """The name of a cluster in view, by its id."""
        fresh = self.fresh[cluster_id]
        return cluster_words(fresh.cluster_name, fresh.replaced_at)


def words_of_cluster(row: Cluster) -> str:
    """What a cluster is called, as `Scope.name_of` has it."""
    return cluster_words(row.name, row.replaced_at)


def frame(request: HttpRequest) -> dict[str, object]:
    """Context processor: `frame` on every page, computed only where a template asks for it.

    It names clusters and their troubles, so whoever is not signed in gets an empty one, whatever the page is.
    """
    return {
        "frame": SimpleLazyObject(
            lambda: _frame_or_none(request) if _is_signed_in(request) else Frame()
        )
    }


def _frame_or_none(request: HttpRequest) -> Frame:
    """Empty where `at` cannot be read: the page that says so has a frame too."""
    try:
        return frame_of(request)
    except NotAMoment:
        return Frame()


def _is_signed_in(request: HttpRequest) -> bool:
    """False too where a request was refused before anybody looked at its session."""
    user = getattr(request, "user", None)
    return user is not None and user.is_authenticated


def scope_of(request: HttpRequest) -> Scope:
    """The clusters of this request, read once in three queries."""
    scope: Scope | None = getattr(request, "dradash_scope", None)
    if scope is None:
        # Postgres, which some pages ask for the name as it was given, takes no NUL.
        name = request.GET.get("cluster", "").replace("\0", "\ufffd")
        with snapshot_of(request) as snapshot:
            scope = read_scope(snapshot, name)
        request.dradash_scope = scope  # type: ignore[attr-defined]  # a memo for this request
    return scope


def moment_of(request: HttpRequest) -> datetime | None:
    """The moment of the past that the answer to this request is about; None: now, or none was read."""
    scope: Scope | None = getattr(request, "dradash_scope", None)
    return scope.snapshot.at if scope else None


@contextmanager
def snapshot_of(request: HttpRequest) -> Iterator[Snapshot]:
    """The snapshot that this request is answered from; opened here unless it is open."""
    opened: Snapshot | None = getattr(request, "dradash_snapshot", None)
    if opened is not None:
        yield opened
        return
    now = timezone.now()
    with open_snapshot(viewer_of(request.user), now=now, at=_asked(request, now=now)) as snapshot:
        request.dradash_snapshot = snapshot  # type: ignore[attr-defined]  # a memo for this request
        try:
            yield snapshot
        finally:
            del request.dradash_snapshot  # type: ignore[attr-defined]


def _asked(request: HttpRequest, *, now: datetime) -> datetime | None:
    """The moment that the address asks for, which from here on names it exactly: `2h ago` would be another one with each click.

    Raises NotAMoment.
    """
    text = request.GET.get(AT, "")
    if not text:
        return None
    at = read_moment(text, now=now)
    exact = request.GET.copy()
    exact[AT] = moment_text(at)
    request.GET = exact  # type: ignore[assignment]  # a QueryDict all the same
    return at


def read_scope(snapshot: Snapshot, chosen_name: str) -> Scope:
    """Clusters, their kinds and open gaps."""
    rows = queries.all_clusters(snapshot)
    chosen = next((row for row in rows if chosen_name in {row.address_name, str(row.pk)}), None)
    return Scope(
        snapshot=snapshot,
        known={row.pk: row for row in rows},
        clusters=tuple(row for row in rows if row.is_watched or row is chosen),
        fresh=queries.freshness(rows),
        chosen=chosen,
        chosen_name=chosen_name,
        open_gaps=queries.open_gaps(snapshot),
    )


def frame_of(request: HttpRequest) -> Frame:
    """The frame of the page that answers this request."""
    scope = scope_of(request)
    path, query = request.path, request.GET
    return Frame(
        clusters=[
            ClusterChoice(
                value=row.address_name,
                name=words_of_cluster(row),
                url=with_query(path, query, cluster=row.address_name),
                is_selected=row is scope.chosen,
                remark=_remark(row, scope.fresh[row.pk], now=scope.moment),
            )
            for row in scope.clusters
        ],
        selected_name=scope.chosen_name,
        all_url=with_query(path, query, cluster=None),
        freshness=_freshness(scope),
        banners=banners_of(scope),
        past=_past(scope, now_url=with_query(path, query, at=None)),
        time=time_control(path, query),
        status_url="" if scope.snapshot.at else _status_url(scope.chosen_name),
        observed=[
            (each.cluster_id, each.observed_at)
            for each in scope.fresh.values()
            if each.observed_at is not None
        ],
        refresh_seconds=settings.DRADASH.page_refresh_seconds,
    )


def _status_url(chosen_name: str) -> str:
    url = reverse("clusters:status")
    return f"{url}?{urlencode({'cluster': chosen_name})}" if chosen_name else url


def _freshness(scope: Scope) -> Freshness:
    is_failing = any(each.failures for each in scope.shown)
    return Freshness(
        synced_at=scope.observed_at,
        tone="error" if is_failing else "good" if scope.rows and not scope.is_stale else "warning",
        text="" if scope.rows else _("No such cluster") if scope.is_missing else _("No cluster"),
        url=reverse("clusters:list"),
    )


def _remark(row: Cluster, fresh: queries.Freshness, *, now: datetime) -> str:
    if not row.is_watched:
        return _("no longer watched")
    if row.is_paused:
        return _("paused")
    if row.reach not in _REACHED:
        return row.get_reach_display()
    if fresh.is_reading:
        return _("first read")
    if fresh.is_stale(now):
        return _("stale")
    return _("simulated") if row.source == Source.SIMULATED else ""


def _past(scope: Scope, *, now_url: str) -> Past | None:
    """What is said of a moment of the past, and of what is not known about it; None: the page is about now."""
    at = scope.snapshot.at
    if at is None:
        return None
    names = scope.fresh.keys() & {row.pk for row in scope.rows}
    gaps = [gap for gap in scope.open_gaps if gap.cluster_id in names]
    notes = [
        *(note for row in scope.rows if (note := _past_beginning(row, at=at))),
        *(note for row in scope.rows if (note := _past_unread(row))),
        *(_past_gap(gap, scope) for gap in gaps),
    ]
    if not scope.known:
        notes.append(_("No cluster was watched yet."))
    days = settings.DRADASH.retention_days
    if at < scope.now - timedelta(days=days):
        text = _("Everything is kept for %(days)s days, so of this moment something is missing.")
        notes.append(text % {"days": days})
    return Past(at=at, text=exact_time(at), now_url=now_url, notes=notes)


def _past_beginning(row: Cluster, *, at: datetime) -> str:
    """What is said of a cluster that was read to its end only later, or of which versions are kept only from later on; else empty."""
    begun = [each.first_synced_at for each in row.known_kinds if each.first_synced_at]
    if not begun or max(begun) <= at:
        return ""
    text = _(
        "%(name)s: what was so is kept from %(time)s on, so of this moment something is missing."
    )
    return text % {"name": words_of_cluster(row), "time": exact_time(max(begun))}


def _past_unread(row: Cluster) -> str:
    """What is said of kinds that were never read, to this day; of those that were read later `_past_beginning` tells."""
    unread = [
        plural_of(each.kind)
        for each in row.known_kinds
        if each.first_synced_at is None and each.state != ReadState.NOT_SERVED
    ]
    if not unread:
        return ""
    text = _("%(name)s: %(kinds)s had not been read by then; what depends on them is unknown.")
    return text % {"name": words_of_cluster(row), "kinds": ", ".join(sorted(unread))}


def _past_gap(gap: Gap, scope: Scope) -> str:
    words = {"name": scope.name_of(gap.cluster_id), "kinds": plural_of(gap.kind)}
    text = _("%(name)s: %(kinds)s were not followed then, so changes of them may be missing.")
    return f"{text % words} {gap_words(gap.reason, gap.failure)}".strip()


def banners_of(scope: Scope) -> list[Banner]:
    """What must be said about the clusters in view, before anything else."""
    if scope.snapshot.at and not scope.is_missing:
        return [
            Banner("simulated", _simulated(row))
            for row in scope.rows
            if row.source == Source.SIMULATED
        ]
    if scope.is_missing:
        text = _("There is no cluster called %(name)s.") % {"name": scope.chosen_name}
        return [Banner("note", text, url=reverse("clusters:list"), url_label=_("All clusters"))]
    return [banner for row in scope.rows for banner in _banners(row, scope)]


def _banners(row: Cluster, scope: Scope) -> list[Banner]:
    fresh, url = scope.fresh[row.pk], reverse("clusters:detail", args=[row.pk])
    named = {"name": words_of_cluster(row)}
    banners = []
    if row.source == Source.SIMULATED:
        banners.append(Banner("simulated", _simulated(row)))
    if not row.is_watched:
        text = _("%(name)s is no longer watched. This is what was stored of it.") % named
        return [*banners, Banner("note", text)]
    if row.is_paused:
        text = _("%(name)s is paused: nothing new is read.") % named
        return [
            *banners,
            Banner("paused", text, url=url, url_label=_("Resume it on its page")),
        ]
    if fresh.is_reading:
        text = _("%(name)s is read for the first time.") % named
        banners.append(Banner("reading", text, done=fresh.read_count))
    failures = _failures(row, fresh, url=url)
    return [*banners, *(failures or _silent_troubles(row, scope, url=url))]


def _simulated(row: Cluster) -> str:
    if row.name == Source.SIMULATED:
        return _("This is the simulated cluster: nothing in it is real.")
    return _("%(name)s is a simulated cluster: nothing in it is real.") % {
        "name": words_of_cluster(row)
    }


def _failures(row: Cluster, fresh: queries.Freshness, *, url: str) -> list[Banner]:
    if row.reach not in _REACHED:
        words = {
            "name": words_of_cluster(row),
            "reach": row.get_reach_display(),
            "message": words_of(row.reach_failure),
        }
        text = (
            _("%(name)s: %(reach)s. %(message)s What is shown is the latest that was read.")
            if was_read(row)
            else _("%(name)s: %(reach)s. %(message)s Nothing was read of it yet.")
        )
        return [
            Banner(
                "unreachable",
                text % words,
                since=row.reach_changed_at,
                url=url,
                url_label=_("Details"),
            )
        ]
    return [_kind_banner(row, kind, url=url) for kind in fresh.failures]


def _kind_banner(row: Cluster, kind: ClusterKind, *, url: str) -> Banner:
    words = {
        "name": words_of_cluster(row),
        "kinds": plural_of(kind.kind),
        "message": words_of(kind.failure),
    }
    rest = (
        _("What is shown of them is the latest that was read.")
        if _is_latest_shown(kind)
        else _("What depends on them is unknown.")
    )
    since = kind.last_synced_at if _is_latest_shown(kind) else kind.failing_since
    if kind.state == ReadState.FORBIDDEN:
        text = _("%(name)s: we may not read %(kinds)s.") % words
        return Banner("forbidden", f"{text} {rest}", since=since, command=grant_command(kind.kind))
    text = _("%(name)s: %(kinds)s cannot be read. %(message)s") % words
    return Banner("unreachable", f"{text} {rest}", since=since, url=url, url_label=_("Details"))


def _is_latest_shown(kind: ClusterKind) -> bool:
    """Whether pages go on with what was read of a kind that cannot be read now; figures are unknown otherwise."""
    if kind.last_synced_at is None:
        return False
    entry = registry.watched_kind(kind.kind)
    return kind.state != ReadState.FORBIDDEN or not (entry and entry.is_unknown_when_forbidden)


def _silent_troubles(row: Cluster, scope: Scope, *, url: str) -> list[Banner]:
    """What is wrong without a failure: a gap that lasts, or data that nobody has looked at for long."""
    fresh = scope.fresh[row.pk]
    named = {"name": words_of_cluster(row)}
    gaps = [gap for gap in scope.open_gaps if gap.cluster_id == row.pk]
    if fresh.observed_at is not None and fresh.is_stale(scope.moment):
        text = _("%(name)s was not read for longer than it should be. Is the worker running?")
        return [
            Banner(
                "stale",
                text % named,
                since=fresh.observed_at,
                url=url,
                url_label=_("Details"),
            )
        ]
    if gaps and not fresh.is_reading:
        kinds = ", ".join(sorted({plural_of(gap.kind) for gap in gaps}))
        text = _("%(name)s: changes of %(kinds)s may be missing.") % {
            **named,
            "kinds": kinds,
        }
        since = min(gap.started_at for gap in gaps)
        return [Banner("gap", text, since=since, url=url, url_label=_("Details"))]
    return []


def was_read(row: Cluster) -> bool:
    """Whether anything of a cluster was ever read."""
    return any(kind.last_synced_at for kind in row.known_kinds)


def grant_command(name: str) -> str:
    """The kubectl lines that let DRA-Dash, as it is deployed in a cluster, do with one kind what it needs."""
    kind = KINDS[name]
    role = f"dradash-{kind.plural}"
    return (
        f"kubectl create clusterrole {role} --verb={','.join(kind.verbs)}"
        f" --resource={kind.resource} && kubectl create clusterrolebinding {role}"
        f" --clusterrole={role} --serviceaccount=dradash:dradash"
    )
