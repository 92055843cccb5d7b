import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from objects.services.partitions import Partitioned, ensure_partitions
from pools.models import Pool, PublishedDevice
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.integration.conftest import Ask, Visit
from tests.pages import Element
from tests.series import for_each

MIG = [{"attribute": "profile", "type": f"{n}g", "total": 9, "allocatable": n} for n in range(6)]


@pytest.fixture(autouse=True)
def _partitions(db: None) -> None:
    ensure_partitions(
        [Partitioned("pools_poolsample"), Partitioned("pools_poolhour", by="month")], now=NOON
    )


def drivers(page: Element) -> list[dict[str, str]]:
    return page.one("section", aria_labelledby="drivers-title").rows()


def test_overview_answers_and_lists_drivers(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2", devices_partly_used=1)

    page = visit("/")

    assert page.answer == "4 of 8 devices are free."
    assert drivers(page) == [
        {
            "Driver": "gpu.example.com as of 4 s ago",
            "Devices": "",
            "Free": "4",
            "Free, 24 h": "no history yet",
            "Allocated": "2 1 partly",
            "Blocked": "0",
            "Unavailable": "2",
            "Total": "8",
            "Fits now": "4 devices and a share of 1",
            "Pools": "2",
        }
    ]
    assert page.one("section", aria_labelledby="clusters-title").one("li").text == (
        "prod reachable read 4 s ago"
    )


def test_overview_unknown_figures_are_unknown_and_the_known_ones_bounds(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    pool = api_rows.unknown_pool(cluster, "node-9")

    page = visit("/")

    (row,) = drivers(page)
    assert [row[name] for name in ("Free", "Allocated", "Blocked", "Unavailable", "Total")] == [
        "≥2",
        "unknown",
        "unknown",
        "unknown",
        "≥8",
    ]
    assert row["Pools"] == "2 1 with a problem"
    assert page.answer == "2 of 4 devices are free. 1 pool cannot be used or counted."
    (bar,) = page.one("section", aria_label="All devices").all("svg", role="img")
    assert bar.attributes["aria-label"] == (
        "total unknown, 8 devices seen: 1 allocated, 2 available, 1 unavailable, 4 unknown"
    )
    problems = page.one("section", class_="problems")
    assert problems.links() == {
        "gpu.example.com/node-9: 1 of 2 slices of generation 3 are there: the scheduler takes no device from this pool": f"/pools/{pool.id}/"
    }
    assert problems.one("li").classes == ["tone-error"]


def test_overview_fits_adds_partition_types_over_pools(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "a", partitions=MIG)
    api_rows.pool(cluster, "b", partitions=MIG)
    api_rows.unknown_pool(cluster, "c", partitions=MIG)

    assert drivers(visit("/"))[0]["Fits now"] == "10 × 5g or 8 × 4g or 6 × 3g or 4 × 2g or 1 other"


def test_overview_nothing_fits_where_all_is_held(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), devices_allocated=3, devices_available=0)

    assert drivers(visit("/"))[0]["Fits now"] == "nothing"


def test_overview_trend_of_a_young_cluster_is_made_of_its_changes(visit: Visit) -> None:
    cluster = api_rows.cluster(created_at=NOON - timedelta(hours=1))
    one, two = api_rows.pool(cluster, "a"), api_rows.pool(cluster, "b")
    api_rows.sample(one, NOON - timedelta(minutes=60), available=4)
    api_rows.sample(two, NOON - timedelta(minutes=60), available=None)
    api_rows.sample(one, NOON - timedelta(minutes=30), available=0)
    api_rows.sample(two, NOON - timedelta(minutes=10), available=3)

    (trend,) = visit("/").all("svg", class_="sparkline")

    assert trend.attributes["aria-label"] == "Over 61 min: least 0, most 4, latest 4"


def test_overview_trend_of_a_young_cluster_is_not_zero_where_no_pool_knows(visit: Visit) -> None:
    cluster = api_rows.cluster(created_at=NOON - timedelta(hours=1))
    pool = api_rows.pool(cluster)
    api_rows.sample(pool, NOON - timedelta(minutes=60), available=4)
    api_rows.sample(pool, NOON - timedelta(minutes=30), available=None)
    api_rows.sample(pool, NOON - timedelta(minutes=10), available=2)

    (trend,) = visit("/").all("svg", class_="sparkline")

    line = trend.all("path", class_="sparkline-line")[0].attributes["d"]
    assert trend.attributes["aria-label"] == "Over 61 min: least 2, most 4, latest 2"
    # It is interrupted where nothing is known.
    assert line.count("M") == 2


@pytest.mark.parametrize(
    ("hours", "runs"), [((6, 5, 2, 1), 2), ((3, 2), 1), ((4, 3, 2), 1), ((6, 5, 4), 2)]
)
def test_overview_trend_of_an_old_cluster_is_interrupted_where_hours_are_missing(
    visit: Visit, hours: tuple[int, ...], runs: int
) -> None:
    pool = api_rows.pool(api_rows.cluster(created_at=NOON - timedelta(days=9)))
    for_each(hours, lambda ago: api_rows.hour(pool, NOON - timedelta(hours=ago), available=2.0))

    (trend,) = visit("/").all("svg", class_="sparkline")

    line = trend.all("path", class_="sparkline-line")[0].attributes["d"]
    assert line.count("M") == runs


def test_overview_trend_of_an_old_cluster_is_made_of_hours(visit: Visit) -> None:
    cluster = api_rows.cluster(created_at=NOON - timedelta(days=9))
    one, two = api_rows.pool(cluster, "a"), api_rows.pool(cluster, "b")
    api_rows.hour(one, NOON - timedelta(hours=3), available=4.0)
    api_rows.hour(two, NOON - timedelta(hours=3), available=1.5)
    api_rows.hour(one, NOON - timedelta(hours=2), available=None)
    api_rows.hour(one, NOON - timedelta(hours=1), available=2.0)

    (trend,) = visit("/").all("svg", class_="sparkline")

    assert trend.attributes["aria-label"] == "Over 3 h: least 2, most 6, latest 4"


def test_overview_names_allocations_of_devices_that_nobody_publishes(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(), problem_codes=["unpublished_allocation"])
    device = api_rows.device(pool, "gone")
    for_each(range(9), lambda number: api_rows.allocation(device, f"worker-{number}"))
    PublishedDevice.objects.update(vanished_at=api_rows.NOON)

    section = visit("/").one("section", aria_labelledby="lost-title")

    assert section.one("h2").text == "Held, but in none of the slices that are there"
    assert len(section.all("li")) == 8
    assert section.all("li")[0].text == ("training/worker-0 holds gpu.example.com/node-1/gone")
    assert section.all("p")[0].text == "And more; the pools that they name tell of theirs."


def test_overview_of_more_problems_than_fit_links_to_all(visit: Visit) -> None:
    cluster = api_rows.cluster()
    for_each(range(9), lambda number: api_rows.unknown_pool(cluster, f"node-{number}"))

    page = visit("/")

    assert len(page.one("section", class_="problems").all("li")) == 8
    assert page.links()["All pools with problems"] == "/pools/?problem=serious"


def test_overview_of_several_clusters_keeps_them_apart(visit: Visit) -> None:
    one, two = (
        api_rows.cluster("one"),
        api_rows.cluster("two", synced_at=NOON - timedelta(hours=1)),
    )
    api_rows.pool(one)
    api_rows.pool(two)

    both, chosen = visit("/"), visit("/?cluster=two")

    assert [row["Driver"] for row in drivers(both)] == [
        "gpu.example.com one, as of 4 s ago",
        "gpu.example.com two, as of 60 min ago, stale",
    ]
    assert [row["Driver"] for row in drivers(chosen)] == [
        "gpu.example.com as of 60 min ago, stale"
    ]
    clusters = both.one("section", aria_labelledby="clusters-title").all("li")
    assert clusters[1].text == "two reachable stale read 60 min ago"


def test_overview_of_a_cluster_that_was_never_read(visit: Visit) -> None:
    cluster = api_rows.cluster(synced_at=None)
    cluster.kinds.filter(kind="ResourceSlice").update(state="reading", read_count=7)

    page = visit("/")

    assert page.one("p", class_="empty-title").text == "The pools have not been read yet."
    assert page.one("section", aria_labelledby="clusters-title").one("li").text == (
        "prod reachable 7 objects read so far"
    )


def test_overview_of_a_waiting_and_of_a_paused_cluster(visit: Visit) -> None:
    api_rows.cluster("a", synced_at=None, reach="unknown")
    api_rows.cluster("b", is_paused=True)

    clusters = visit("/").one("section", aria_labelledby="clusters-title").all("li")

    assert [line.text for line in clusters] == [
        "a not tried yet not read yet",
        "b paused read 4 s ago",
    ]


def test_overview_without_clusters_says_what_to_do(visit: Visit) -> None:
    page = visit("/")

    assert page.one("p", class_="empty-title").text == "No cluster is watched."
    assert page.all("section", aria_labelledby="clusters-title") == []


def test_overview_of_a_cluster_that_is_not_there_does_not_say_that_none_is_watched(
    visit: Visit,
) -> None:
    api_rows.cluster("prod")

    page = visit("/?cluster=nosuch")

    assert page.one("p", class_="empty-title").text == "There is no such cluster."
    assert page.all("section", aria_labelledby="clusters-title") == []


@pytest.mark.parametrize("rows", [1, 3])
def test_overview_whatever_its_length_takes_the_same_queries(
    visit: Visit, django_assert_num_queries: Any, rows: int
) -> None:
    cluster = api_rows.cluster()
    for_each(
        range(rows),
        lambda number: api_rows.unknown_pool(
            cluster, f"node-{number}", driver=f"d{number}.example.com"
        ),
    )

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, figures, partitions, trends, problems and lost devices 5.
    with django_assert_num_queries(16):
        page = visit("/")

    assert len(drivers(page)) == rows


def test_overview_live_part_is_the_same_as_in_the_page(
    ask: Ask, visit: Visit, fragment: Visit
) -> None:
    api_rows.pool(api_rows.cluster())
    first = ask("/")

    same = ask("/", **{"If-None-Match": first["ETag"]})

    assert fragment("/").one(id="overview").text == visit("/").one(id="overview").text
    assert (first.status_code, same.status_code) == (200, 304)


def test_overview_anonymous_is_asked_to_sign_in(client: Client, plain_static: None) -> None:
    answer = client.get("/")

    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/")


def test_overview_claims_unread_says_unknown_and_not_zero(visit: Visit) -> None:
    readable, closed = api_rows.cluster("a"), api_rows.cluster("b")
    api_rows.pool(readable, "node-1")
    api_rows.pool(
        closed,
        "node-2",
        devices_allocated=None,
        devices_partly_used=None,
        devices_unavailable=None,
        devices_blocked=None,
        devices_available=None,
    )

    page = visit("/")
    alone = visit("/?cluster=b")

    unknown = (
        "How many of 4 devices are free is unknown, since claims or taint rules were not read."
    )
    assert page.answer == f"2 of 4 devices are free. {unknown}"
    assert alone.answer == unknown
    assert drivers(alone)[0]["Free"] == "unknown"


def test_overview_says_why_devices_are_unavailable_and_leads_to_them(visit: Visit) -> None:
    cluster = api_rows.cluster()
    pool = api_rows.pool(cluster, "node-1", node_name="node-1")
    maintenance = {
        "key": "example.com/maintenance",
        "value": "firmware",
        "effect": "NoSchedule",
        "rule": "node-1-maintenance",
        "added_at": (NOON - timedelta(hours=1)).isoformat(),
    }
    broken = {"key": "example.com/broken", "value": "", "effect": "NoExecute", "rule": None}
    note = {"key": "example.com/slow", "value": "", "effect": "None", "rule": None}
    api_rows.device(pool, "gpu-0", state="unavailable", taints=[maintenance, note])
    api_rows.device(pool, "gpu-1", state="unavailable", taints=[maintenance])
    api_rows.device(pool, "gpu-2", state="unavailable", taints=[{**broken, "added_at": "?"}])
    api_rows.device(pool, "gpu-3", state="allocated", taints=[broken])

    section = visit("/").one("section", aria_labelledby="unavailable-title")

    asked = "cluster=prod&driver=gpu.example.com&state=unavailable"
    assert [line.text for line in section.all("li")] == [
        (
            "2 devices of gpu.example.com: example.com/maintenance:NoSchedule"
            " set by the taint rule node-1-maintenance, on node-1, since 60 min ago"
        ),
        "1 device of gpu.example.com: example.com/broken:NoExecute published by the driver, on node-1",
    ]
    assert section.links() == {
        "2 devices": f"/devices/?{asked}&taint=example.com%2Fmaintenance",
        "node-1-maintenance": f"/devices/?{asked}&taint=example.com%2Fmaintenance&taint_rule=node-1-maintenance",
        "1 device": f"/devices/?{asked}&taint=example.com%2Fbroken",
    }


def test_overview_says_since_when_there_is_a_problem(visit: Visit) -> None:
    """A version without it ended ten minutes ago; figures have changed since."""
    pool = api_rows.unknown_pool(api_rows.cluster())
    closed(pool, since=NOON - timedelta(hours=1), until=NOON - timedelta(minutes=10), codes=[])
    closed(
        pool,
        since=NOON - timedelta(minutes=10),
        until=NOON - timedelta(minutes=1),
        codes=pool.problem_codes,
    )

    age = visit("/").one("section", class_="problems").one("span", class_="problem-age")

    assert age.text == "since 10 min ago"


@pytest.mark.parametrize(
    ("first_seen_at", "expected"),
    [(NOON, "since 4 s ago"), (NOON - timedelta(days=40), "since before 4 s ago")],
)
def test_overview_says_since_when_only_where_versions_tell(
    visit: Visit, first_seen_at: datetime, expected: str
) -> None:
    """Nothing is kept of a pool before its present version: it is new, or what was before is not kept any more."""
    api_rows.unknown_pool(api_rows.cluster(), first_seen_at=first_seen_at)

    age = visit("/").one("section", class_="problems").one("span", class_="problem-age")

    assert age.text == expected


def test_overview_says_of_an_old_problem_that_it_is_older_than_was_looked_for(
    visit: Visit,
) -> None:
    pool = api_rows.unknown_pool(api_rows.cluster(), first_seen_at=NOON - timedelta(days=10))
    closed(
        pool,
        since=NOON - timedelta(days=9),
        until=NOON - timedelta(hours=20),
        codes=pool.problem_codes,
    )
    closed(pool, since=NOON - timedelta(days=10), until=NOON - timedelta(days=9), codes=[])

    age = visit("/").one("section", class_="problems").one("span", class_="problem-age")

    assert age.text == "since before 9 d ago"


def closed(pool: Pool, *, since: datetime, until: datetime, codes: list[str]) -> None:
    """A version of a pool that has ended."""
    ensure_partitions([Partitioned("pools_pool_closed")], now=until)
    names = ", ".join(str(field.column) for field in Pool._meta.concrete_fields)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO pools_pool_closed ({names}, until) SELECT {names}, %s FROM pools_pool WHERE id = %s",
            [until, pool.id],
        )
        cursor.execute(
            "UPDATE pools_pool_closed SET since = %s, problem_codes = %s WHERE id = %s AND until = %s",
            [since, json.dumps(codes), pool.id, until],
        )
