"""One pool: what is in it, who holds it, what was it like?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from clusters.queries import Freshness
from clusters.views.frame import read_scope, scope_of
from dra.series import FIGURES
from pools import queries
from pools.models import (
    Allocation,
    Device,
    Pool,
    PoolStatusAnswer,
    PoolStatusRequest,
    ResourceSlice,
)
from pools.views.shared import ShownProblem, counts_of, fits_now, problems_of, slices_note
from ui.charts import (
    HistoryChart,
    Mark,
    RangeLink,
    Span,
    chosen_span,
    range_links,
    state_series,
)
from ui.formatting import number
from ui.htmx import fragment_etag, not_modified, render_page_or_fragment, wants_fragment
from ui.paging import InvalidCursor, keyset_page

DEVICE_ORDER = ("name", "id")
# What a chart can show; a longer time is averaged over steps.
CHART_POINTS = 300
# Up to here every single change is drawn.
EXACT_CHART = timedelta(hours=2)
_CHART_STATES = ("allocated", "partly_used", "available", "blocked", "unavailable")


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """One device of the pool, and who holds it."""

    device: Device
    holders: tuple[Allocation, ...]


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
    next_cursor: str | None
    previous_cursor: str | None


@dataclass(frozen=True, slots=True)
class PoolPage:
    """What else the page shows, and does not refresh."""

    slices: tuple[ResourceSlice, ...]
    older_slices: int
    chart: HistoryChart
    ranges: Sequence[RangeLink]
    generations: tuple[queries.GenerationChange, ...]
    status_request: PoolStatusRequest | None
    server: PoolStatusAnswer | None


@require_GET
def pool_detail(request: HttpRequest, pool_id: int) -> HttpResponse:
    """The page; htmx gets what is live in it."""
    try:
        pool = queries.pool(pool_id)
    except Pool.DoesNotExist:
        raise Http404(_("There is no such pool.")) from None
    moment = scope_of(request).now
    fresh = read_scope(str(pool.cluster_id), now=moment).fresh[pool.cluster_id]
    etag = fragment_etag(request, fresh.revision, fresh.is_stale(moment))
    unchanged = not_modified(request, etag=etag)
    if unchanged is not None:
        return unchanged
    now = _pool_now(request, pool, fresh=fresh, moment=moment)
    # What lies outside of the live part is only read for the whole page.
    page = None if wants_fragment(request) else _page(request, pool, moment=moment)
    return render_page_or_fragment(
        request,
        page="pools/detail.html",
        fragment="pools/_now.html",
        context={"pool_now": now, "page": page},
        etag=etag,
    )


def _pool_now(request: HttpRequest, pool: Pool, *, fresh: Freshness, moment: datetime) -> PoolNow:
    found = queries.devices_of_pool(pool)
    try:
        page = keyset_page(found, order=DEVICE_ORDER, cursor=request.GET.get("cursor"))
    except InvalidCursor:
        page = keyset_page(found, order=DEVICE_ORDER, cursor=None)
    holders = queries.holders(page.rows)
    return PoolNow(
        pool=pool,
        fresh=fresh,
        is_stale=fresh.is_stale(moment),
        answer=pool_answer(pool),
        devices=counts_of(pool),
        fits=fits_now(pool, limit=20),
        slices_note=slices_note(pool),
        problems=problems_of(pool),
        lines=tuple(DeviceLine(row, tuple(holders.get(row.id, ()))) for row in page.rows),
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
    )


def pool_answer(pool: Pool) -> str:
    """The pool in a sentence or two."""
    if pool.vanished_at:
        return _("No driver publishes this pool any more. This is what was stored of it.")
    seen = ngettext("%(n)s device", "%(n)s devices", pool.devices_seen) % {
        "n": number(pool.devices_seen)
    }
    if not pool.is_complete:
        return _("Incomplete: %(note)s, with %(seen)s seen. Its total is unknown.") % {
            "note": slices_note(pool),
            "seen": seen,
        }
    if not pool.is_valid:
        return _("Invalid, with %(seen)s seen. The scheduler takes nothing from it.") % {
            "seen": seen
        }
    if pool.devices_available is None:
        return _("%(seen)s. Who holds them is unknown, since claims cannot be read.") % {
            "seen": seen
        }
    if pool.devices_total == 0:
        return _("Its driver is up and publishes no device.")
    words = _("%(free)s of %(total)s devices are free.") % {
        "free": number(pool.devices_available),
        "total": number(pool.devices_total),
    }
    fits = fits_now(pool, limit=6)
    return f"{words} {_('Fits now: %(fits)s.') % {'fits': fits}}" if fits else words


def _page(request: HttpRequest, pool: Pool, *, moment: datetime) -> PoolPage:
    start, end = chosen_span(request.GET, now=moment)
    slices = tuple(queries.slices_of_pool(pool))
    changes = queries.generation_changes(pool, start=start, end=end)
    return PoolPage(
        slices=slices,
        older_slices=sum(row.generation != pool.generation for row in slices),
        chart=pool_chart(pool, start=start, end=end, changes=changes),
        ranges=range_links(path=request.path, query=request.GET),
        generations=tuple(changes),
        status_request=queries.latest_status_request(pool),
        server=queries.latest_answer(pool),
    )


def pool_chart(
    pool: Pool,
    *,
    start: datetime,
    end: datetime,
    changes: Sequence[queries.GenerationChange] = (),
) -> HistoryChart:
    """Availability over time, in the states' order; every change where there are few, else means of steps."""
    step = None if end - start <= EXACT_CHART else (end - start) / CHART_POINTS
    history = queries.pool_history(pool, start=start, end=end, step=step)
    points = history.points
    values = {name: [getattr(point.figures, name) for point in points] for name in FIGURES}
    # Partly used devices are allocated too; the bands of a stack are apart.
    values["allocated"] = [
        None if whole is None else whole - (partly or 0)
        for whole, partly in zip(values["allocated"], values["partly_used"], strict=True)
    ]
    return HistoryChart(
        id="pool-history",
        title=_("Devices over time"),
        start=start,
        end=end,
        moments=[point.at for point in points],
        series=state_series({name: values[name] for name in _CHART_STATES}),
        marks=[_mark(change) for change in changes if start < change.at <= end],
        gaps=[Span(gap.start, gap.end or end, _("not watched")) for gap in history.gaps],
    )


def _mark(change: queries.GenerationChange) -> Mark:
    if change.has_vanished:
        return Mark(change.at, _("vanished"))
    text = _("generation %(generation)s") % {"generation": change.generation}
    return Mark(
        change.at, text if change.is_complete else _("%(text)s, incomplete") % {"text": text}
    )
