"""ResourceSlices as the cluster holds them, in YAML."""

import json
from dataclasses import dataclass

import yaml
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.kubectl import get_resource_slices, kubectl
from clusters.views.live import Live, live_page
from objects import queries as object_queries
from pools import filters, queries
from pools.models import ResourceSlice
from pools.views.shared import (
    Emptiness,
    ShownProblem,
    emptiness,
    export_of,
    filter_messages,
    params_of,
    problems_of,
)
from ui.formatting import number
from ui.lists import Column, ListView, list_view
from ui.paging import InvalidCursor, keyset_page


@dataclass(frozen=True, slots=True)
class SliceLine:
    """One ResourceSlice in the list."""

    slice: ResourceSlice
    cluster: str
    pool_id: int | None
    problems: tuple[ShownProblem, ...]


@dataclass(frozen=True, slots=True)
class SliceListPage:
    """What the list of ResourceSlices shows."""

    answer: str
    list: ListView
    lines: tuple[SliceLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool


@dataclass(frozen=True, slots=True)
class SlicePage:
    """What the page of one ResourceSlice shows."""

    slice: ResourceSlice
    fresh: Freshness
    pool_id: int | None
    manifest: str
    command: str
    problems: tuple[ShownProblem, ...]


@live_page(page="pools/slice_list.html", fragment="pools/_slice_list.html")
def slice_list(request: HttpRequest, scope: Scope) -> Live:
    """The list, or only what is in it for htmx."""
    return Live(scope.etag_parts, lambda: {"page": slice_list_page(request, scope)})


def slice_list_page(request: HttpRequest, scope: Scope) -> SliceListPage:
    """The page; a fixed number of queries whatever its length."""
    read = filters.read_slice_filter(scope.snapshot, params_of(request))
    problems = list(filter_messages(read.problems))
    found = queries.slices(scope.snapshot, read.wanted)
    try:
        page = keyset_page(found, order=queries.SLICE_ORDER, cursor=request.GET.get("cursor"))
    except InvalidCursor:
        problems.append(_("That page of the list is not there any more. This is the first one."))
        page = keyset_page(found, order=queries.SLICE_ORDER, cursor=None)
    count = found.count()
    view = list_view(
        id="slice-list",
        path=request.path,
        query=request.GET,
        columns=_columns(has_cluster=len(scope.shown) > 1),
        noun=_("resource slices"),
        shown=len(page.rows),
        count=count,
        labels={"driver": _("driver"), "pool": _("pool"), "node": _("node")},
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        export=export_of(
            request,
            "api:resource-slices",
            params=filters.SLICE_PARAMS,
            kubectl=get_resource_slices(
                scope.only, drivers=read.wanted.drivers, nodes=read.wanted.nodes
            ),
        ),
        placeholder=_("driver:gpu.example.com node:node-7"),
        problems=problems,
    )
    ids = queries.pool_ids(scope.snapshot, page.rows)
    return SliceListPage(
        answer=ngettext("%(n)s resource slice.", "%(n)s resource slices.", count)
        % {"n": number(count)},
        list=view,
        lines=tuple(_line(row, scope, ids=ids) for row in page.rows),
        empty=None
        if page.rows
        else emptiness(scope, noun=_("resource slices"), is_filtered=view.is_filtered),
        has_several_clusters=len(scope.shown) > 1,
    )


def _line(row: ResourceSlice, scope: Scope, *, ids: queries.PoolIds) -> SliceLine:
    return SliceLine(
        row,
        scope.name_of(row.cluster_id),
        ids.get((row.cluster_id, row.driver, row.pool_name)),
        problems_of(row),
    )


def _columns(*, has_cluster: bool) -> list[Column]:
    columns = [
        Column("name", _("Resource slice")),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("node", _("Node")),
        Column("generation", _("Generation"), is_number=True),
        Column("devices", _("Devices"), is_number=True),
        Column("changed", _("Changed")),
    ]
    return [column for column in columns if has_cluster or column.key != "cluster"]


@live_page(page="pools/slice_detail.html", fragment="pools/_slice.html")
def slice_detail(request: HttpRequest, scope: Scope, object_id: int) -> Live:
    """One ResourceSlice; htmx gets what is live in it."""
    try:
        row = queries.resource_slice(scope.snapshot, object_id)
    except ResourceSlice.DoesNotExist:
        raise Http404(_("There is no such ResourceSlice now.")) from None
    only = scope.about(row.cluster_id)
    state = (row.changed_at, only.is_stale)
    return Live(state, lambda: {"page": _slice_page(row, only)})


def _slice_page(row: ResourceSlice, scope: Scope) -> SlicePage:
    ids = queries.pools_of_keys(scope.snapshot, row.cluster_id, [(row.driver, row.pool_name)])
    found = object_queries.object_body(scope.snapshot, row.cluster_id, row.object_id)
    return SlicePage(
        slice=row,
        fresh=scope.fresh[row.cluster_id],
        pool_id=ids.get((row.driver, row.pool_name)),
        manifest=as_yaml(found[1]) if found else "",
        command=kubectl(scope.chosen, "get", "resourceslice", row.name, "-o", "yaml"),
        problems=problems_of(row),
    )


def as_yaml(body: bytes) -> str:
    """An object as kubectl prints it, in the order of its own fields."""
    return yaml.safe_dump(json.loads(body), sort_keys=False, allow_unicode=True, width=200)
