"""The pages about clusters: what each can tell us, how fresh that is, and the few things a person may change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from clusters import queries, registry, services
from clusters.choices import PoolStatusMode, Reach, ReadState
from clusters.models import Cluster, ClusterKind, Gap
from clusters.views.frame import Scope, grant_command, was_read
from clusters.views.live import Live, live_page
from kube.capabilities import Capabilities
from kube.kinds import KINDS, NODE, Kind, plural_of
from ui.frame import Entry
from ui.snapshot import Snapshot
from ui.words import gap_words, words_of

CHANGE = "clusters.change_cluster"

_READ_TONES: Final[Mapping[str, str]] = {
    ReadState.READING: "info",
    ReadState.WATCHING: "good",
    ReadState.FORBIDDEN: "warning",
    ReadState.FAILING: "error",
}


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """One cluster in the list."""

    cluster: Cluster
    fresh: queries.Freshness
    is_stale: bool
    open_gaps: int
    object_count: int | None
    failing: tuple[ClusterKind, ...]


@dataclass(frozen=True, slots=True)
class ClusterListPage:
    """What the list of clusters shows."""

    answer: str
    lines: tuple[ClusterLine, ...]


@dataclass(frozen=True, slots=True)
class KindLine:
    """What one cluster says of one kind of object, and how far we have read it."""

    name: str
    # None: not served, or not known yet.
    version: str | None
    is_known: bool
    verbs_allowed: tuple[str, ...]
    verbs_refused: tuple[str, ...]
    grant: str
    read: ClusterKind | None
    # Whether its changes are followed at all.
    is_followed: bool
    # How the state of reading looks; empty where it is plain.
    tone: str


@dataclass(frozen=True, slots=True)
class GateLine:
    """A feature gate, and whether it is on, by component; None: not said."""

    name: str
    values: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class GapLine:
    """A time in which changes of some kinds may have been missed; `length` None: it lasts."""

    start: datetime
    length: timedelta | None
    kinds: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ClusterPage:
    """What the page of one cluster shows."""

    answer: str
    cluster: Cluster
    fresh: queries.Freshness
    is_stale: bool
    kinds: tuple[KindLine, ...]
    gate_components: tuple[str, ...]
    gates: tuple[GateLine, ...]
    are_gates_known: bool
    gaps: tuple[GapLine, ...]
    was_read: bool
    # Kinds that are followed and were never read, in words; empty: none, or all of them.
    unread: str
    # Why nothing at all is read now, in a word; empty: it is read, or this is the past.
    left_unread: str
    # None: not read yet.
    nodes_total: int | None
    nodes_not_ready: tuple[str, ...]
    is_past: bool
    may_change: bool
    are_pool_status_requests_made: bool
    grant_pool_status: str


@live_page(page="components/frame_status.html", fragment="components/frame_status.html")
def status(request: HttpRequest, scope: Scope) -> Live:
    """The live part of the frame: freshness and banners, which every page has already."""
    del request
    return Live((scope.state(), scope.observed_at, _reaches(scope)), dict)


def _reaches(scope: Scope) -> list[tuple[object, ...]]:
    return [
        (row.pk, row.reach, row.is_paused, len(scope.fresh[row.pk].failures))
        for row in scope.clusters
    ]


@live_page(
    page="clusters/list.html",
    fragment="clusters/_list.html",
    entry=Entry(gettext_lazy("Clusters"), "clusters", "c", "system"),
)
def cluster_list(request: HttpRequest, scope: Scope) -> Live:
    """All clusters: is each reached, and how fresh is what we know of it?"""
    del request
    state = (scope.state(), [queries.reads(row) for row in scope.clusters])
    return Live(state, lambda: {"page": cluster_list_page(scope)})


def cluster_list_page(scope: Scope) -> ClusterListPage:
    """The list, from what the frame has read already."""
    lines = tuple(_cluster_line(row, scope) for row in scope.clusters)
    return ClusterListPage(answer=_list_answer(lines, scope.snapshot), lines=lines)


def _cluster_line(row: Cluster, scope: Scope) -> ClusterLine:
    counts = [kind.object_count for kind in row.known_kinds]
    known = [count for count in counts if count is not None]
    return ClusterLine(
        cluster=row,
        fresh=scope.fresh[row.pk],
        is_stale=scope.fresh[row.pk].is_stale(scope.moment),
        open_gaps=sum(gap.cluster_id == row.pk for gap in scope.open_gaps),
        object_count=sum(known) if known else None,
        failing=scope.fresh[row.pk].failures,
    )


def _list_answer(lines: Sequence[ClusterLine], snapshot: Snapshot) -> str:
    if not lines and snapshot.at:
        return _("No cluster was watched then.")
    if not lines:
        return _("No cluster is watched. Name one in DRADASH_CLUSTERS, or start with --simulated.")
    fine = sum(_is_fine(line) for line in lines)
    start = ngettext("%(count)s cluster", "%(count)s clusters", len(lines)) % {"count": len(lines)}
    if fine == len(lines):
        return _("%(clusters)s, read and current.") % {"clusters": start}
    return _("%(clusters)s, %(fine)s of them read and current.") % {
        "clusters": start,
        "fine": fine,
    }


def _is_fine(line: ClusterLine) -> bool:
    return line.cluster.reach == Reach.OK and not line.is_stale and not line.failing


@live_page(page="clusters/detail.html", fragment="clusters/_detail.html")
def cluster_detail(request: HttpRequest, scope: Scope, cluster_id: int) -> Live:
    """One cluster: what can it tell us, and what not, and why?"""
    try:
        row = queries.cluster(scope.snapshot, cluster_id)
    except Cluster.DoesNotExist:
        raise Http404(_("There is no such cluster.")) from None
    # Of the past nothing can be changed.
    may_change = scope.snapshot.at is None and request.user.has_perm(CHANGE)
    state = (
        scope.about(row.pk).state(NODE.name),
        row.discovered_at,
        queries.reads(row),
        may_change,
    )
    return Live(state, lambda: {"page": cluster_page(scope.snapshot, row, may_change=may_change)})


def cluster_page(snapshot: Snapshot, row: Cluster, *, may_change: bool) -> ClusterPage:
    """Everything about one cluster."""
    now = snapshot.moment
    fresh = queries.freshness([row])[row.pk]
    capabilities = _capabilities(row)
    nodes = next((kind for kind in row.known_kinds if kind.kind == NODE.name), None)
    components, gates = _gates(capabilities)
    return ClusterPage(
        answer=_past_answer() if snapshot.at else _detail_answer(row, fresh, now=now),
        cluster=row,
        fresh=fresh,
        is_stale=fresh.is_stale(now),
        kinds=tuple(_kind_lines(row, capabilities)),
        gate_components=components,
        gates=gates,
        are_gates_known=capabilities is not None and capabilities.gates is not None,
        gaps=_gap_lines(queries.latest_gaps(snapshot, row.pk)),
        was_read=was_read(row),
        unread=_unread(row),
        left_unread=_left_unread(row, is_past=snapshot.at is not None),
        nodes_total=nodes.object_count if nodes and nodes.last_synced_at else None,
        nodes_not_ready=_needing_attention(snapshot, NODE, row.pk),
        is_past=snapshot.at is not None,
        may_change=may_change,
        are_pool_status_requests_made=queries.makes_pool_status_requests(row),
        grant_pool_status=grant_command("ResourcePoolStatusRequest"),
    )


def _needing_attention(snapshot: Snapshot, kind: Kind, cluster_id: int) -> tuple[str, ...]:
    entry = registry.watched_kind(kind.name)
    find = entry.needing_attention if entry else None
    return tuple(find(snapshot, cluster_id)) if find else ()


def _unread(row: Cluster) -> str:
    return ", ".join(
        plural_of(kind.kind)
        for kind in row.known_kinds
        if kind.last_synced_at is None and kind.state != ReadState.NOT_SERVED
    )


def _gap_lines(rows: Iterable[Gap]) -> tuple[GapLine, ...]:
    """Newest first; one line for gaps that overlap and have one reason, which those of several kinds often do."""
    groups: list[list[Gap]] = []
    for row in sorted(rows, key=lambda gap: gap.started_at):
        same = next((group for group in reversed(groups) if _belongs(row, group)), None)
        if same is None:
            groups.append([row])
        else:
            same.append(row)
    return tuple(_gap_line(group) for group in reversed(groups))


def _belongs(row: Gap, group: Sequence[Gap]) -> bool:
    end = _end(group)
    return row.reason == group[0].reason and (end is None or row.started_at <= end)


def _end(group: Sequence[Gap]) -> datetime | None:
    ends = [gap.ended_at for gap in group if gap.ended_at is not None]
    return max(ends) if len(ends) == len(group) else None


def _gap_line(group: Sequence[Gap]) -> GapLine:
    start, end = group[0].started_at, _end(group)
    return GapLine(
        start=start,
        length=end - start if end else None,
        kinds=tuple(dict.fromkeys(gap.kind for gap in group)),
        reason=gap_words(group[0].reason, group[0].failure),
    )


def _capabilities(row: Cluster) -> Capabilities | None:
    return Capabilities.from_json(row.capabilities) if row.capabilities else None


def _kind_lines(row: Cluster, capabilities: Capabilities | None) -> list[KindLine]:
    read = {kind.kind: kind for kind in row.known_kinds}
    return [_kind_line(name, capabilities, read.get(name)) for name in KINDS]


def _kind_line(name: str, capabilities: Capabilities | None, read: ClusterKind | None) -> KindLine:
    served = capabilities.resources.get(name) if capabilities else None
    rights: Mapping[Any, bool | None] = capabilities.rights if capabilities else {}
    verbs = KINDS[name].verbs
    refused = tuple(verb for verb in verbs if rights.get((name, verb)) is False)
    return KindLine(
        name=name,
        version=served.group_version if served else None,
        is_known=capabilities is not None,
        verbs_allowed=tuple(verb for verb in verbs if rights.get((name, verb)) is True),
        verbs_refused=refused,
        grant=grant_command(name) if refused else "",
        read=read,
        is_followed=registry.watched_kind(name) is not None,
        tone=_READ_TONES.get(read.state, "") if read else "",
    )


def _left_unread(row: Cluster, *, is_past: bool) -> str:
    if is_past or (row.is_watched and not row.is_paused):
        return ""
    return _("paused") if row.is_watched else _("no longer watched")


def _gates(capabilities: Capabilities | None) -> tuple[tuple[str, ...], tuple[GateLine, ...]]:
    if capabilities is None or capabilities.gates is None:
        return (), ()
    components = tuple(sorted(capabilities.gates))
    names = sorted({name for gates in capabilities.gates.values() for name in gates})
    lines = tuple(
        GateLine(name, tuple(capabilities.gates[component].get(name) for component in components))
        for name in names
    )
    return components, lines


def _past_answer() -> str:
    return _(
        "How far each kind had been read then is kept. Its address, version, rights and feature gates are not."
    )


def _detail_answer(row: Cluster, fresh: queries.Freshness, *, now: datetime) -> str:
    words = {"version": row.server_version or _("a version that is not known yet")}
    if not row.is_watched:
        return _("No longer watched. This is what was stored.")
    if row.is_paused:
        return _("Paused: nothing new is read.")
    if row.reach not in {Reach.OK, Reach.UNKNOWN}:
        return f"{capfirst(row.get_reach_display())}. {words_of(row.reach_failure)}"
    if fresh.failures:
        kinds = ", ".join(kind.kind for kind in fresh.failures)
        return _("Runs %(version)s. Not everything can be read: %(kinds)s.") % {
            **words,
            "kinds": kinds,
        }
    if fresh.is_stale(now):
        return _("Runs %(version)s. It was not read for longer than it should be.") % words
    return _("Runs %(version)s. All that we need is read and current.") % words


@require_POST
@permission_required(CHANGE, raise_exception=True)
def cluster_pause(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Stop reading a cluster."""
    services.pause_cluster(cluster_id)
    return redirect("clusters:detail", cluster_id)


@require_POST
@permission_required(CHANGE, raise_exception=True)
def cluster_resume(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Read a paused cluster again."""
    try:
        services.resume_cluster(cluster_id, now=timezone.now())
    except Cluster.DoesNotExist:
        raise Http404(_("There is no such cluster.")) from None
    return redirect("clusters:detail", cluster_id)


@require_POST
@permission_required(CHANGE, raise_exception=True)
def cluster_pool_status(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """Switch pool status requests on or off; the page says what will be created."""
    mode = request.POST.get("mode", "")
    if mode not in PoolStatusMode.values:
        raise Http404
    services.set_pool_status_mode(cluster_id, PoolStatusMode(mode))
    return redirect("clusters:detail", cluster_id)
