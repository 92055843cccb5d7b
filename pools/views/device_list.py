"""Devices: where is a device like this?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.views.frame import Scope
from clusters.views.kubectl import get_resource_slices
from clusters.views.live import Live, live_page
from pools import filters, queries
from pools.choices import DeviceState
from pools.models import Allocation, Device
from pools.views.shared import (
    Emptiness,
    ShownProblem,
    emptiness,
    export_of,
    filter_messages,
    params_of,
    problems_of,
)
from ui.formatting import Reading, number, quantity
from ui.lists import Choice, Column, Filter, ListView, list_view
from ui.paging import InvalidCursor, Page, keyset_page

DEFAULT_SORT = "name"
# Attribute and capacity columns shown unless the URL chooses some.
DEFAULT_COLUMNS = 4
MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of one attribute or capacity; None: this device does not have it."""

    label: str
    reading: Reading | None


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """One device in the list."""

    device: Device
    cluster: str
    cells: tuple[Cell, ...]
    holders: tuple[Allocation, ...]
    problems: tuple[ShownProblem, ...]


@dataclass(frozen=True, slots=True)
class DeviceListPage:
    """What the list of devices shows."""

    answer: str
    list: ListView
    lines: tuple[DeviceLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool
    # Whether devices of several drivers may be among them.
    has_driver: bool
    # All names a column could be made of, and those that are columns now.
    column_names: tuple[str, ...]
    chosen_columns: tuple[str, ...]


@live_page(page="pools/device_list.html", fragment="pools/_device_list.html")
def device_list(request: HttpRequest, scope: Scope) -> Live:
    """The list, or only what is in it for htmx."""
    return Live(scope.etag_parts, lambda: {"page": device_list_page(request, scope)})


def device_list_page(request: HttpRequest, scope: Scope) -> DeviceListPage:
    """The page; a fixed number of queries whatever its length."""
    read = filters.read_device_filter(scope.snapshot, params_of(request))
    problems = list(filter_messages(read.problems))
    found = queries.devices(scope.snapshot, read.wanted)
    page, more_problems = _page(request, found)
    facets = queries.device_facets(scope.snapshot, read.wanted)
    drivers = [facet.value for facet in facets["driver"]]
    names = queries.attribute_names(scope.snapshot, drivers)
    asked = dict.fromkeys(name for name in request.GET.getlist("column") if name)
    chosen = tuple(asked)[:MOST_COLUMNS] or _default_columns(names, read.wanted)
    count = sum(facet.count for facet in facets["driver"])
    view = _list_view(
        request,
        page,
        scope=scope,
        wanted=read.wanted,
        facets=facets,
        count=count,
        columns=chosen,
        problems=problems + more_problems,
    )
    holders = queries.holders(scope.snapshot, page.rows)
    return DeviceListPage(
        answer=_answer(facets),
        list=view,
        lines=tuple(
            DeviceLine(
                device=row,
                cluster=scope.name_of(row.cluster_id),
                cells=tuple(
                    cell_of(row, name, label=label) for name, label in labels(chosen).items()
                ),
                holders=tuple(holders.get(row.id, ())),
                problems=problems_of(row),
            )
            for row in page.rows
        ),
        empty=None
        if page.rows
        else emptiness(scope, noun=_("devices"), is_filtered=view.is_filtered),
        has_several_clusters=len(scope.shown) > 1,
        has_driver=len(read.wanted.drivers) != 1,
        column_names=tuple(dict.fromkeys([*names, *chosen])),
        chosen_columns=chosen,
    )


def _page(request: HttpRequest, found: QuerySet[Device]) -> tuple[Page[Device], list[str]]:
    sort = request.GET.get("sort") or DEFAULT_SORT
    problems = []
    if sort.lstrip("-") not in queries.DEVICE_ORDERS:
        problems.append(_("There is no column “%(sort)s” to sort by.") % {"sort": sort})
        sort = DEFAULT_SORT
    order = queries.order_columns(queries.DEVICE_ORDERS, sort)
    try:
        return keyset_page(found, order=order, cursor=request.GET.get("cursor")), problems
    except InvalidCursor:
        problems.append(_("That page of the list is not there any more. This is the first one."))
        return keyset_page(found, order=order, cursor=None), problems


def _default_columns(names: Sequence[str], wanted: queries.DeviceFilter) -> tuple[str, ...]:
    """What is filtered by first, then what most devices have."""
    filtered = [match.name for alternatives in wanted.matches for match in alternatives]
    known = set(names)
    ordered = dict.fromkeys([*(name for name in filtered if name in known), *names])
    return tuple(ordered)[:DEFAULT_COLUMNS]


def labels(names: Sequence[str]) -> dict[str, str]:
    """Short heads of columns by name: without the domain, where that leaves them different."""
    short = Counter(name.rpartition("/")[2] for name in names)
    cut = {name: name.rpartition("/")[2] for name in names}
    return {name: cut[name] if short[cut[name]] == 1 else name for name in names}


def cell_of(device: Device, name: str, *, label: str) -> Cell:
    """The capacity or attribute called `name`, as a person reads it."""
    for use in device.capacity:
        if use["name"] == name:
            return Cell(label, quantity(use["total"], name=name))
    if name in device.attributes:
        return Cell(label, attribute_reading(device.attributes[name]))
    return Cell(label, None)


def attribute_reading(value: Any) -> Reading:
    """An attribute's value as text, and as a filter takes it: "" where no filter says the same."""
    if isinstance(value, bool):
        return Reading(str(value).lower(), str(value).lower())
    if isinstance(value, list):
        return Reading(", ".join(str(each) for each in value), "")
    if value == "":
        return Reading(_("(empty)"), "")
    return Reading(str(value), str(value))


def _columns(names: Sequence[str], *, has_cluster: bool, has_driver: bool) -> list[Column]:
    columns = [
        Column("name", _("Device"), is_sortable=True),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("node", _("Node"), is_sortable=True),
        Column("state", _("State"), is_sortable=True),
        *(Column(f"column:{name}", label, note=name) for name, label in labels(names).items()),
        Column("holders", _("Held by")),
    ]
    left_out = {
        name for name, has in (("cluster", has_cluster), ("driver", has_driver)) if not has
    }
    return [column for column in columns if column.key not in left_out]


def _list_view(
    request: HttpRequest,
    page: Page[Device],
    *,
    scope: Scope,
    wanted: queries.DeviceFilter,
    facets: dict[str, list[queries.Facet]],
    count: int,
    columns: Sequence[str],
    problems: Sequence[str],
) -> ListView:
    return list_view(
        id="device-list",
        path=request.path,
        query=request.GET,
        columns=_columns(
            columns, has_cluster=len(scope.shown) > 1, has_driver=len(wanted.drivers) != 1
        ),
        noun=_("devices"),
        shown=len(page.rows),
        count=count,
        filters=[
            _driver_select(request, facets["driver"]),
            _state_select(request, facets["state"]),
            _taint_select(request),
        ],
        labels={
            "pool": _("pool"),
            "node": _("node"),
            "attribute": _("attribute"),
            "capacity": _("capacity"),
            "partly_used": _("partly used"),
        },
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        export=export_of(
            request,
            "api:devices",
            params=filters.DEVICE_PARAMS,
            kubectl=get_resource_slices(scope.only, drivers=wanted.drivers, nodes=wanted.nodes),
        ),
        default_sort=DEFAULT_SORT,
        placeholder=_("node:node-7 memory>=40Gi"),
        problems=problems,
    )


def _driver_select(request: HttpRequest, facets: Sequence[queries.Facet]) -> Filter:
    choices = [Choice(facet.value, facet.value, facet.count) for facet in facets]
    selected = request.GET.get("driver", "")
    if selected and selected not in {choice.value for choice in choices}:
        choices.append(Choice(selected, selected, 0))
    return Filter("driver", _("Driver"), choices, selected, _("any driver"))


def _state_select(request: HttpRequest, facets: Sequence[queries.Facet]) -> Filter:
    counts = {facet.value: facet.count for facet in facets}
    choices = [
        Choice(value, str(label), counts.get(value, 0)) for value, label in DeviceState.choices
    ]
    return Filter("state", _("State"), choices, request.GET.get("state", ""), _("any state"))


def _taint_select(request: HttpRequest) -> Filter:
    choices = [Choice("true", _("tainted")), Choice("false", _("not tainted"))]
    selected = request.GET.get("tainted", "")
    return Filter("tainted", _("Taints"), choices, selected, _("tainted or not"))


def _answer(facets: dict[str, list[queries.Facet]]) -> str:
    counts = {facet.value: facet.count for facet in facets["state"]}
    total = sum(counts.values())
    if not total:
        return ""
    words = [
        ngettext("%(n)s device", "%(n)s devices", total) % {"n": number(total)},
        _("%(n)s free") % {"n": number(counts.get("available", 0))},
    ]
    if counts.get("unknown"):
        words.append(_("%(n)s of which nothing is known") % {"n": number(counts["unknown"])})
    return ", ".join(words) + "."
