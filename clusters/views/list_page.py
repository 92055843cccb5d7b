"""The page of any list: its Listing reads what is asked for, and an app adds what its rows say (docs/adding-a-list.md).

What a list does not understand is refused: no rows are shown then, and what is allowed stands beside the filter box.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db.models import Model
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from clusters.views.emptiness import Emptiness, emptiness, no_such_cluster
from clusters.views.live import Live, LivePage, live_page
from clusters.views.narrowing import culprits, kind_behind, unfiltered_count
from ui.lists import CURSOR, FILTER_BOX, SORT, Choice, Column, Export, Filter, ListView, list_view
from ui.paging import InvalidCursor, Page, keyset_page
from ui.parameters import Parameter, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.functional import Promise

    from clusters.views.frame import Scope
    from ui.frame import Entry
    from ui.listing import Listing

M = TypeVar("M", bound=Model)
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Asked(Generic[M, W]):
    """What was asked for, and the page of rows that answers it."""

    scope: Scope
    query: QueryDict
    wanted: W
    # All rows that match, and those that are shown.
    found: QuerySet[M]
    rows: Sequence[M]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an app says of the rows."""

    # The page's question answered in a sentence or two.
    answer: str
    # What the template of the rows gets, one for each row.
    lines: Sequence[Any]
    # Of all rows that match.
    count: int
    # By parameter: its values, and how many rows have each.
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # The columns, where they are others than those of the declaration.
    columns: Sequence[Column] | None = None
    # A command that prints the same objects.
    kubectl: str = ""
    # A template that stands above the table, and its values.
    above: str = ""
    more: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """What lists/page.html shows."""

    title: Promise | str
    list: ListView
    answer: str = ""
    rows_template: str = ""
    rows: Mapping[str, Any] = field(default_factory=dict)
    # None: there are rows.
    empty: Emptiness | None = None
    # Whether the question was understood, so that there is a count.
    is_answered: bool = True
    above: str = ""
    more: Any = None


@dataclass(frozen=True, slots=True)
class _Shown(Generic[M, W]):
    """A list and what its app adds."""

    listing: Listing[M, W]
    content: Callable[[Asked[M, W]], Content]
    why_empty: Callable[[Scope], Emptiness] | None


def list_page(
    listing: Listing[M, W],
    content: Callable[[Asked[M, W]], Content],
    *,
    entry: Entry,
    why_empty: Callable[[Scope], Emptiness] | None = None,
) -> LivePage[[]]:
    """The view of a list, with its entry in the navigation. `why_empty` explains one that is empty without a filter."""
    shown = _Shown(listing, content, why_empty)

    @live_page(page="lists/page.html", fragment="lists/_list.html", entry=entry)
    def view(request: HttpRequest, scope: Scope) -> Live:
        state = scope.state(listing.subject, *listing.also_subjects)
        return Live(state, lambda: {"page": _page(shown, request, scope)})

    return view


def _page(shown: _Shown[M, W], request: HttpRequest, scope: Scope) -> ListPage:
    """A fixed number of queries whatever the length of the list."""
    listing, params = shown.listing, dict(request.GET.lists())
    if scope.is_missing:
        return _unanswered(listing, request, (), no_such_cluster(scope, noun=listing.noun))
    read = listing.read(params)
    refused = (
        *listing.unknown(params),
        *read.problems,
        *_absent_clusters(scope, getattr(read.wanted, "clusters", ())),
        *listing.absent(scope.snapshot, read.wanted),
        *_order_problems(listing, request.GET),
    )
    if refused:
        return _unanswered(listing, request, refused, Emptiness("refused", listing.noun))
    return _answered(shown, request, scope, read.wanted)


def _unanswered(
    listing: Listing[M, W], request: HttpRequest, refused: Sequence[Refusal], empty: Emptiness
) -> ListPage:
    """No rows: what was asked for is wrong, or about a cluster that there is not."""
    query = request.GET.copy()
    for each in refused:
        # The filter form would carry these on unseen.
        if each.param == SORT or each.param not in listing.names:
            query.pop(each.param, None)
    frame = list_view(
        id=listing.id,
        path=request.path,
        query=query,
        columns=(),
        noun=str(listing.noun),
        shown=0,
        filters=_selects(listing.parameters, query, {}),
        labels=_labels(listing.parameters),
        placeholder=str(listing.placeholder),
        problems=[_refused_words(each) for each in refused],
    )
    # The live part goes on asking for what is in the address.
    frame = replace(frame, url=f"{request.path}?{request.GET.urlencode(safe='/:')}")
    return ListPage(title=listing.title, list=frame, empty=empty, is_answered=False)


def _refused_words(refusal: Refusal) -> str:
    """The message, after the filter's name; the box has none that the page shows."""
    if refusal.param == FILTER_BOX:
        return refusal.message
    return f"{refusal.param}: {refusal.message}"


def _answered(shown: _Shown[M, W], request: HttpRequest, scope: Scope, wanted: W) -> ListPage:
    listing, query = shown.listing, request.GET
    rows = listing.query(scope.snapshot, wanted)
    page, notes = _rows(listing, query, rows.defer(*listing.unshown), wanted=wanted)
    made = shown.content(Asked(scope, query, wanted, rows, page.rows))
    clusters = query.getlist("cluster")
    total = unfiltered_count(listing, scope.snapshot, wanted, clusters=clusters, count=made.count)
    columns = _columns(made.columns or listing.columns, scope)
    frame = list_view(
        id=listing.id,
        path=request.path,
        query=query,
        columns=columns,
        noun=str(listing.noun),
        shown=len(page.rows),
        count=made.count,
        total=total,
        filters=_selects(listing.parameters, query, made.facets),
        labels=_labels(listing.parameters),
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        export=_export(listing, query, kubectl=made.kubectl),
        default_sort=listing.default_order,
        placeholder=str(listing.placeholder),
        problems=notes,
    )
    return ListPage(
        title=listing.title,
        list=frame,
        answer=made.answer,
        rows_template=listing.rows,
        rows=_row_values(made.lines, columns, scope),
        empty=None if page.rows else _why_empty(shown, scope, frame),
        above=made.above,
        more=made.more,
    )


def _why_empty(shown: _Shown[M, W], scope: Scope, frame: ListView) -> Emptiness:
    # Where there is nothing without a filter either, it is not the filters that leave none.
    if frame.is_filtered and frame.total != 0:
        emptying = culprits(shown.listing, scope.snapshot, frame.chips)
        return Emptiness("no-match", shown.listing.noun, culprits=emptying, total=frame.total)
    if shown.why_empty:
        return shown.why_empty(scope)
    return emptiness(scope, noun=shown.listing.noun, kind=kind_behind(shown.listing))


def _rows(
    listing: Listing[M, W], query: QueryDict, rows: QuerySet[M], *, wanted: W
) -> tuple[Page[M], Sequence[str]]:
    """The asked page; a cursor that is not ours gives the first one, and a sentence."""
    order, of = listing.order(query.get(SORT) or listing.default_order), (listing.id, wanted)
    try:
        return keyset_page(rows, of=of, order=order, cursor=query.get(CURSOR)), ()
    except InvalidCursor:
        note = _("That page of the list is not there any more. This is the first one.")
        return keyset_page(rows, of=of, order=order, cursor=None), (note,)


def _order_problems(listing: Listing[M, W], query: QueryDict) -> tuple[Refusal, ...]:
    problem = listing.order_problem(query.get(SORT) or listing.default_order)
    return (problem,) if problem else ()


def _absent_clusters(scope: Scope, names: Sequence[str]) -> tuple[Refusal, ...]:
    """Clusters that a term of the filter box names and that there are not."""
    known = {row.address_name for row in scope.known.values()} | {
        str(number) for number in scope.known
    }
    there = ", ".join(sorted(row.name for row in scope.clusters)) or _("none")
    message = _("There is no cluster “%(name)s”; there are: %(names)s.")
    return tuple(
        Refusal("cluster", message % {"name": name, "names": there})
        for name in names
        if name not in known
    )


def _columns(columns: Sequence[Column], scope: Scope) -> tuple[Column, ...]:
    """Without the cluster, where there is one alone."""
    has_several = len(scope.shown) > 1
    return tuple(column for column in columns if has_several or column.key != "cluster")


def _row_values(
    lines: Sequence[Any], columns: Sequence[Column], scope: Scope
) -> Mapping[str, Any]:
    label = {column.key: str(column.label) for column in columns}
    return {"lines": lines, "label": label, "now": scope.now}


def _labels(parameters: Sequence[Parameter]) -> Mapping[str, str]:
    """Of filters in force; the cluster has its place in the top bar, and terms of the box name themselves."""
    return {each.name: str(each.label) for each in parameters if each.name not in {"cluster", "q"}}


def _selects(
    parameters: Sequence[Parameter], query: QueryDict, facets: Mapping[str, Mapping[str, int]]
) -> tuple[Filter, ...]:
    return tuple(
        _select(each, query.get(each.name, ""), facets.get(each.name))
        for each in parameters
        if each.any_label
    )


def _select(parameter: Parameter, selected: str, counts: Mapping[str, int] | None) -> Filter:
    """Values with words of their own first, then those that rows have; what the address asks for stays a choice."""
    had = [value for value in counts or () if parameter.takes(value)]
    values = dict.fromkeys([*parameter.words(), *had, *([selected] if selected else [])])
    choices = [
        Choice(value, str(parameter.label_of(value)), _count(parameter, value, counts))
        for value in values
    ]
    return Filter(
        parameter.name, str(parameter.label), choices, selected, str(parameter.any_label)
    )


def _count(parameter: Parameter, value: str, counts: Mapping[str, int] | None) -> int | None:
    if counts is None or (value in parameter.uncounted and value not in counts):
        return None
    return counts.get(value, 0)


def _export(listing: Listing[M, W], query: QueryDict, *, kubectl: str) -> Export:
    """The present view from the API, which takes the same filters and refuses what it does not know."""
    kept = QueryDict(mutable=True)
    for name in (*listing.names, SORT):
        values = [value for value in query.getlist(name) if value]
        if values:
            kept.setlist(name, values)
    url, links = reverse(listing.api_url), []
    for form in ("csv", "json"):
        kept["format"] = form
        links.append(f"{url}?{kept.urlencode()}")
    return Export(csv_url=links[0], json_url=links[1], kubectl=kubectl)
