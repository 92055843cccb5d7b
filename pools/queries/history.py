"""One pool over time: every change, or means of steps, with gaps as unknown figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clusters import queries as cluster_queries
from clusters.models import Gap
from dra import series
from pools.models import (
    Pool,
    PoolHour,
    PoolSample,
)
from ui.snapshot import Snapshot

# Above this many hours a history comes from the hourly rollups.
RAW_HISTORY = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A pool's figures at a moment of a chart. With a step, `figures` are means, with `least` and `most` beside them."""

    at: datetime
    figures: series.Figures
    generation: int | None = None
    is_complete: bool | None = None
    least: series.Figures | None = None
    most: series.Figures | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A pool's figures over a time; `step` None: every change, exactly."""

    start: datetime
    end: datetime
    step: timedelta | None
    points: tuple[HistoryPoint, ...]
    gaps: tuple[series.Span, ...]
    # The same gaps with their kinds and reasons.
    gap_rows: tuple[Gap, ...] = ()


def pool_history(
    snapshot: Snapshot,
    pool: Pool,
    *,
    start: datetime,
    end: datetime,
    step: timedelta | None,
    samples: Sequence[series.Sample] | None = None,
) -> History:
    """What a pool was like between start and end, gaps as unknown figures; three queries, or one where `samples` are read already."""
    rows = tuple(cluster_queries.gaps(snapshot, [pool.cluster_id], start=start, end=end))
    gaps = [series.Span(gap.started_at, gap.ended_at) for gap in rows]
    if step is not None and end - start > RAW_HISTORY:
        points = _rolled_up(pool, start=start, end=end, step=step)
    else:
        if samples is None:
            samples = pool_samples(snapshot, pool, start=start, end=end)
        points = _points(samples, gaps, start=start, end=end, step=step)
    return History(start, end, step, tuple(points), tuple(gaps), gap_rows=rows)


def pool_samples(
    snapshot: Snapshot, pool: Pool, *, start: datetime, end: datetime
) -> list[series.Sample]:
    """Samples between start and end, and the one that held at the start; two queries."""
    rows = PoolSample.objects.filter(cluster_id=pool.cluster_id, pool_id=pool.id)
    earlier = rows.filter(at__lte=start).order_by("-at").first()
    later = rows.filter(at__gt=start, at__lte=end).order_by("at")
    return [_sample(row) for row in ([earlier] if earlier else []) + list(later)]


def has_more_samples(
    snapshot: Snapshot, pool: Pool, *, start: datetime, end: datetime, limit: int
) -> bool:
    """Whether the figures changed more than `limit` times between start and end; reads no more than that."""
    rows = PoolSample.objects.filter(
        cluster_id=pool.cluster_id, pool_id=pool.id, at__gt=start, at__lte=end
    )
    return rows.order_by("at")[limit : limit + 1].exists()


def _sample(row: PoolSample) -> series.Sample:
    figures = series.Figures(**{name: getattr(row, name) for name in series.FIGURES})
    return series.Sample(row.at, figures, row.generation, row.is_complete, row.has_vanished)


def _points(
    samples: Sequence[series.Sample],
    gaps: Sequence[series.Span],
    *,
    start: datetime,
    end: datetime,
    step: timedelta | None,
) -> list[HistoryPoint]:
    if step is None:
        cut = series.cut_by_gaps(samples, gaps=gaps, start=start, end=end)
        return [HistoryPoint(s.at, s.figures, s.generation, s.is_complete) for s in cut]
    averaged = series.steps(samples, gaps=gaps, start=start, end=end, step=step)
    return [HistoryPoint(s.at, s.mean, least=s.least, most=s.most) for s in averaged]


def _rolled_up(
    pool: Pool, *, start: datetime, end: datetime, step: timedelta
) -> list[HistoryPoint]:
    rows = PoolHour.objects.filter(
        cluster_id=pool.cluster_id, pool_id=pool.id, hour__gte=start, hour__lt=end
    ).order_by("hour")
    hours = [
        series.Step(
            row.hour,
            row.known_seconds,
            series.Figures(*row.mean),
            series.Figures(*row.least),
            series.Figures(*row.most),
        )
        for row in rows
    ]
    joined = series.join_steps(hours, start=start, end=end, step=step)
    return [HistoryPoint(s.at, s.mean, least=s.least, most=s.most) for s in joined]


@dataclass(frozen=True, slots=True)
class GenerationChange:
    """From when a pool had a generation, and whether it was complete at first."""

    at: datetime
    generation: int | None
    is_complete: bool
    has_vanished: bool


def generation_changes(samples: Iterable[series.Sample]) -> list[GenerationChange]:
    """When generation or completeness changed among the samples of a pool, newest first."""
    changes: list[GenerationChange] = []
    for sample in samples:
        now = (sample.generation, sample.is_complete, sample.has_vanished)
        before = changes[-1] if changes else None
        if before and (before.generation, before.is_complete, before.has_vanished) == now:
            continue
        changes.append(GenerationChange(sample.at, *now))
    changes.reverse()
    return changes
