"""A small picture of one figure over time: a path for SVG, and the same in words. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from ui.formatting import duration, number

WIDTH: Final = 120
HEIGHT: Final = 28
# Half of a line's width stays inside of the picture.
_EDGE: Final = 1.0
# Below this a picture says nothing.
_SHORTEST: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Point:
    """A figure from a moment on; None is not known."""

    at: datetime
    value: float | None


@dataclass(frozen=True, slots=True)
class Sparkline:
    """What a template draws; `text` says the same."""

    line: str
    area: str
    text: str


def sparkline(points: Sequence[Point], *, now: datetime, top: float) -> Sparkline | None:
    """From zero to `top` or the greatest value; None while there is too little to draw."""
    known = [point.value for point in points if point.value is not None]
    if not known or now - points[0].at < _SHORTEST:
        return None
    start = points[0].at
    scale = _Scale(start, now, max(top, *known, 1.0))
    runs = [[scale.place(at, value) for at, value in run] for run in _runs(points, now=now)]
    words = {
        "time": duration(now - start),
        "least": number(round(min(known))),
        "most": number(round(max(known))),
        "now": number(round(known[-1])),
    }
    return Sparkline(
        line=" ".join(_line(run) for run in runs),
        area=" ".join(f"{_line(run)}V{HEIGHT}H{run[0][0]:.1f}Z" for run in runs),
        text=_("Over %(time)s: least %(least)s, most %(most)s, latest %(now)s") % words,
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    start: datetime
    end: datetime
    top: float

    def place(self, at: datetime, value: float) -> tuple[float, float]:
        x = WIDTH * ((at - self.start) / (self.end - self.start))
        return x, HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * value / self.top


def _runs(points: Sequence[Point], *, now: datetime) -> list[list[tuple[datetime, float]]]:
    """Stretches in which the figure is known; each value holds until the next point, the latest until now."""
    runs: list[list[tuple[datetime, float]]] = []
    before: float | None = None
    for point in points:
        if before is not None:
            runs[-1].append((point.at, before))
        if point.value is not None:
            if before is None:
                runs.append([])
            runs[-1].append((point.at, point.value))
        before = point.value
    if before is not None:
        runs[-1].append((now, before))
    return runs


def _line(run: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in run)
