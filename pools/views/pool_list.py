"""Pools: which are short, broken or new?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.kubectl import get_resource_slices
from clusters.views.live import Live, live_page
from pools import filters, queries
from pools.models import Pool
from pools.views.counted import counted, uncounted_words
from pools.views.shared import (
    Emptiness,
    ShownProblem,
    counts_of,
    emptiness,
    export_of,
    filter_messages,
    fits_now,
    generation_note,
    params_of,
    problems_of,
)
from ui.formatting import age, exact_time, number
from ui.lists import Choice, Column, Filter, ListView, list_view
from ui.paging import InvalidCursor, Page, keyset_page

DEFAULT_SORT = "problems"


@dataclass(frozen=True, slots=True)
class PoolLine:
    """One pool in the list."""

    pool: Pool
    cluster: str
    devices: dict[str, int | None]
    fits: str
    # Its generation, where that is not plain: not known, or older ones are still published.
    generation_note: str
    problems: tuple[ShownProblem, ...]
    is_stale: bool
    # What its figures were computed from, and as of when, in words.
    provenance: str


@dataclass(frozen=True, slots=True)
class PoolListPage:
    """What the list of pools shows."""

    answer: str
    list: ListView
    lines: tuple[PoolLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool


@live_page(page="pools/list.html", fragment="pools/_list.html")
def pool_list(request: HttpRequest, scope: Scope) -> Live:
    """The list, or only what is in it for htmx."""
    return Live(scope.etag_parts, lambda: {"page": pool_list_page(request, scope)})


def pool_list_page(request: HttpRequest, scope: Scope) -> PoolListPage:
    """The page; a fixed number of queries whatever its length."""
    read = filters.read_pool_filter(scope.snapshot, params_of(request))
    problems = list(filter_messages(read.problems))
    found = queries.pools(scope.snapshot, read.wanted)
    page, sort_problem = _page(request, found)
    problems += sort_problem
    facets = queries.pool_facets(scope.snapshot, read.wanted)
    count = sum(facet.count for facet in facets["driver"])
    view = _list_view(
        request,
        page,
        scope=scope,
        wanted=read.wanted,
        facets=facets,
        count=count,
        problems=problems,
    )
    chosen = [scope.chosen_name] if scope.chosen_name else []
    return PoolListPage(
        answer=_answer(queries.driver_figures(scope.snapshot, chosen)),
        list=view,
        lines=_lines(page.rows, scope),
        empty=None
        if page.rows
        else emptiness(scope, noun=_("pools"), is_filtered=view.is_filtered),
        has_several_clusters=len(scope.shown) > 1,
    )


def _page(request: HttpRequest, found: QuerySet[Pool]) -> tuple[Page[Pool], list[str]]:
    """The asked page; a sort word or a cursor that is not ours gives the first page, and a sentence."""
    sort = request.GET.get("sort") or DEFAULT_SORT
    problems = []
    if sort.lstrip("-") not in queries.POOL_ORDERS:
        problems.append(_("There is no column “%(sort)s” to sort by.") % {"sort": sort})
        sort = DEFAULT_SORT
    order = queries.order_columns(queries.POOL_ORDERS, sort)
    try:
        return keyset_page(found, order=order, cursor=request.GET.get("cursor")), problems
    except InvalidCursor:
        problems.append(_("That page of the list is not there any more. This is the first one."))
        return keyset_page(found, order=order, cursor=None), problems


def _lines(rows: Sequence[Pool], scope: Scope) -> tuple[PoolLine, ...]:
    """The rows. What is the same for all pools of a cluster is put into words once."""
    found = {number: scope.fresh[number] for number in {pool.cluster_id for pool in rows}}
    stale = {number: fresh.is_stale(scope.now) for number, fresh in found.items()}
    provenance = {number: _provenance(fresh, now=scope.now) for number, fresh in found.items()}
    return tuple(
        PoolLine(
            pool=pool,
            cluster=scope.name_of(pool.cluster_id),
            devices=counts_of(pool),
            fits=fits_now(pool),
            generation_note=generation_note(pool),
            problems=problems_of(pool),
            is_stale=stale[pool.cluster_id],
            provenance=provenance[pool.cluster_id],
        )
        for pool in rows
    )


def _provenance(fresh: Freshness, *, now: datetime) -> str:
    words = {
        "source": fresh.source,
        "moment": exact_time(fresh.observed_at),
        "age": age(fresh.observed_at, now=now),
    }
    if fresh.observed_at is None:
        return _("%(source)s; not all of it has been read yet") % words
    if fresh.is_stale(now):
        return _("%(source)s; as of %(moment)s, %(age)s: stale") % words
    return _("%(source)s; as of %(moment)s") % words


def _columns(*, has_cluster: bool) -> list[Column]:
    columns = [
        Column("name", _("Pool"), is_sortable=True),
        Column("driver", _("Driver"), is_sortable=True),
        Column("cluster", _("Cluster")),
        Column("node", _("Node"), is_sortable=True),
        Column("devices", _("Devices"), note=_("Of the newest generation.")),
        Column("available", _("Free"), is_sortable=True, is_number=True),
        Column("total", _("Total"), is_sortable=True, is_number=True),
        Column("fits", _("Fits now"), note=_("Partition types are alternatives.")),
        Column("problems", _("Problems"), is_sortable=True),
    ]
    return [column for column in columns if has_cluster or column.key != "cluster"]


def _list_view(
    request: HttpRequest,
    page: Page[Pool],
    *,
    scope: Scope,
    wanted: queries.PoolFilter,
    facets: dict[str, list[queries.Facet]],
    count: int,
    problems: Sequence[str],
) -> ListView:
    path, query = request.path, request.GET
    return list_view(
        id="pool-list",
        path=path,
        query=query,
        columns=_columns(has_cluster=len(scope.shown) > 1),
        noun=_("pools"),
        shown=len(page.rows),
        count=count,
        filters=[
            _driver_select(request, facets["driver"]),
            _fits_select(request, facets["fits"]),
            _problem_select(request, facets["problem"]),
            _complete_select(request),
        ],
        labels={
            "node": _("node"),
            "vanished": _("vanished"),
        },
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        export=export_of(
            request,
            "api:pools",
            params=filters.POOL_PARAMS,
            kubectl=get_resource_slices(scope.only, drivers=wanted.drivers, nodes=wanted.nodes),
        ),
        default_sort=DEFAULT_SORT,
        placeholder=_("node:node-7 fits:3g.40gb"),
        problems=problems,
    )


def _with_selected(choices: list[Choice], selected: str) -> list[Choice]:
    """What the address asks for stays a choice, also where nothing has it."""
    if selected and selected not in {choice.value for choice in choices}:
        choices.append(Choice(selected, selected, 0))
    return choices


def _driver_select(request: HttpRequest, facets: Sequence[queries.Facet]) -> Filter:
    selected = request.GET.get("driver", "")
    choices = [Choice(facet.value, facet.value, facet.count) for facet in facets]
    return Filter(
        "driver", _("Driver"), _with_selected(choices, selected), selected, _("any driver")
    )


def _fits_select(request: HttpRequest, facets: Sequence[queries.Facet]) -> Filter:
    selected = request.GET.get("fits", "")
    choices = [
        Choice(
            facet.value,
            _("fits any device") if facet.value == "device" else facet.value,
            facet.count,
        )
        for facet in facets
    ]
    return Filter(
        "fits", _("What still fits"), _with_selected(choices, selected), selected, _("fits or not")
    )


def _problem_select(request: HttpRequest, facets: Sequence[queries.Facet]) -> Filter:
    selected = request.GET.get("problem", "")
    choices = [
        Choice("any", _("with any problem")),
        Choice("none", _("without a problem")),
        *(Choice(facet.value, facet.value.replace("_", " "), facet.count) for facet in facets),
    ]
    return Filter(
        "problem", _("Problem"), _with_selected(choices, selected), selected, _("problems or not")
    )


def _complete_select(request: HttpRequest) -> Filter:
    choices = [Choice("true", _("complete")), Choice("false", _("incomplete"))]
    return Filter(
        "complete",
        _("Completeness"),
        choices,
        request.GET.get("complete", ""),
        _("complete or not"),
    )


def _answer(figures: Sequence[queries.DriverFigures]) -> str:
    """The page's question answered in a sentence or two."""
    known = counted(figures)
    pools = sum(each.pools for each in known)
    troubled = sum(each.pools_with_problems for each in figures)
    total = sum(each.known_total for each in known)
    words = []
    if known:
        text = ngettext(
            "%(free)s of %(total)s device is free, in %(pools)s.",
            "%(free)s of %(total)s devices are free, in %(pools)s.",
            total,
        )
        words.append(
            text
            % {
                "free": number(sum(each.known_available for each in known)),
                "total": number(total),
                "pools": ngettext("%(n)s pool", "%(n)s pools", pools) % {"n": number(pools)},
            }
        )
    words += uncounted_words(figures)
    if troubled:
        text = ngettext("%(n)s pool has a problem.", "%(n)s pools have problems.", troubled)
        words.append(text % {"n": number(troubled)})
    return " ".join(words)
