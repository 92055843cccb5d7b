"""What the list component shows around its rows: columns with sort links, filters with chips, count, pages, exports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.http import QueryDict
from django.utils.functional import Promise

from ui.filter_box import Term, join_terms, split_terms
from ui.moments import AT

# Parameters that name a place in a list; they mean nothing once the list is filtered or sorted anew.
CURSOR = "cursor"
SORT = "sort"
FILTER_BOX = "q"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as a page declares it."""

    key: str
    label: Promise | str
    is_sortable: bool = False
    is_number: bool = False
    # One sentence for hover: where the figure comes from, what it leaves out.
    note: Promise | str = ""


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A column's head in the present view."""

    column: Column
    url: str
    direction: Literal["ascending", "descending", ""]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a select, with the number of rows it would leave; None when not counted."""

    value: str
    label: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A select of the filter form; `name` is the parameter."""

    name: str
    label: str
    choices: Sequence[Choice]
    selected: str = ""
    # The words of "no filter", such as "any driver".
    any_label: str = ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter in force, and the address without it."""

    label: str
    value: str
    url: str


@dataclass(frozen=True, slots=True)
class Export:
    """Addresses of the present view in other forms; empty where there is none."""

    csv_url: str = ""
    json_url: str = ""
    # A command that prints the same objects.
    kubectl: str = ""


@dataclass(frozen=True, slots=True)
class ListView:
    """Everything of a list but its rows."""

    # Id of the element that is swapped, and the address of the present view.
    id: str
    url: str
    heads: Sequence[ColumnHead]
    filters: Sequence[Filter]
    chips: Sequence[Chip]
    # Address without any filter; the cluster chosen in the top bar stays.
    clear_url: str
    filter_text: str
    # Parameters that the filter form carries on unseen.
    kept: Sequence[tuple[str, str]]
    # Rows that match; None when not counted, `is_count_exact` False when it is a lower bound.
    count: int | None
    is_count_exact: bool
    # Rows that there are without any filter; None when not counted.
    total: int | None
    shown: int
    next_url: str
    previous_url: str
    export: Export
    # What a row is, in the plural: "pools".
    noun: str
    placeholder: str
    # Sentences about filters that could not be read.
    problems: Sequence[str]

    @property
    def is_filtered(self) -> bool:
        """Whether an empty list may be empty because of its filters."""
        return bool(self.chips)


def with_query(path: str, query: QueryDict, **changes: str | None) -> str:
    """The address with some parameters changed; None takes one away. Any change goes back to the first page."""
    changed = query.copy()
    changed.pop(CURSOR, None)
    for name, value in changes.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = value
    return f"{path}?{changed.urlencode(safe='/:')}" if changed else path


def column_heads(
    columns: Iterable[Column], *, path: str, query: QueryDict, default_sort: str = ""
) -> tuple[ColumnHead, ...]:
    """Heads whose links sort by their column, and the other way round when it is sorted by already."""
    sort = query.get(SORT) or default_sort
    heads = []
    for column in columns:
        is_by_this = column.is_sortable and sort.removeprefix("-") == column.key
        is_descending = is_by_this and sort.startswith("-")
        turned = f"-{column.key}" if is_by_this and not is_descending else column.key
        url = with_query(path, query, **{SORT: turned}) if column.is_sortable else ""
        direction: Literal["ascending", "descending", ""] = ""
        if is_by_this:
            direction = "descending" if is_descending else "ascending"
        heads.append(ColumnHead(column, url, direction))
    return tuple(heads)


def chips(
    *, path: str, query: QueryDict, filters: Iterable[Filter], labels: Mapping[str, str]
) -> tuple[Chip, ...]:
    """One chip per filter in force: selects, other parameters named in `labels`, and each term of the filter box."""
    selects = {choice.name: choice for choice in filters}
    made = []
    for name in (*selects, *(name for name in labels if name not in selects)):
        for value in query.getlist(name):
            if value:
                label = selects[name].label if name in selects else labels[name]
                shown = _shown(selects.get(name), value)
                made.append(Chip(label, shown, _without(path, query, name=name, value=value)))
    terms = split_terms(query.get(FILTER_BOX, ""))
    made += [_term_chip(term, terms, path=path, query=query) for term in terms]
    return tuple(made)


def list_view(
    *,
    id: str,
    path: str,
    query: QueryDict,
    columns: Iterable[Column],
    noun: str,
    shown: int,
    count: int | None = None,
    is_count_exact: bool = True,
    total: int | None = None,
    filters: Sequence[Filter] = (),
    labels: Mapping[str, str] | None = None,
    next_cursor: str | None = None,
    previous_cursor: str | None = None,
    export: Export | None = None,
    default_sort: str = "",
    placeholder: str = "",
    problems: Sequence[str] = (),
) -> ListView:
    """Put a list's frame together from the request's query; pure, so that tests call it without a request."""
    in_force = chips(path=path, query=query, filters=filters, labels=labels or {})
    in_form = {FILTER_BOX, CURSOR, *(choice.name for choice in filters)}
    return ListView(
        id=id,
        url=f"{path}?{query.urlencode(safe='/:')}" if query else path,
        heads=column_heads(columns, path=path, query=query, default_sort=default_sort),
        filters=filters,
        chips=in_force,
        clear_url=_cleared(path, query),
        filter_text=query.get(FILTER_BOX, ""),
        kept=[
            (name, value)
            for name, values in query.lists()
            for value in values
            if name not in in_form
        ],
        count=count,
        is_count_exact=is_count_exact,
        total=total,
        shown=shown,
        next_url=_page_url(path, query, next_cursor),
        previous_url=_page_url(path, query, previous_cursor),
        export=export or Export(),
        noun=noun,
        placeholder=placeholder,
        problems=problems,
    )


def _shown(select: Filter | None, value: str) -> str:
    labels = {choice.value: choice.label for choice in select.choices} if select else {}
    return labels.get(value, value)


def _without(path: str, query: QueryDict, *, name: str, value: str) -> str:
    left = query.copy()
    left.pop(CURSOR, None)
    left.setlist(name, [other for other in left.getlist(name) if other != value])
    return f"{path}?{left.urlencode(safe='/:')}" if left.urlencode() else path


def _term_chip(term: Term, terms: Sequence[Term], *, path: str, query: QueryDict) -> Chip:
    rest = join_terms(other for other in terms if other is not term)
    return Chip(term.key, term.value, with_query(path, query, q=rest or None))


def _cleared(path: str, query: QueryDict) -> str:
    kept = QueryDict(mutable=True)
    for name in ("cluster", SORT, AT):
        if value := query.get(name):
            kept[name] = value
    return f"{path}?{kept.urlencode()}" if kept else path


def _page_url(path: str, query: QueryDict, cursor: str | None) -> str:
    return with_query(path, query, **{CURSOR: cursor}) if cursor else ""
