"""The state colours as people see them: contrast with the surface, and apart from each other with each kind of colour blindness."""

import math
import re
from itertools import combinations

import pytest

# Viénot's simplification of LMS confusion lines, on linear RGB: what a person without one kind of cone sees.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deuteranopia": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
}
FILLED = ("allocated", "partly_used", "available", "unavailable", "unhealthy")
WORDS = (*FILLED, "blocked", "unknown")
THEMES = {"light": 0, "dark": 1}


def colours(css: str, name: str) -> tuple[str, ...]:
    match = re.search(rf"--{name}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\)", css)
    assert match, name
    return match.groups()


def linear(hex_colour: str) -> list[float]:
    channels = [int(hex_colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]


def luminance(rgb: list[float]) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(linear(first)), luminance(linear(second))))
    return (high + 0.05) / (low + 0.05)


def seen(hex_colour: str, blindness: str) -> list[float]:
    rgb = linear(hex_colour)
    return [
        max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True))) for row in BLINDNESS[blindness]
    ]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in matrix]
    x, y, z = (
        (value / white) ** (1 / 3)
        if value / white > 0.008856
        else 7.787 * value / white + 16 / 116
        for value, white in zip(xyz, (0.9505, 1.0, 1.089), strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(first: str, second: str, blindness: str) -> float:
    one, other = lab(seen(first, blindness)), lab(seen(second, blindness))
    return math.dist(one, other)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize(("first", "second"), list(combinations(FILLED, 2)))
def test_state_colours_are_told_apart(
    css: str, theme: str, blindness: str, first: str, second: str
) -> None:
    at = THEMES[theme]

    one, other = colours(css, f"state-{first}")[at], colours(css, f"state-{second}")[at]

    assert difference(one, other, blindness) >= 15


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("state", WORDS)
def test_state_words_can_be_read_on_every_ground(css: str, theme: str, state: str) -> None:
    at = THEMES[theme]
    grounds = [colours(css, name)[at] for name in ("surface", "ground", "hover")]

    ratios = [contrast(colours(css, f"word-{state}")[at], ground) for ground in grounds]

    assert min(ratios) >= 4.5
