import random

from hypothesis import given
from hypothesis import strategies as st

from simulator.watching import bookmark_moments


@given(st.floats(2.01, 59), st.integers())
def test_bookmarks_of_a_window_come_near_its_end(timeout: float, seed: int) -> None:
    first, *later = bookmark_moments(timeout, random.Random(seed))

    assert max(timeout - 3, 0) <= first <= timeout - 1.2 or timeout < 3
    assert len(later) == (first < timeout - 2)
    assert all(1 <= moment - first <= 1.25 for moment in later)
    assert all(moment < timeout for moment in (first, *later))


@given(st.floats(0.1, 2.0), st.integers())
def test_window_of_two_seconds_has_no_bookmark(timeout: float, seed: int) -> None:
    assert bookmark_moments(timeout, random.Random(seed)) == []


def test_long_window_has_a_bookmark_a_minute_and_those_of_its_end() -> None:
    moments = bookmark_moments(200, random.Random(1))
    minutes = [moment for moment in moments if moment < 197]

    assert [round(moment / 60) for moment in minutes] == [1, 2, 3]
    assert 197 <= moments[len(minutes)] <= 198.8
