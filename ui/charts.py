"""A history chart: series of states over time, gaps where nothing was known, marks for what happened, and a time range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from ui.lists import with_query
from ui.moments import read_time
from ui.states import STATES, State

RANGE: Final = "range"
# Rows of the table beside a chart; more would not be read.
_TABLE_ROWS: Final = 48


@dataclass(frozen=True, slots=True)
class Range:
    """One choice of the time range."""

    code: str
    label: Promise | str
    length: timedelta


RANGES: Final = {
    item.code: item
    for item in (
        Range("hour", _("Hour"), timedelta(hours=1)),
        Range("day", _("Day"), timedelta(days=1)),
        Range("week", _("Week"), timedelta(days=7)),
        Range("month", _("Month"), timedelta(days=30)),
    )
}


@dataclass(frozen=True, slots=True)
class RangeLink:
    """A range and its address."""

    range: Range
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Series:
    """Figures of one state, one per moment of the chart; None is not known, and drawn as a gap."""

    state: State
    values: Sequence[int | float | None]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened: a new generation, a taint, a roll-out."""

    at: datetime
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A time about which nothing is known, with its reason."""

    start: datetime
    end: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class HistoryChart:
    """Stacked states over time, in the order of STATES."""

    id: str
    title: str
    start: datetime
    end: datetime
    moments: Sequence[datetime]
    series: Sequence[Series]
    marks: Sequence[Mark] = ()
    gaps: Sequence[Span] = ()
    unit: str = ""
    # Parameters that dragging over the chart sets to ISO times; empty: dragging does nothing.
    zoom_parameters: tuple[str, str] | tuple[()] = field(default=("from", "to"))
    # The moment that its page is about, where that is not now.
    at: datetime | None = None

    @property
    def json_id(self) -> str:
        """Id of the element that holds `content`."""
        return f"{self.id}-content"

    @property
    def content(self) -> dict[str, Any]:
        """What the script draws, as JSON in the page."""
        return {
            "start": self.start.timestamp(),
            "end": self.end.timestamp(),
            "at": self.at.timestamp() if self.at else None,
            "times": [moment.timestamp() for moment in self.moments],
            "series": [
                {
                    "code": series.state.code,
                    "label": str(series.state.word),
                    "values": list(series.values),
                }
                for series in self.series
            ],
            "marks": [
                {"at": mark.at.timestamp(), "text": mark.text, "url": mark.url}
                for mark in self.marks
            ],
            "gaps": [
                {"from": gap.start.timestamp(), "to": gap.end.timestamp(), "text": gap.reason}
                for gap in self.gaps
            ],
            "zoom": list(self.zoom_parameters),
        }

    @property
    def rows(self) -> tuple[tuple[datetime, tuple[int | float | None, ...]], ...]:
        """The same figures for the table, thinned evenly, the latest always among them."""
        step = max(1, -(-len(self.moments) // _TABLE_ROWS))
        chosen = range(len(self.moments) - 1, -1, -step)
        return tuple(
            (self.moments[index], tuple(series.values[index] for series in self.series))
            for index in chosen
        )


def state_series(values: Mapping[str, Sequence[int | float | None]]) -> tuple[Series, ...]:
    """Series by state code, in the order that all pages keep."""
    return tuple(Series(state, values[code]) for code, state in STATES.items() if code in values)


def range_links(*, path: str, query: QueryDict, default: str = "day") -> tuple[RangeLink, ...]:
    """The choices of the range; a zoomed chart (`from`, `to`) has none of them current."""
    is_zoomed = "from" in query or "to" in query
    current = "" if is_zoomed else chosen_range(query, default=default).code
    changes = {"from": None, "to": None}
    return tuple(
        RangeLink(
            item, with_query(path, query, **changes, **{RANGE: item.code}), item.code == current
        )
        for item in RANGES.values()
    )


def chosen_range(query: QueryDict, *, default: str = "day") -> Range:
    """The range that the address names, or the default for a name we do not know."""
    return RANGES.get(query.get(RANGE, ""), RANGES[default])


def chosen_span(
    query: QueryDict, *, now: datetime, default: str = "day"
) -> tuple[datetime, datetime]:
    """Start and end of what is asked for: `from` and `to` when both read well, else the range; nothing is later than `now`."""
    start, end = (read_time(query.get(name, ""), now=now) for name in ("from", "to"))
    if start and end and start < min(end, now):
        return start, min(end, now)
    return now - chosen_range(query, default=default).length, now
