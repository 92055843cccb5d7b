import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.states import STATES, StateBar, state_bar, state_of

COUNTS = ("total", "seen", "allocated", "partly_used", "available", "blocked", "unavailable")


Counts = tuple[int | None, ...]


def bar(*counts: int | None) -> StateBar:
    return state_bar(dict(zip(COUNTS, counts, strict=True)))


@pytest.mark.parametrize(
    ("counts", "segments", "text"),
    [
        (
            (8, 8, 5, 2, 1, 1, 1),
            [
                ("allocated", 3, 5),
                ("partly_used", 2, 2),
                ("available", 1, 1),
                ("blocked", 1, 1),
                ("unavailable", 1, 1),
            ],
            "8 devices: 5 allocated, 2 of these partly used, 1 available, 1 blocked, 1 unavailable",
        ),
        (
            (None, 12, 3, 1, None, None, None),
            [("allocated", 2, 3), ("partly_used", 1, 1), ("unknown", 9, 9)],
            "total unknown, 12 devices seen: 3 allocated, 1 of these partly used, 9 unknown",
        ),
        (
            (1, 1, 1, 1, 0, 0, 0),
            [("partly_used", 1, 1)],
            "1 device: 1 allocated, 1 of these partly used",
        ),
        ((4, 4, None, None, None, None, None), [("unknown", 4, 4)], "4 devices: 4 unknown"),
        ((0, 0, 0, 0, 0, 0, 0), [], "0 devices"),
        ((None, None, None, None, None, None, None), [], "unknown"),
    ],
)
def test_state_bar_adds_up_in_the_common_order(
    counts: Counts, segments: list[tuple[str, int, int]], text: str
) -> None:
    made = bar(*counts)

    assert [(part.state.code, part.count, part.told) for part in made.segments] == segments
    assert made.text == text


@given(st.lists(st.integers(0, 10_000), min_size=4, max_size=4))
def test_state_bar_fills_its_width_without_overlap(counts: list[int]) -> None:
    allocated, available, blocked, unavailable = counts
    total = sum(counts)

    made = bar(total, total, allocated, 0, available, blocked, unavailable)

    edges = [(float(part.x[:-1]), float(part.width[:-1])) for part in made.segments]
    ends = [round(x + width, 1) for x, width in edges]
    assert [round(x, 1) for x, _width in edges] == pytest.approx(
        [0.0, *ends[:-1]][: len(edges)], abs=0.11
    )
    assert ends[-1:] == pytest.approx([100.0] if total else [], abs=0.11)


def test_state_bar_shows_one_device_of_many() -> None:
    made = bar(150_000, 150_000, 149_999, 0, 0, 0, 1)

    assert [part.width for part in made.segments] == ["98.52%", "1.48%"]


def test_state_of_an_unknown_code_keeps_the_word() -> None:
    look = state_of("reserved")

    assert (look.code, look.word, look.icon) == ("unknown", "reserved", "state-unknown")


def test_every_state_has_a_colour_a_word_colour_and_an_icon(
    css: str, icon_names: set[str]
) -> None:
    assert [code for code in STATES if f"--state-{code}:" not in css] == []
    assert [code for code in STATES if f"--word-{code}:" not in css] == []
    assert [state.icon for state in STATES.values() if state.icon not in icon_names] == []
