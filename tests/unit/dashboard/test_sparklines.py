from datetime import UTC, datetime, timedelta

import pytest

from dashboard.sparklines import Point, Sparkline, sparkline

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def points(*values: float | None) -> list[Point]:
    """One each ten minutes, the last ten minutes ago."""
    start = NOW - timedelta(minutes=10 * len(values))
    return [Point(start + timedelta(minutes=10 * at), value) for at, value in enumerate(values)]


def test_sparkline_holds_each_value_until_the_next() -> None:
    assert sparkline(points(0, 10), now=NOW, top=10) == Sparkline(
        line="M0.0 27.0L60.0 27.0L60.0 1.0L120.0 1.0",
        area="M0.0 27.0L60.0 27.0L60.0 1.0L120.0 1.0V28H0.0Z",
        text="Over 20 min: least 0, most 10, latest 10",
    )


def test_sparkline_leaves_out_what_is_not_known() -> None:
    drawn = sparkline(points(5, None, 5), now=NOW, top=10)

    assert drawn is not None
    assert drawn.line == "M0.0 14.0L40.0 14.0 M80.0 14.0L120.0 14.0"


def test_sparkline_value_above_the_top_is_still_inside() -> None:
    drawn = sparkline(points(5, 20), now=NOW, top=10)

    assert drawn is not None
    assert drawn.line == "M0.0 20.5L60.0 20.5L60.0 1.0L120.0 1.0"


@pytest.mark.parametrize(
    "found",
    [[], points(None, None), [Point(NOW - timedelta(seconds=20), 3)]],
    ids=["nothing", "not known", "too short"],
)
def test_sparkline_of_too_little_is_none(found: list[Point]) -> None:
    assert sparkline(found, now=NOW, top=10) is None
