from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra.series import (
    UNKNOWN,
    Figures,
    Sample,
    Span,
    Step,
    cut_by_gaps,
    join_steps,
    steps,
)

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def available(count: float | None) -> Figures:
    return Figures(total=8, available=count)


def at(minute: float, count: float | None) -> Sample:
    return Sample(NOON + minute * MINUTE, available(count))


def span(start: float, end: float | None) -> Span:
    return Span(NOON + start * MINUTE, None if end is None else NOON + end * MINUTE)


def test_cut_sample_before_start_holds_from_start() -> None:
    points = cut_by_gaps([at(-90, 3), at(20, 4)], gaps=(), start=NOON, end=NOON + HOUR)

    assert points == [at(0, 3), at(20, 4)]


def test_cut_without_samples_is_empty() -> None:
    assert cut_by_gaps([], gaps=(), start=NOON, end=NOON + HOUR) == []


def test_cut_gap_makes_figures_unknown_until_it_ends() -> None:
    points = cut_by_gaps([at(0, 3)], gaps=[span(10, 20)], start=NOON, end=NOON + HOUR)

    unknown = Sample(NOON + 10 * MINUTE, UNKNOWN, is_complete=False)
    assert points == [at(0, 3), unknown, at(20, 3)]


def test_cut_sample_inside_gap_counts_from_its_end() -> None:
    points = cut_by_gaps([at(0, 3), at(15, 5)], gaps=[span(10, 20)], start=NOON, end=NOON + HOUR)

    assert [(p.at, p.figures.available) for p in points] == [
        (NOON, 3),
        (NOON + 10 * MINUTE, None),
        (NOON + 20 * MINUTE, 5),
    ]


def test_cut_overlapping_gaps_are_one_and_open_gap_lasts() -> None:
    gaps = [span(30, None), span(20, 40), span(-60, -30)]

    points = cut_by_gaps([at(0, 3)], gaps=gaps, start=NOON, end=NOON + HOUR)

    assert [(p.at, p.figures.available) for p in points] == [
        (NOON, 3),
        (NOON + 20 * MINUTE, None),
    ]


def test_cut_separate_gaps_stay_separate() -> None:
    points = cut_by_gaps(
        [at(0, 3)], gaps=[span(10, 20), span(30, 40)], start=NOON, end=NOON + HOUR
    )

    assert [p.figures.available for p in points] == [3, None, 3, None, 3]


def test_steps_mean_is_weighted_by_time() -> None:
    (step,) = steps([at(0, 4), at(45, 0)], gaps=(), start=NOON, end=NOON + HOUR, step=HOUR)

    assert step == Step(
        at=NOON,
        known_seconds=3600,
        mean=available(3),
        least=available(0),
        most=available(4),
    )


def test_steps_gap_is_left_out_of_the_mean() -> None:
    (step,) = steps(
        [at(0, 4), at(45, 0)],
        gaps=[span(0, 30)],
        start=NOON,
        end=NOON + HOUR,
        step=HOUR,
    )

    assert step == Step(
        at=NOON,
        known_seconds=1800,
        mean=available(2),
        least=available(0),
        most=available(4),
    )


def test_steps_never_known_figure_is_none() -> None:
    first, second = steps([at(30, 2)], gaps=(), start=NOON, end=NOON + HOUR, step=30 * MINUTE)

    assert first == Step(NOON, 0, UNKNOWN, UNKNOWN, UNKNOWN)
    assert second.mean == available(2)


def test_steps_latest_step_may_be_shorter() -> None:
    found = steps([at(0, 4)], gaps=(), start=NOON, end=NOON + 50 * MINUTE, step=30 * MINUTE)

    assert [step.known_seconds for step in found] == [1800, 1200]


def test_join_steps_weights_hours_by_known_time() -> None:
    hours = [
        Step(NOON, 3600, available(4), available(2), available(6)),
        Step(NOON + HOUR, 1200, available(0), available(0), available(1)),
        Step(NOON + 3 * HOUR, 0, UNKNOWN, UNKNOWN, UNKNOWN),
    ]

    joined = join_steps(hours, start=NOON, end=NOON + 4 * HOUR, step=2 * HOUR)

    assert joined == [
        Step(NOON, 4800, available(3), available(0), available(6)),
        Step(NOON + 2 * HOUR, 0, UNKNOWN, UNKNOWN, UNKNOWN),
    ]


samples = st.lists(
    st.tuples(st.integers(-60, 119), st.one_of(st.none(), st.integers(0, 8))),
    max_size=12,
).map(lambda pairs: [at(minute, count) for minute, count in sorted(dict(pairs).items())])
spans = st.lists(st.tuples(st.integers(-30, 120), st.integers(1, 60)), max_size=4).map(
    lambda pairs: [span(start, start + length) for start, length in pairs]
)


@given(samples, spans, st.sampled_from([7, 13, 30, 60]))
def test_steps_mean_lies_between_least_and_most(
    found: list[Sample], gaps: list[Span], minutes: int
) -> None:
    result = steps(found, gaps=gaps, start=NOON, end=NOON + 2 * HOUR, step=minutes * MINUTE)

    known = [
        (step.least.available, step.mean.available, step.most.available)
        for step in result
        if step.mean.available is not None
    ]
    assert all(
        least is not None and most is not None and least - 1e-9 <= mean <= most + 1e-9
        for least, mean, most in known
    )


@given(samples, spans)
def test_steps_known_seconds_do_not_depend_on_the_step(
    found: list[Sample], gaps: list[Span]
) -> None:
    end = NOON + 2 * HOUR
    fine = steps(found, gaps=gaps, start=NOON, end=end, step=10 * MINUTE)
    coarse = steps(found, gaps=gaps, start=NOON, end=end, step=2 * HOUR)

    assert sum(step.known_seconds for step in fine) == pytest.approx(coarse[0].known_seconds)
