"""Pool status requests: does the server agree with us?"""

from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters import queries as cluster_queries
from clusters.views.emptiness import Emptiness
from clusters.views.frame import Scope
from clusters.views.list_page import Asked, Content, list_page
from pools import queries
from pools.listings import STATUS_REQUESTS
from pools.models import PoolStatusRequest
from pools.queries import StatusFilter
from pools.views.shared import TONES
from ui.formatting import duration, number
from ui.frame import Entry
from ui.words import all_words_of


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request in the list."""

    request: PoolStatusRequest
    cluster: str
    tone: str
    # What there is to say beside the outcome.
    notes: str
    # Of how many pools some are answered; "" where all are.
    of: str
    took: str


def _content(asked: Asked[PoolStatusRequest, StatusFilter]) -> Content:
    return Content(
        answer=_answer(asked.scope),
        lines=tuple(_line(row, asked.scope) for row in asked.rows),
        count=asked.found.count(),
    )


def _why_empty(scope: Scope) -> Emptiness:
    noun = STATUS_REQUESTS.noun
    if scope.snapshot.at:
        # Whether they were switched on then is not kept.
        return Emptiness("none" if scope.rows else "not-then", noun)
    if not any(cluster_queries.makes_pool_status_requests(row) for row in scope.rows):
        return Emptiness(
            "none", noun, hint=_("They are switched off. A cluster's page switches them on.")
        )
    return Emptiness("none", noun, hint=_("The first one is made within minutes."))


status_list = list_page(
    STATUS_REQUESTS,
    _content,
    entry=Entry(gettext_lazy("Pool status requests"), "requests", "r", "system"),
    why_empty=_why_empty,
)


def _line(row: PoolStatusRequest, scope: Scope) -> RequestLine:
    return RequestLine(
        request=row,
        cluster=scope.name_of(row.cluster_id),
        tone=TONES[row.outcome],
        notes=all_words_of(row.notes),
        of=_of(row),
        took=_took(row),
    )


def _of(row: PoolStatusRequest) -> str:
    if row.pool_count is None or row.pool_count == row.pools_answered:
        return ""
    return _("of %(count)s") % {"count": number(row.pool_count)}


def _took(row: PoolStatusRequest) -> str:
    if row.answered_at is None:
        return ""
    passed = row.answered_at - row.created_at
    if passed >= timedelta(seconds=2):
        return duration(passed)
    return _("%(n)s s") % {"n": number(round(passed.total_seconds(), 1))}


def _answer(scope: Scope) -> str:
    """Does the server agree with us, by the latest comparison of each driver?"""
    ids = [each.cluster_id for each in scope.shown]
    found = queries.agreement(scope.snapshot, ids)
    words = [_agreed(found)] if found.compared else []
    if found.differing:
        text = ngettext(
            "%(n)s differs, with its reason beside it.",
            "%(n)s differ, each with its reason beside it.",
            found.differing,
        )
        words.append(text % {"n": number(found.differing)})
    if scope.snapshot.at:
        # Whether they were switched on then is not kept.
        return " ".join(words)
    off = [
        scope.name_of(row.pk)
        for row in scope.rows
        if not cluster_queries.makes_pool_status_requests(row)
    ]
    if not found.compared and len(off) < len(scope.rows):
        words.append(_("No answer about a whole driver was compared with our figures yet."))
    if off:
        words.append(_("Switched off for %(names)s.") % {"names": ", ".join(off)})
    return " ".join(words)


def _agreed(found: queries.Agreement) -> str:
    text = ngettext(
        "The server agreed with us on %(agreed)s of %(n)s pool that was compared in its latest answer about each driver.",
        "The server agreed with us on %(agreed)s of %(n)s pools that were compared in its latest answer about each driver.",
        found.compared,
    )
    agreed = found.compared - found.differing
    return text % {"agreed": number(agreed), "n": number(found.compared)}
