"""The chart of a pool's figures over time."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from clusters.models import Gap
from dra.series import FIGURES, Sample
from kube.kinds import plural_of
from pools import queries
from pools.models import Pool
from ui.charts import HistoryChart, Mark, Span, state_series
from ui.snapshot import Snapshot
from ui.words import all_words_of

# What a chart can show; a longer time is averaged over steps.
_POINTS = 300
# Up to here every single change is drawn.
_EXACT = timedelta(hours=2)
# A chart that names more of what happened hides the chart.
_MOST_MARKS = 12


def default_range(pool: Pool, *, now: datetime) -> str:
    """An hour while there is not much more to see than that, else a day."""
    return "hour" if now - pool.first_seen_at < timedelta(hours=3) else "day"


def pool_chart(
    snapshot: Snapshot,
    pool: Pool,
    *,
    start: datetime,
    end: datetime,
    samples: Sequence[Sample] | None = None,
    changes: Sequence[queries.GenerationChange] = (),
) -> HistoryChart:
    """Availability over time, in the states' order; every change where there are few, else means of steps."""
    step = None if end - start <= _EXACT else (end - start) / _POINTS
    history = queries.pool_history(
        snapshot, pool, start=start, end=end, step=step, samples=samples
    )
    points = history.points
    values = {name: [getattr(point.figures, name) for point in points] for name in FIGURES}
    # Partly used devices are allocated too; the bands of a stack are apart.
    values["allocated"] = [
        None if whole is None else whole - (partly or 0)
        for whole, partly in zip(values["allocated"], values["partly_used"], strict=True)
    ]
    marked = [change for change in changes if start < change.at <= end]
    return HistoryChart(
        id="pool-history",
        title=_("Devices over time"),
        start=start,
        end=end,
        moments=[point.at for point in points],
        series=state_series(values),
        marks=[_mark(change) for change in marked[:_MOST_MARKS]],
        gaps=merged_gaps(history.gap_rows, end=end),
        at=snapshot.at,
    )


def merged_gaps(rows: Iterable[Gap], *, end: datetime) -> list[Span]:
    """Gaps that overlap or touch as one each, with the kinds that were not seen; `rows` are sorted by their start."""
    groups: list[list[Gap]] = []
    reach: datetime | None = None
    for row in rows:
        stop = row.ended_at or end
        if reach is not None and row.started_at <= reach:
            groups[-1].append(row)
            reach = max(reach, stop)
        else:
            groups.append([row])
            reach = stop
    return [_span(group, end=end) for group in groups]


def _span(group: Sequence[Gap], *, end: datetime) -> Span:
    kinds = ", ".join(dict.fromkeys(plural_of(row.kind) for row in group))
    # The kinds fail each in its own words: one of each reason is enough.
    reasons = all_words_of(
        {"code": reason, "parameters": {}}
        for reason in dict.fromkeys(row.reason for row in reversed(group))
    )
    text = _("%(kinds)s not seen. %(reasons)s") % {"kinds": kinds, "reasons": reasons}
    return Span(group[0].started_at, max(row.ended_at or end for row in group), text.strip())


def _mark(change: queries.GenerationChange) -> Mark:
    if change.has_vanished:
        return Mark(change.at, _("vanished"))
    text = _("generation %(generation)s") % {
        "generation": _("unknown") if change.generation is None else change.generation
    }
    return Mark(
        change.at, text if change.is_complete else _("%(text)s, incomplete") % {"text": text}
    )
