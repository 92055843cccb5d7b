"""One pool status request: what the server answered, and how that compares with our figures."""

from dataclasses import dataclass

import yaml
from django.http import Http404, HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters.choices import POOLS
from clusters.views.frame import Scope
from clusters.views.live import Live, live_page
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from pools import queries
from pools.choices import Outcome
from pools.models import PoolStatusRequest
from pools.views.comparison import Comparison, comparison_of
from pools.views.shared import (
    TONES,
)
from ui.formatting import number
from ui.words import all_words_of, words_of

# Pools whose figures the page of a request compares; the pages of the others have theirs.
MOST_ANSWERS = 100


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


@live_page(page="pools/status_detail.html", fragment="pools/_status.html")
def status_detail(request: HttpRequest, scope: Scope, request_id: int) -> Live:
    """One request: what was asked, what the server answered, and how that compares with our figures."""
    try:
        row = queries.status_request(scope.snapshot, request_id)
    except PoolStatusRequest.DoesNotExist:
        raise Http404(_("There is no such pool status request.")) from None
    # Also of pools, since it leads to those that it names.
    state = scope.about(row.cluster_id).state(RESOURCE_POOL_STATUS_REQUEST.name, POOLS)
    return Live(state, lambda: {"page": _page(row, scope)})


def _page(row: PoolStatusRequest, scope: Scope) -> StatusPage:
    found = queries.answers(scope.snapshot, row)
    answers = list(found[:MOST_ANSWERS])
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
            for each in answers
        ),
        answer_count=len(answers) if len(answers) < MOST_ANSWERS else found.count(),
        blockers=tuple(
            Blocker(each["pool"], ids.get((each["driver"], each["pool"])), words_of(each))
            for each in row.blocked_by
        ),
        manifest=yaml.safe_dump(row.answer, sort_keys=False, allow_unicode=True)
        if row.answer
        else "",
    )


def _detail_answer(row: PoolStatusRequest) -> str:
    """What became of it; the message of the request says what was not compared."""
    if row.outcome != Outcome.ANSWERED:
        return f"{capfirst(row.get_outcome_display())}. {all_words_of(row.notes)}".strip()
    return f"{_agreement(row)} {all_words_of(row.notes)}".strip()


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
