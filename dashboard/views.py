"""Overview: is my fleet fine, and how much of it is free?"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from clusters.queries import Freshness
from clusters.views.frame import Scope, scope_of
from pools import queries
from pools.models import Allocation, Pool
from pools.queries import DriverFigures
from pools.views.shared import Emptiness, ShownProblem, emptiness, pool_url, problems_of
from ui.formatting import number
from ui.htmx import fragment_etag, not_modified, render_page_or_fragment

# Problems and lost allocations that the page names; the lists behind it have them all.
SHOWN = 12


@dataclass(frozen=True, slots=True)
class DriverLine:
    """The figures of one driver in one cluster."""

    figures: DriverFigures
    devices: dict[str, int | None]
    fresh: Freshness
    is_stale: bool


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """How one cluster is reached and how fresh it is."""

    fresh: Freshness
    reach: str
    is_fine: bool


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """What the overview shows."""

    answer: str
    drivers: tuple[DriverLine, ...]
    problems: tuple[ShownProblem, ...]
    has_more_problems: bool
    unpublished: tuple[Allocation, ...]
    clusters: tuple[ClusterLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool


@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    """The page; htmx gets what is live in it."""
    scope = scope_of(request)
    etag = fragment_etag(request, *scope.etag_parts)
    unchanged = not_modified(request, etag=etag)
    if unchanged is not None:
        return unchanged
    return render_page_or_fragment(
        request,
        page="dashboard/overview.html",
        fragment="dashboard/_overview.html",
        context={"page": overview_page(scope)},
        etag=etag,
    )


def overview_page(scope: Scope) -> OverviewPage:
    """The page; a fixed number of queries."""
    chosen = [scope.chosen_name] if scope.chosen_name else []
    figures = queries.driver_figures(chosen)
    pools = queries.troubled_pools(chosen, limit=SHOWN + 1)
    lost = queries.unpublished_allocations([each.cluster_id for each in scope.shown])
    problems = [problem for pool in pools[:SHOWN] for problem in _pool_problems(pool)]
    return OverviewPage(
        answer=_answer(figures),
        drivers=tuple(_driver_line(each, scope) for each in figures),
        problems=tuple(problems),
        has_more_problems=len(pools) > SHOWN,
        unpublished=tuple(lost[:SHOWN]),
        clusters=tuple(_cluster_line(each, scope) for each in scope.shown),
        empty=None if figures else emptiness(scope, noun=_("pools"), is_filtered=False),
        has_several_clusters=len(scope.shown) > 1,
    )


def _driver_line(figures: DriverFigures, scope: Scope) -> DriverLine:
    fresh = scope.fresh[figures.cluster_id]
    devices = {
        name: getattr(figures, name)
        for name in (
            "total",
            "seen",
            "allocated",
            "partly_used",
            "available",
            "blocked",
            "unavailable",
        )
    }
    return DriverLine(figures, devices, fresh, fresh.is_stale(scope.now))


def _cluster_line(fresh: Freshness, scope: Scope) -> ClusterLine:
    rows = {row.pk: row for row in scope.clusters}
    row = rows[fresh.cluster_id]
    is_fine = row.reach == "ok" and not fresh.failures and not fresh.is_stale(scope.now)
    return ClusterLine(fresh, row.get_reach_display(), is_fine)


def _pool_problems(pool: Pool) -> list[ShownProblem]:
    """The worst problem of a pool, named with it."""
    return [
        ShownProblem(
            problem.code,
            f"{pool.driver}/{pool.name}: {problem.message}",
            problem.severity,
            url=pool_url(pool.id),
        )
        for problem in problems_of(pool)[:1]
    ]


def _answer(figures: Sequence[DriverFigures]) -> str:
    if not figures:
        return ""
    free = sum(each.known_available for each in figures)
    total = sum(each.known_total for each in figures)
    unknown = sum(each.pools_with_unknown_total for each in figures)
    words = [
        _("%(free)s of %(total)s devices are free.")
        % {"free": number(free), "total": number(total)}
    ]
    if unknown:
        text = ngettext(
            "%(n)s pool cannot be used or counted.",
            "%(n)s pools cannot be used or counted.",
            unknown,
        )
        words.append(text % {"n": number(unknown)})
    return " ".join(words)
