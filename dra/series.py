"""A pool's figures over time: a step function from samples, cut by gaps, and averaged over steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class Figures:
    """What is kept of a pool's devices over time; None is unknown. What is stored by place is in this order."""

    total: float | None = None
    allocated: float | None = None
    partly_used: float | None = None
    unavailable: float | None = None
    blocked: float | None = None
    available: float | None = None


FIGURES: Final = tuple(field.name for field in fields(Figures))
"""Their names, which are columns of samples too, and after `devices_` of pools."""

UNKNOWN = Figures()


@dataclass(frozen=True, slots=True)
class Sample:
    """What holds from `at` on, until the next sample."""

    at: datetime
    figures: Figures
    generation: int | None = None
    is_complete: bool = True
    has_vanished: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which nothing is known; `end` None while it lasts."""

    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chart: time-weighted mean, least and most of each figure over the time it was known."""

    at: datetime
    known_seconds: float
    mean: Figures
    least: Figures
    most: Figures


@dataclass(frozen=True, slots=True)
class _Piece:
    start: datetime
    end: datetime
    figures: Figures


def cut_by_gaps(
    samples: Sequence[Sample], *, gaps: Iterable[Span], start: datetime, end: datetime
) -> list[Sample]:
    """The samples between start and end, with an unknown one where a gap begins and the held one where it ends.

    `samples` are in order of time; the latest one before `start` counts from `start` on.
    """
    merged = _merged(gaps, start=start, end=end)
    points: list[Sample] = []
    for piece_start, piece_end in _known_spans(merged, start=start, end=end):
        held = _held_at(samples, piece_start)
        if held is not None:
            points.append(_moved(held, piece_start))
        points.extend(s for s in samples if piece_start < s.at < piece_end)
    points.extend(Sample(at=span.start, figures=UNKNOWN, is_complete=False) for span in merged)
    return sorted(points, key=lambda point: point.at)


def steps(
    samples: Sequence[Sample],
    *,
    gaps: Iterable[Span],
    start: datetime,
    end: datetime,
    step: timedelta,
) -> list[Step]:
    """The figures averaged over equal steps from `start` to `end`; the latest step may be shorter.

    A step in which a figure was never known has None for it.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> hour = timedelta(hours=1)
    >>> samples = [Sample(at=noon, figures=Figures(available=4)),
    ...            Sample(at=noon + hour / 2, figures=Figures(available=2))]
    >>> steps(samples, gaps=(), start=noon, end=noon + hour, step=hour)[0].mean.available
    3.0
    """
    pieces = _pieces(cut_by_gaps(samples, gaps=gaps, start=start, end=end), end=end)
    result = []
    first = 0
    at = start
    while at < end:
        until = min(at + step, end)
        while first < len(pieces) and pieces[first].end <= at:
            first += 1
        result.append(_step(pieces, first=first, at=at, until=until))
        at = until
    return result


def join_steps(
    hours: Sequence[Step], *, start: datetime, end: datetime, step: timedelta
) -> list[Step]:
    """Short steps, in order of time, joined to longer ones; where there is none, the joined one is unknown."""
    result = []
    first = 0
    at = start
    while at < end:
        until = min(at + step, end)
        last = first
        while last < len(hours) and hours[last].at < until:
            last += 1
        result.append(_joined(hours[first:last], at=at))
        first, at = last, until
    return result


def _joined(hours: Sequence[Step], *, at: datetime) -> Step:
    mean, least, most = {}, {}, {}
    for name in FIGURES:
        known = [
            (getattr(hour.mean, name), hour.known_seconds)
            for hour in hours
            if getattr(hour.mean, name) is not None
        ]
        seconds = sum(weight for _, weight in known)
        mean[name] = sum(value * weight for value, weight in known) / seconds if seconds else None
        lows = [getattr(hour.least, name) for hour in hours]
        highs = [getattr(hour.most, name) for hour in hours]
        least[name] = min((value for value in lows if value is not None), default=None)
        most[name] = max((value for value in highs if value is not None), default=None)
    known_seconds = sum(hour.known_seconds for hour in hours)
    return Step(at, known_seconds, Figures(**mean), Figures(**least), Figures(**most))


def _step(pieces: Sequence[_Piece], *, first: int, at: datetime, until: datetime) -> Step:
    inside = []
    for piece in pieces[first:]:
        if piece.start >= until:
            break
        inside.append(_Piece(max(piece.start, at), min(piece.end, until), piece.figures))
    mean, least, most = {}, {}, {}
    for name in FIGURES:
        known = [
            (getattr(piece.figures, name), (piece.end - piece.start).total_seconds())
            for piece in inside
            if getattr(piece.figures, name) is not None
        ]
        seconds = sum(weight for _, weight in known)
        mean[name] = sum(value * weight for value, weight in known) / seconds if seconds else None
        least[name] = min((value for value, _ in known), default=None)
        most[name] = max((value for value, _ in known), default=None)
    known_seconds = sum(
        (piece.end - piece.start).total_seconds() for piece in inside if piece.figures != UNKNOWN
    )
    return Step(at, known_seconds, Figures(**mean), Figures(**least), Figures(**most))


def _pieces(points: Sequence[Sample], *, end: datetime) -> list[_Piece]:
    ends = [point.at for point in points[1:]] + [end]
    return [
        _Piece(point.at, until, point.figures)
        for point, until in zip(points, ends, strict=False)
        if until > point.at
    ]


def _held_at(samples: Sequence[Sample], moment: datetime) -> Sample | None:
    held = None
    for sample in samples:
        if sample.at > moment:
            break
        held = sample
    return held


def _moved(sample: Sample, at: datetime) -> Sample:
    return Sample(at, sample.figures, sample.generation, sample.is_complete, sample.has_vanished)


def _merged(gaps: Iterable[Span], *, start: datetime, end: datetime) -> list[Span]:
    """Gaps cut to the range, overlapping ones as one."""
    merged: list[Span] = []
    for gap in sorted(gaps, key=lambda span: span.start):
        begin, until = max(gap.start, start), min(gap.end or end, end)
        if until <= begin:
            continue
        before = merged[-1] if merged else None
        if before is not None and before.end is not None and begin <= before.end:
            merged[-1] = Span(before.start, max(before.end, until))
        else:
            merged.append(Span(begin, until))
    return merged


def _known_spans(
    gaps: Sequence[Span], *, start: datetime, end: datetime
) -> list[tuple[datetime, datetime]]:
    edges = [start]
    for gap in gaps:
        edges += [gap.start, gap.end or end]
    edges.append(end)
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(begin, until) for begin, until in pairs if until > begin]
