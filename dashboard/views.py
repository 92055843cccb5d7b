"""Overview: is my fleet fine, and how much of it is free?"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.core.cache import caches
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters.choices import POOLS, Reach
from clusters.queries import Freshness
from clusters.views.emptiness import Emptiness, emptiness
from clusters.views.frame import Scope
from clusters.views.live import Live, live_page
from dashboard.sparklines import Point, Sparkline, sparkline
from dra.series import FIGURES
from pools import queries
from pools.queries import (
    DriverFigures,
    PoolFilter,
    UnavailableDevices,
    UnpublishedAllocation,
)
from pools.views.counted import counted, uncounted_words
from pools.views.shared import ShownProblem, named_problems
from ui.formatting import number
from ui.frame import Entry

# Problems and lost allocations that the page names; the lists behind it have them all.
SHOWN = 8
_TREND = timedelta(hours=24)
# Hours are rolled up once they are over, so a younger cluster has hardly any.
_YOUNG = timedelta(hours=3)
# A line of a day does not change within this.
_TREND_SECONDS = 60
_SHOWN_FITS = 4


@dataclass(frozen=True, slots=True)
class DriverLine:
    """The figures of one driver in one cluster."""

    figures: DriverFigures
    devices: dict[str, int | None]
    # Addresses of the lists of its pools and of its devices, to which further filters can be added.
    pools_url: str
    devices_url: str
    fits: str
    trend: Sparkline | None
    fresh: Freshness
    is_stale: bool


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """How one cluster is reached and how fresh it is."""

    fresh: Freshness
    reach: str
    is_fine: bool
    is_stale: bool


@dataclass(frozen=True, slots=True)
class UnavailableLine:
    """Devices that no claim gets that does not tolerate their taint, and what set it."""

    found: UnavailableDevices
    cluster_name: str
    # Addresses of the list of exactly these devices, and of those of one rule of them.
    url: str
    rules: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """What the overview shows."""

    answer: str
    # What is known over all drivers in view, in the shape of the REST API.
    devices: dict[str, int | None]
    drivers: tuple[DriverLine, ...]
    problems: tuple[ShownProblem, ...]
    # None: all are shown; else how many pools have one.
    problem_count: int | None
    unavailable: tuple[UnavailableLine, ...]
    has_more_unavailable: bool
    unpublished: tuple[UnpublishedAllocation, ...]
    has_more_unpublished: bool
    clusters: tuple[ClusterLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool
    source: str
    # Addresses of the list of devices in a state, which is to be added, and of the pools with a problem.
    states_url: str
    problems_url: str


@live_page(
    page="dashboard/overview.html",
    fragment="dashboard/_overview.html",
    entry=Entry(gettext_lazy("Overview"), "overview", "o"),
)
def overview(request: HttpRequest, scope: Scope) -> Live:
    """The page; htmx gets what is live in it."""
    del request
    return Live(scope.state(POOLS), lambda: {"page": overview_page(scope)})


def overview_page(scope: Scope) -> OverviewPage:
    """The page; a fixed number of queries."""
    chosen = [scope.chosen_name] if scope.chosen_name else []
    ids = [each.cluster_id for each in scope.shown]
    figures = queries.driver_figures(scope.snapshot, PoolFilter(clusters=tuple(chosen)))
    fits = queries.partition_figures(scope.snapshot, ids)
    trends = _trends(scope)
    pools = queries.troubled_pools(scope.snapshot, chosen, limit=SHOWN + 1)
    starts = queries.problem_starts(scope.snapshot, pools[:SHOWN])
    unavailable = queries.unavailable_reasons(scope.snapshot, ids, limit=SHOWN + 1)
    lost = queries.unpublished_allocations(scope.snapshot, ids, limit=SHOWN + 1)
    return OverviewPage(
        answer=_answer(figures),
        devices=_known_devices(figures),
        drivers=tuple(_driver_line(each, scope, fits=fits, trends=trends) for each in figures),
        problems=tuple(
            problem for pool in pools[:SHOWN] for problem in named_problems(pool, starts)[:1]
        ),
        problem_count=_problem_count(figures) if len(pools) > SHOWN else None,
        unavailable=tuple(_unavailable_line(each, scope) for each in unavailable[:SHOWN]),
        has_more_unavailable=len(unavailable) > SHOWN,
        unpublished=tuple(lost[:SHOWN]),
        has_more_unpublished=len(lost) > SHOWN,
        clusters=tuple(_cluster_line(each, scope) for each in scope.shown),
        empty=None if figures else emptiness(scope, noun=_("pools")),
        has_several_clusters=len(scope.shown) > 1,
        source=scope.source,
        states_url=_list_url("pools:device_list", cluster=scope.chosen_name, state=""),
        problems_url=_list_url("pools:list", cluster=scope.chosen_name, problem="serious"),
    )


def _known_devices(figures: Sequence[DriverFigures]) -> dict[str, int | None]:
    """For a bar: what is known of each state; the rest of what is seen is unknown. The total only where all know it."""
    known = {name: sum(each.known[name] for each in figures) for name in FIGURES}
    totals = [each.total for each in figures]
    seen = sum(each.seen for each in figures)
    return {**known, "seen": seen, "total": None if None in totals else seen}


def _problem_count(figures: Sequence[DriverFigures]) -> int:
    return sum(each.pools_with_problems for each in figures)


def _unavailable_line(unavailable: UnavailableDevices, scope: Scope) -> UnavailableLine:
    asked = {
        "cluster": scope.fresh[unavailable.cluster_id].address_name,
        "driver": unavailable.driver,
        "state": "unavailable",
        "taint": unavailable.taint_key,
    }
    return UnavailableLine(
        found=unavailable,
        cluster_name=scope.name_of(unavailable.cluster_id),
        url=_list_url("pools:device_list", **asked),
        rules=tuple(
            (rule, _list_url("pools:device_list", **asked, taint_rule=rule))
            for rule in unavailable.rules
        ),
    )


def _list_url(name: str, *, cluster: str, **asked: str) -> str:
    """A list of what the overview counts: of the chosen cluster, or of all that are in view."""
    chosen = {"cluster": cluster} if cluster else {}
    return f"{reverse(name)}?{urlencode({**chosen, **asked})}"


Trends = Mapping[tuple[int, str], Sequence[Point]]
Fits = Mapping[tuple[int, str], Sequence[queries.PartitionFigures]]


def _trends(scope: Scope) -> Trends:
    """Free devices of the latest day by cluster and driver; remembered for a minute, since many hours are summed up."""
    start = scope.moment - _TREND
    ids = [each.cluster_id for each in scope.shown]
    young = [row.pk for row in scope.clusters if scope.moment - row.created_at < _YOUNG]
    seen = (scope.snapshot.viewer, scope.snapshot.at, sorted(ids))
    key = f"trends:{hashlib.sha256(repr(seen).encode()).hexdigest()}"
    cached: Trends | None = caches["memory"].get(key)
    if cached is None:
        rows = queries.availability(
            scope.snapshot, ids, young=young, start=start, end=scope.moment
        )
        cached = {
            name: [Point(at, value) for at, value in points] for name, points in rows.items()
        }
        caches["memory"].set(key, cached, _TREND_SECONDS)
    return cached


def _driver_line(
    figures: DriverFigures, scope: Scope, *, fits: Fits, trends: Trends
) -> DriverLine:
    fresh = scope.fresh[figures.cluster_id]
    key = (figures.cluster_id, figures.driver)
    asked = {"cluster": fresh.address_name, "driver": figures.driver}
    points = [*trends.get(key, ()), Point(scope.moment, figures.available)]
    return DriverLine(
        figures=figures,
        devices=_known_devices([figures]),
        pools_url=_list_url("pools:list", **asked),
        devices_url=_list_url("pools:device_list", **asked),
        fits=_fits(figures, fits.get(key, ())),
        trend=sparkline(points, now=scope.moment, top=figures.known_total),
        fresh=fresh,
        is_stale=fresh.is_stale(scope.moment),
    )


def _fits(figures: DriverFigures, partitions: Sequence[queries.PartitionFigures]) -> str:
    """What could be allocated now, in words; partition types are alternatives to each other."""
    parts = [part for part in partitions if part.allocatable]
    if parts:
        words = [f"{number(part.allocatable)} × {part.type}" for part in parts[:_SHOWN_FITS]]
        if len(parts) > _SHOWN_FITS:
            more = len(parts) - _SHOWN_FITS
            words.append(ngettext("%(n)s other", "%(n)s others", more) % {"n": number(more)})
        return _(" or ").join(words)
    words = []
    if figures.known_available:
        text = ngettext("%(n)s device", "%(n)s devices", figures.known_available)
        words.append(text % {"n": number(figures.known_available)})
    if figures.partly_used:
        text = ngettext("a share of %(n)s", "shares of %(n)s", figures.partly_used)
        words.append(text % {"n": number(figures.partly_used)})
    return _(" and ").join(words)


def _cluster_line(fresh: Freshness, scope: Scope) -> ClusterLine:
    row = next(row for row in scope.clusters if row.pk == fresh.cluster_id)
    is_stale = fresh.is_stale(scope.moment)
    is_fine = row.reach == Reach.OK and not fresh.failures and not is_stale
    return ClusterLine(
        fresh,
        _("paused") if row.is_paused else row.get_reach_display(),
        is_fine=is_fine and not row.is_paused,
        is_stale=is_stale,
    )


def _answer(figures: Sequence[DriverFigures]) -> str:
    known = counted(figures)
    total = sum(each.known_total for each in known)
    words = []
    if known:
        text = ngettext(
            "%(free)s of %(total)s device is free.",
            "%(free)s of %(total)s devices are free.",
            total,
        )
        free = sum(each.known_available for each in known)
        words.append(text % {"free": number(free), "total": number(total)})
    return " ".join([*words, *uncounted_words(figures)])
