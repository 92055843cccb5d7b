"""One pool: what is in it, who holds it, what was it like?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from clusters import queries as cluster_queries
from clusters.choices import POOLS
from clusters.models import Cluster
from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.live import Live, live_page
from pools import queries
from pools.choices import counts_of
from pools.models import Allocation, Device, Pool, PoolStatusRequest, ResourceSlice
from pools.views.comparison import Comparison, comparison_of
from pools.views.history import default_range, pool_chart
from pools.views.shared import (
    TONES,
    ShownCapacity,
    ShownProblem,
    dated_problems,
    fits_now,
    shown_capacity,
    slices_note,
)
from ui.charts import HistoryChart, RangeLink, chosen_span, range_links
from ui.formatting import number
from ui.htmx import wants_fragment
from ui.lists import with_query
from ui.paging import InvalidCursor, keyset_page

DEVICE_ORDER = ("name", "id")
# Slices and generations that the page lists; of more it says how many there are.
MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """One device of the pool, and who holds it."""

    device: Device
    holders: tuple[Allocation, ...]
    capacity: tuple[ShownCapacity, ...]


@dataclass(frozen=True, slots=True)
class PoolNow:
    """What the pool is like now; the live part of the page."""

    pool: Pool
    fresh: Freshness
    is_stale: bool
    answer: str
    devices: Mapping[str, int | None]
    fits: str
    slices_note: str
    problems: tuple[ShownProblem, ...]
    lines: tuple[DeviceLine, ...]
    has_taints: bool
    next_url: str
    previous_url: str


@dataclass(frozen=True, slots=True)
class PoolPage:
    """What else the page shows, and does not refresh."""

    slices: tuple[ResourceSlice, ...]
    slice_count: int
    older_slices: int
    chart: HistoryChart
    ranges: Sequence[RangeLink]
    generations: tuple[queries.GenerationChange, ...]
    status_request: PoolStatusRequest | None
    status_tone: str
    are_requests_made: bool
    server: Comparison | None
    server_request_id: int | None
    server_observed_at: datetime | None


@live_page(page="pools/detail.html", fragment="pools/_now.html")
def pool_detail(request: HttpRequest, scope: Scope, pool_id: int) -> Live:
    """The page; htmx gets what is live in it."""
    try:
        pool = queries.pool(scope.snapshot, pool_id)
    except Pool.DoesNotExist:
        raise Http404(_("There is no such pool.")) from None
    only = scope.about(pool.cluster_id)
    return Live(
        only.state(POOLS),
        lambda: {
            "pool_now": _pool_now(request, pool, scope=only),
            # What lies outside of the live part is only read for the whole page.
            "page": None if wants_fragment(request) else _page(request, pool, scope=only),
        },
    )


def _pool_now(request: HttpRequest, pool: Pool, *, scope: Scope) -> PoolNow:
    found, of = queries.devices_of_pool(scope.snapshot, pool), ("devices of pool", pool.id)
    try:
        page = keyset_page(found, of=of, order=DEVICE_ORDER, cursor=request.GET.get("cursor"))
    except InvalidCursor:
        page = keyset_page(found, of=of, order=DEVICE_ORDER, cursor=None)
    holders = queries.holders(scope.snapshot, page.rows)
    return PoolNow(
        pool=pool,
        fresh=scope.fresh[pool.cluster_id],
        is_stale=scope.is_stale,
        answer=pool_answer(pool),
        devices=counts_of(pool),
        fits=fits_now(pool, limit=20),
        slices_note=slices_note(pool),
        problems=dated_problems(pool, queries.problem_starts(scope.snapshot, [pool])),
        lines=tuple(
            DeviceLine(row, tuple(holders.get(row.id, ())), shown_capacity(row))
            for row in page.rows
        ),
        has_taints=any(row.taints for row in page.rows),
        next_url=_devices_url(request, page.next_cursor),
        previous_url=_devices_url(request, page.previous_cursor),
    )


def _devices_url(request: HttpRequest, cursor: str | None) -> str:
    if cursor is None:
        return ""
    return f"{with_query(request.path, request.GET, cursor=cursor)}#pool-devices-title"


def pool_answer(pool: Pool) -> str:
    """The pool in a sentence or two."""
    if pool.vanished_at:
        return _("No driver publishes this pool any more. This is what was stored of it.")
    seen = ngettext("%(n)s device", "%(n)s devices", pool.devices_seen) % {
        "n": number(pool.devices_seen)
    }
    if not pool.is_complete:
        return _("Incomplete: %(note)s, with %(seen)s seen. Its total is unknown.") % {
            "note": slices_note(pool) or _("its slices disagree"),
            "seen": seen,
        }
    if not pool.is_valid:
        return _("Invalid, with %(seen)s seen. The scheduler takes nothing from it.") % {
            "seen": seen
        }
    if pool.devices_available is None:
        return _(
            "%(seen)s. How many are free is unknown, since claims or taint rules were not read."
        ) % {"seen": seen}
    if pool.devices_total == 0:
        return _("Its driver is up and publishes no device.")
    return _usable_answer(pool)


def _usable_answer(pool: Pool) -> str:
    words = ngettext(
        "%(free)s of %(total)s device is free.",
        "%(free)s of %(total)s devices are free.",
        pool.devices_total or 0,
    ) % {"free": number(pool.devices_available), "total": number(pool.devices_total)}
    # Without partitions, what fits is the number that was just said.
    if not pool.partitions and pool.devices_available:
        return words
    fits = fits_now(pool, limit=6)
    return f"{words} {_('Fits now: %(fits)s.') % {'fits': fits}}" if fits else words


def _page(request: HttpRequest, pool: Pool, *, scope: Scope) -> PoolPage:
    default = default_range(pool, now=scope.moment)
    start, end = chosen_span(request.GET, now=scope.moment, default=default)
    slices = tuple(queries.slices_of_pool(scope.snapshot, pool))
    samples = queries.pool_samples(scope.snapshot, pool, start=start, end=end)
    changes = queries.generation_changes(samples)
    asked = queries.latest_status_request(scope.snapshot, pool)
    answer = queries.latest_answer(scope.snapshot, pool)
    return PoolPage(
        slices=slices[:MOST_ROWS],
        slice_count=len(slices),
        older_slices=sum(row.generation != pool.generation for row in slices),
        chart=pool_chart(
            scope.snapshot, pool, start=start, end=end, samples=samples, changes=changes
        ),
        ranges=range_links(path=request.path, query=request.GET, default=default),
        generations=tuple(changes[:MOST_ROWS]),
        status_request=asked,
        status_tone=TONES[asked.outcome] if asked else "",
        are_requests_made=_are_requests_made(scope.chosen),
        server=comparison_of(answer) if answer else None,
        server_request_id=answer.request_id if answer else None,
        server_observed_at=answer.observed_at if answer else None,
    )


def _are_requests_made(cluster: Cluster | None) -> bool:
    return cluster is not None and cluster_queries.makes_pool_status_requests(cluster)
