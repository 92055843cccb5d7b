from datetime import UTC, datetime, timedelta

import pytest
from django.http import QueryDict

from ui.charts import HistoryChart, Mark, Span, chosen_span, range_links, state_series

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def chart(**values: list[int | float | None]) -> HistoryChart:
    moments = [NOW - timedelta(minutes=minutes) for minutes in (2, 1, 0)]
    return HistoryChart(
        id="history",
        title="Devices",
        start=moments[0],
        end=NOW,
        moments=moments,
        series=state_series(values),
        marks=(Mark(NOW, "generation 7", "/pools/1/"),),
        gaps=(Span(moments[0], moments[1], "API server away"),),
    )


def test_chart_content_keeps_gaps_and_the_order_of_states() -> None:
    made = chart(available=[1, None, 3], allocated=[7, None, 5])

    assert made.content == {
        "start": NOW.timestamp() - 120,
        "end": NOW.timestamp(),
        "at": None,
        "times": [NOW.timestamp() - 120, NOW.timestamp() - 60, NOW.timestamp()],
        "series": [
            {"code": "allocated", "label": "allocated", "values": [7, None, 5]},
            {"code": "available", "label": "available", "values": [1, None, 3]},
        ],
        "marks": [{"at": NOW.timestamp(), "text": "generation 7", "url": "/pools/1/"}],
        "gaps": [
            {"from": NOW.timestamp() - 120, "to": NOW.timestamp() - 60, "text": "API server away"}
        ],
        "zoom": ["from", "to"],
    }


def test_chart_rows_are_the_same_figures_latest_first() -> None:
    made = chart(available=[1, None, 3])

    assert [(at, values) for at, values in made.rows] == [
        (NOW, (3,)),
        (NOW - timedelta(minutes=1), (None,)),
        (NOW - timedelta(minutes=2), (1,)),
    ]


@pytest.mark.parametrize(
    ("query", "span"),
    [
        ("", (NOW - timedelta(days=1), NOW)),
        ("range=hour", (NOW - timedelta(hours=1), NOW)),
        ("range=century", (NOW - timedelta(days=1), NOW)),
        (
            "from=2026-11-28T03:00:00Z&to=2026-11-28T04:00:00",
            (datetime(2026, 11, 28, 3, tzinfo=UTC), datetime(2026, 11, 28, 4, tzinfo=UTC)),
        ),
        ("from=2026-11-28T04:00:00Z&to=2026-11-28T03:00:00Z", (NOW - timedelta(days=1), NOW)),
        ("from=noon&to=night", (NOW - timedelta(days=1), NOW)),
    ],
)
def test_chosen_span_falls_back_to_the_range(query: str, span: tuple[datetime, datetime]) -> None:
    assert chosen_span(QueryDict(query), now=NOW) == span


def test_range_links_drop_the_zoom() -> None:
    links = range_links(path="/pools/1/", query=QueryDict("from=a&to=b&tab=history"))

    assert [(link.url, link.is_current) for link in links] == [
        ("/pools/1/?tab=history&range=hour", False),
        ("/pools/1/?tab=history&range=day", False),
        ("/pools/1/?tab=history&range=week", False),
        ("/pools/1/?tab=history&range=month", False),
    ]
