"""Pool status requests: does the server agree with us?"""

from dataclasses import dataclass
from datetime import timedelta

import yaml
from django.http import Http404, HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters import queries as cluster_queries
from clusters.views.frame import Scope
from clusters.views.live import Live, live_page
from pools import filters, queries
from pools.choices import Outcome
from pools.models import PoolStatusRequest
from pools.views.comparison import Comparison, comparison_of
from pools.views.shared import (
    TONES,
    Emptiness,
    export_of,
    filter_messages,
    no_such_cluster,
    params_of,
)
from ui.formatting import duration, number
from ui.lists import Choice, Column, Filter, ListView, list_view
from ui.paging import InvalidCursor, keyset_page

# Pools whose figures the page of a request compares; the pages of the others have theirs.
MOST_ANSWERS = 100


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request in the list."""

    request: PoolStatusRequest
    cluster: str
    tone: str
    took: str


@dataclass(frozen=True, slots=True)
class StatusListPage:
    """What the list of requests shows."""

    answer: str
    list: ListView
    lines: tuple[RequestLine, ...]
    empty: Emptiness | None
    has_several_clusters: bool


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """What the server says of one pool, and what we say."""

    pool_name: str
    pool_id: int | None
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Blocker:
    """A pool that most likely keeps the server from answering."""

    pool_name: str
    pool_id: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class StatusPage:
    """What the page of one request shows."""

    request: PoolStatusRequest
    cluster: str
    tone: str
    answer: str
    lines: tuple[AnswerLine, ...]
    answer_count: int
    blockers: tuple[Blocker, ...]
    manifest: str


@live_page(page="pools/status_list.html", fragment="pools/_status_list.html")
def status_list(request: HttpRequest, scope: Scope) -> Live:
    """The list, or only what is in it for htmx."""
    return Live(scope.etag_parts, lambda: {"page": status_list_page(request, scope)})


def status_list_page(request: HttpRequest, scope: Scope) -> StatusListPage:
    """The page; a fixed number of queries whatever its length."""
    read = filters.read_status_filter(scope.snapshot, params_of(request))
    problems = list(filter_messages(read.problems))
    found = queries.status_requests(scope.snapshot, read.wanted)
    try:
        page = keyset_page(found, order=queries.STATUS_ORDER, cursor=request.GET.get("cursor"))
    except InvalidCursor:
        problems.append(_("That page of the list is not there any more. This is the first one."))
        page = keyset_page(found, order=queries.STATUS_ORDER, cursor=None)
    count = found.count()
    view = list_view(
        id="status-list",
        path=request.path,
        query=request.GET,
        columns=_columns(has_cluster=len(scope.shown) > 1),
        noun=_("pool status requests"),
        shown=len(page.rows),
        count=count,
        filters=[_outcome_select(request), _differing_select(request)],
        labels={"driver": _("driver")},
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
        export=export_of(request, "api:pool-status-requests", params=filters.STATUS_PARAMS),
        placeholder=_("driver:gpu.example.com"),
        problems=problems,
    )
    return StatusListPage(
        answer=_list_answer(scope),
        list=view,
        lines=tuple(
            RequestLine(row, scope.name_of(row.cluster_id), TONES[row.outcome], _took(row))
            for row in page.rows
        ),
        empty=None if page.rows else _emptiness(scope, is_filtered=view.is_filtered),
        has_several_clusters=len(scope.shown) > 1,
    )


def _took(row: PoolStatusRequest) -> str:
    if row.answered_at is None:
        return ""
    passed = row.answered_at - row.created_at
    if passed >= timedelta(seconds=2):
        return duration(passed)
    return _("%(n)s s") % {"n": number(round(passed.total_seconds(), 1))}


def _emptiness(scope: Scope, *, is_filtered: bool) -> Emptiness:
    noun = _("pool status requests")
    if scope.is_missing:
        return no_such_cluster(scope, noun=noun)
    if is_filtered:
        return Emptiness("no-match", noun)
    if not any(cluster_queries.makes_pool_status_requests(row) for row in scope.rows):
        return Emptiness(
            "none", noun, hint=_("They are switched off. A cluster's page switches them on.")
        )
    return Emptiness("none", noun, hint=_("The first one is made within minutes."))


def _columns(*, has_cluster: bool) -> list[Column]:
    columns = [
        Column("created", _("Asked")),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("outcome", _("Outcome")),
        Column("pools", _("Pools answered"), is_number=True),
        Column("differing", _("Differing"), is_number=True),
        Column("took", _("Took"), is_number=True),
    ]
    return [column for column in columns if has_cluster or column.key != "cluster"]


def _outcome_select(request: HttpRequest) -> Filter:
    choices = [Choice(value, str(label)) for value, label in Outcome.choices]
    selected = request.GET.get("outcome", "")
    return Filter("outcome", _("Outcome"), choices, selected, _("any outcome"))


def _differing_select(request: HttpRequest) -> Filter:
    choices = [Choice("true", _("that differ")), Choice("false", _("that agree"))]
    selected = request.GET.get("differing", "")
    return Filter("differing", _("Agreement"), choices, selected, _("agreeing or not"))


def _list_answer(scope: Scope) -> str:
    """Does the server agree with us, by the latest comparison of each driver?"""
    ids = [each.cluster_id for each in scope.shown]
    latest = queries.latest_comparisons(scope.snapshot, ids)
    answered = sum(row.pools_answered or 0 for row in latest)
    differing = sum(row.pools_differing or 0 for row in latest)
    words = [_agreed(answered - differing, answered)] if answered else []
    if differing:
        text = ngettext(
            "%(n)s differs, with its reason beside it.",
            "%(n)s differ, each with its reason beside it.",
            differing,
        )
        words.append(text % {"n": number(differing)})
    off = [row.name for row in scope.rows if not cluster_queries.makes_pool_status_requests(row)]
    if not answered and len(off) < len(scope.rows):
        words.append(_("No answer about a whole driver was compared with our figures yet."))
    if off:
        words.append(_("Switched off for %(names)s.") % {"names": ", ".join(off)})
    return " ".join(words)


def _agreed(agreed: int, answered: int) -> str:
    text = ngettext(
        "The server agreed with us on %(agreed)s of %(n)s pool in its latest answer about each driver.",
        "The server agreed with us on %(agreed)s of %(n)s pools in its latest answer about each driver.",
        answered,
    )
    return text % {"agreed": number(agreed), "n": number(answered)}


@live_page(page="pools/status_detail.html", fragment="pools/_status.html")
def status_detail(request: HttpRequest, scope: Scope, request_id: int) -> Live:
    """One request: what was asked, what the server answered, and how that compares with our figures."""
    try:
        row = queries.status_request(scope.snapshot, request_id)
    except PoolStatusRequest.DoesNotExist:
        raise Http404(_("There is no such pool status request.")) from None
    state = (row.outcome, row.answered_at, row.is_removed)
    return Live(state, lambda: {"page": _page(row, scope)})


def _page(row: PoolStatusRequest, scope: Scope) -> StatusPage:
    answers = list(queries.answers(scope.snapshot, row.pk))
    keys = [(each.driver, each.pool_name) for each in answers]
    keys += [(each["driver"], each["pool"]) for each in row.blocked_by]
    ids = queries.pools_of_keys(scope.snapshot, row.cluster_id, keys)
    return StatusPage(
        request=row,
        cluster=scope.name_of(row.cluster_id),
        tone=TONES[row.outcome],
        answer=_detail_answer(row),
        lines=tuple(
            AnswerLine(each.pool_name, ids.get((each.driver, each.pool_name)), comparison_of(each))
            for each in answers[:MOST_ANSWERS]
        ),
        answer_count=len(answers),
        blockers=tuple(
            Blocker(each["pool"], ids.get((each["driver"], each["pool"])), each["reason"])
            for each in row.blocked_by
        ),
        manifest=yaml.safe_dump(row.answer, sort_keys=False, allow_unicode=True)
        if row.answer
        else "",
    )


def _detail_answer(row: PoolStatusRequest) -> str:
    """What became of it; the message of the request says what was not compared."""
    if row.outcome != Outcome.ANSWERED:
        return f"{capfirst(row.get_outcome_display())}. {row.message}".strip()
    return f"{_agreement(row)} {row.message}".strip()


def _agreement(row: PoolStatusRequest) -> str:
    if row.pools_differing is None:
        return _("Answered, and not compared.")
    if not row.pools_differing:
        return _("Answered. The server's figures are ours.")
    text = ngettext(
        "Answered. %(n)s pool differs, with its reason beside it.",
        "Answered. %(n)s pools differ, with their reasons beside them.",
        row.pools_differing,
    )
    return text % {"n": number(row.pools_differing)}
