"""Pools: which are short, broken or new?"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.kubectl import get_resource_slices
from clusters.views.list_page import Asked, Content, list_page
from pools import queries
from pools.choices import counts_of
from pools.listings import POOLS
from pools.models import Pool
from pools.queries import PoolFilter
from pools.views.counted import counted, uncounted_words
from pools.views.shared import (
    ShownProblem,
    facet_counts,
    fits_now,
    generation_note,
    problems_of,
)
from ui.formatting import age, exact_time, number
from ui.frame import Entry
from ui.words import source_words

# Problems that a row names before it says how many there are.
_SHOWN_PROBLEMS = 2


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
    # How many problems there are, where the row does not show them all.
    more_problems: str
    is_stale: bool
    # What its figures were computed from, and as of when, in words.
    provenance: str


def _content(asked: Asked[Pool, PoolFilter]) -> Content:
    scope, wanted = asked.scope, asked.wanted
    counts = queries.pool_counts(scope.snapshot, wanted)
    return Content(
        answer=_answer(counts.drivers),
        lines=_lines(asked.rows, scope),
        count=sum(facet.count for facet in counts.facets["driver"]),
        facets=facet_counts(counts.facets),
        kubectl=get_resource_slices(scope.only, drivers=wanted.drivers, nodes=wanted.nodes),
    )


pool_list = list_page(POOLS, _content, entry=Entry(gettext_lazy("Pools"), "pools", "p"))


def _lines(rows: Sequence[Pool], scope: Scope) -> tuple[PoolLine, ...]:
    """The rows. What is the same for all pools of a cluster is put into words once."""
    fresh_by_cluster = {
        number: scope.fresh[number] for number in {pool.cluster_id for pool in rows}
    }
    stale = {number: fresh.is_stale(scope.moment) for number, fresh in fresh_by_cluster.items()}
    provenance = {
        number: _provenance(fresh, now=scope.moment) for number, fresh in fresh_by_cluster.items()
    }
    return tuple(
        PoolLine(
            pool=pool,
            cluster=scope.name_of(pool.cluster_id),
            devices=counts_of(pool),
            fits=fits_now(pool),
            generation_note=generation_note(pool),
            problems=(problems := problems_of(pool)),
            more_problems=_more_problems(len(problems)),
            is_stale=stale[pool.cluster_id],
            provenance=provenance[pool.cluster_id],
        )
        for pool in rows
    )


def _more_problems(count: int) -> str:
    if count <= _SHOWN_PROBLEMS:
        return ""
    return ngettext("%(n)s problem", "all %(n)s problems", count) % {"n": number(count)}


def _provenance(fresh: Freshness, *, now: datetime) -> str:
    words = {
        "source": source_words(fresh.resource_versions, fresh.observed_at),
        "moment": exact_time(fresh.observed_at),
        "age": age(fresh.observed_at, now=now),
    }
    if fresh.observed_at is None:
        return _("%(source)s; not all of it has been read yet") % words
    if fresh.is_stale(now):
        return _("%(source)s; as of %(moment)s, %(age)s: stale") % words
    return _("%(source)s; as of %(moment)s") % words


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
