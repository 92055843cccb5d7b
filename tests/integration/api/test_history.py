import csv
import io
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from dra.series import FIGURES
from objects.services import partitions
from pools.models import Pool, PoolSample
from tests.factories import api_rows
from tests.series import for_each

NOON = api_rows.NOON
SAMPLES = partitions.Partitioned("pools_poolsample")


@pytest.fixture
def row(db: None) -> Pool:
    partitions.ensure_partitions([SAMPLES], now=NOON)
    return api_rows.pool(api_rows.cluster())


@pytest.fixture
def history(get: Any, row: Pool) -> Any:
    def history(query: str) -> Any:
        with time_machine.travel(NOON + timedelta(hours=4), tick=False):
            return get(f"pools/{row.id}/history/?{query}")

    return history


@pytest.fixture
def refused_history(refused: Any, row: Pool) -> Any:
    def refused_history(query: str) -> Any:
        with time_machine.travel(NOON + timedelta(hours=4), tick=False):
            status, problem = refused(f"pools/{row.id}/history/?{query}")
        return status, problem["errors"]

    return refused_history


def sample(row: Pool, at: datetime, available: int | None) -> None:
    rest = 4 - available if available is not None else None
    PoolSample.objects.create(
        cluster_id=row.cluster_id,
        pool_id=row.id,
        at=at,
        generation=3,
        is_complete=True,
        total=4,
        allocated=rest,
        partly_used=0,
        unavailable=0,
        blocked=0,
        available=available,
    )


def figures(available: float | None) -> dict[str, float | None]:
    return {
        "total": 4,
        "allocated": 4 - available if available is not None else None,
        "partly_used": 0,
        "unavailable": 0,
        "blocked": 0,
        "available": available,
    }


def test_history_without_a_step_has_every_change(history: Any, row: Pool) -> None:
    sample(row, NOON - timedelta(hours=2), 4)
    sample(row, NOON + timedelta(minutes=30), None)

    found = history("from=2026-03-01T12:00:00Z&to=2026-03-01T14:00:00%2B01:00")

    assert found == {
        "id": str(row.id),
        "url": f"http://testserver/api/v1/pools/{row.id}/",
        "cluster": "prod",
        "cluster_id": str(row.cluster_id),
        "driver": "gpu.example.com",
        "pool": "node-1",
        "from": "2026-03-01T12:00:00Z",
        "to": "2026-03-01T13:00:00Z",
        "step_seconds": None,
        "points": [
            {
                "at": "2026-03-01T12:00:00Z",
                "generation": 3,
                "complete": True,
                "devices": figures(4),
                "least": None,
                "most": None,
            },
            {
                "at": "2026-03-01T12:30:00Z",
                "generation": 3,
                "complete": True,
                "devices": figures(None),
                "least": None,
                "most": None,
            },
        ],
        "gaps": [],
        "observed_at": "2026-03-01T12:00:00Z",
        "source": found["source"],
        "resource_versions": found["resource_versions"],
    }


def test_history_with_a_step_has_means_and_bounds(history: Any, row: Pool) -> None:
    sample(row, NOON - timedelta(hours=2), 4)
    sample(row, NOON + timedelta(minutes=30), 2)

    found = history("from=2026-03-01T12:00:00Z&to=2026-03-01T14:00:00Z&step=1h")

    assert found["step_seconds"] == 3600
    assert [(point["at"], point["devices"]["available"]) for point in found["points"]] == [
        ("2026-03-01T12:00:00Z", 3),
        ("2026-03-01T13:00:00Z", 2),
    ]
    assert (found["points"][0]["least"], found["points"][0]["most"]) == (
        figures(2) | {"allocated": 0},
        figures(4) | {"allocated": 2},
    )


def test_history_in_a_gap_is_unknown(history: Any, row: Pool) -> None:
    sample(row, NOON - timedelta(hours=2), 4)
    api_rows.gap(row.cluster, ended_at=NOON + timedelta(hours=1))

    found = history("from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z&step=3600")

    assert [point["devices"]["available"] for point in found["points"]] == [None]
    assert found["gaps"] == [
        {"started_at": "2026-03-01T12:00:00Z", "ended_at": "2026-03-01T13:00:00Z"}
    ]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("", "2026-02-28T16:00:00Z", "2026-03-01T16:00:00Z"),
        ("from=-1h", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z"),
        ("from=-2h&to=-30m", "2026-03-01T14:00:00Z", "2026-03-01T15:30:00Z"),
        ("from=-1h&to=2099-01-01T00:00:00Z", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z"),
        ("from=2026-03-01T16:00:00 01:00", "2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z"),
    ],
)
def test_history_range_is_what_was_asked_for(
    history: Any, query: str, start: str, end: str
) -> None:
    found = history(query)

    assert (found["from"], found["to"]) == (start, end)


TIME = "Write a time such as 2026-03-01T12:00:00Z, -24h, or 7d ago."
STEP = "Write seconds, or a duration such as 5m, 1h or 1d."


@pytest.mark.parametrize(
    ("query", "parameter", "message"),
    [
        ("from=yesterday", "from", TIME),
        ("from=2026-03-01T12", "from", TIME),
        ("to=2026-02-30T12:00:00Z", "to", TIME),
        ("from=-99999999d", "from", TIME),
        ("step=often", "step", STEP),
        ("step=0", "step", STEP),
        (
            "from=2099-01-01T00:00:00Z",
            "from",
            "Write a time before `to`, which is never later than now.",
        ),
        ("from=-7d&step=60", "step", "This step gives more than 2000 points; write step=15m."),
        ("from=-30d&step=1m", "step", "This step gives more than 2000 points; write step=1h."),
        ("from=-9d&step=30m", "step", "Above 8 days write a step of whole hours, such as 1h."),
    ],
)
def test_history_with_an_invalid_value_says_what_to_write(
    refused_history: Any, query: str, parameter: str, message: str
) -> None:
    assert refused_history(query) == (400, [{"parameter": parameter, "message": message}])


@pytest.mark.parametrize("parameter", ["from", "to", "at"])
def test_history_at_the_beginning_of_the_calendar_is_refused(
    refused_history: Any, parameter: str
) -> None:
    status, errors = refused_history(f"{parameter}=0001-01-01T00:00:00Z")

    assert (status, [each["parameter"] for each in errors]) == (400, [parameter])


@pytest.mark.parametrize(("count", "status"), [(2000, 200), (2001, 400)])
def test_history_of_too_many_changes_asks_for_a_step(
    api: Any, row: Pool, count: int, status: int
) -> None:
    PoolSample.objects.bulk_create(
        PoolSample(
            cluster_id=row.cluster_id,
            pool_id=row.id,
            at=NOON + timedelta(seconds=number + 1),
            is_complete=True,
        )
        for number in range(count)
    )

    with time_machine.travel(NOON + timedelta(hours=4), tick=False):
        response = api.get(f"/api/v1/pools/{row.id}/history/?from=-4h")

    assert (response.status_code, b"write step=1m" in response.content) == (status, status == 400)


def test_history_takes_the_same_queries_whatever_its_length(
    history: Any, row: Pool, django_assert_num_queries: Any
) -> None:
    for_each(range(3), lambda minutes: sample(row, NOON + timedelta(minutes=minutes), minutes))

    with django_assert_num_queries(13):
        history("from=2026-03-01T12:00:00Z")


def history_csv(api: Client, row: Pool, query: str) -> list[dict[str, str]]:
    with time_machine.travel(NOON + timedelta(hours=4), tick=False):
        answer = api.get(f"/api/v1/pools/{row.id}/history/?format=csv&{query}")
    assert (answer.status_code, answer["Content-Type"]) == (
        200,
        "text/csv; charset=utf-8; header=present",
    )
    name = f"pool-history-{row.id}-20260301T160000Z.csv"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_history_as_csv_has_a_line_per_change(api: Client, row: Pool) -> None:
    sample(row, NOON + timedelta(hours=1), 3)
    sample(row, NOON + timedelta(hours=2), None)

    first, second = history_csv(api, row, "from=-4h")[-2:]

    nothing = {f"{of}_{name}": "" for of in ("least", "most") for name in FIGURES}
    assert first == {
        "cluster": "prod",
        "driver": "gpu.example.com",
        "pool": "node-1",
        "at": "2026-03-01T13:00:00Z",
        "generation": "3",
        "complete": "true",
        "devices_total": "4",
        "devices_allocated": "1",
        "devices_partly_used": "0",
        "devices_unavailable": "0",
        "devices_blocked": "0",
        "devices_available": "3",
        **nothing,
    }
    assert (second["at"], second["devices_available"]) == ("2026-03-01T14:00:00Z", "")


def test_history_as_csv_with_a_step_has_least_and_most(api: Client, row: Pool) -> None:
    sample(row, NOON, 1)
    sample(row, NOON + timedelta(minutes=30), 3)

    (line,) = history_csv(api, row, "from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z&step=1h")

    found = [float(line[f"{of}_available"]) for of in ("devices", "least", "most")]
    assert found == [2.0, 1.0, 3.0]
