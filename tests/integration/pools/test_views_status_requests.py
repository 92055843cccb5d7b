from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from clusters.models import Cluster
from dra.catalogue import Statement
from dra.pools import assess_pool
from dra.values import DriverName, PoolKey, PoolName
from pools.choices import Outcome
from pools.models import PoolStatusAnswer
from pools.services import status_requests
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.integration.conftest import Ask, Visit
from tests.pages import heading, parse
from tests.series import for_each


@pytest.fixture
def cluster(db: None) -> Cluster:
    return api_rows.cluster(pool_status_mode="on")


def test_status_list_shows_outcome_and_agreement(visit: Visit, cluster: Cluster) -> None:
    asked = api_rows.status_request(cluster, "b", pool_count=3, pools_answered=2)
    api_rows.status_answer(asked, "node-1")
    api_rows.status_answer(asked, "node-2", differences=[])
    api_rows.status_request(
        cluster,
        "a",
        pool_name="node-1",
        outcome="blocked",
        notes=[api_rows.said("A pool is incomplete.")],
        answered_at=None,
        created_at=NOON - timedelta(minutes=5),
        pools_answered=None,
        pools_differing=None,
        pool_count=None,
    )

    page = visit("/pool-status-requests/")

    assert page.rows() == [
        {
            "Asked": "4 s ago",
            "Driver": "gpu.example.com",
            "Pool": "all of the driver",
            "Outcome": "answered",
            "Pools answered": "2 of 3",
            "Differing": "1",
            "Took": "1 s",
        },
        {
            "Asked": "5 min ago",
            "Driver": "gpu.example.com",
            "Pool": "node-1",
            "Outcome": "blocked by an incomplete pool A pool is incomplete.",
            "Pools answered": "unknown",
            "Differing": "unknown",
            "Took": "no answer",
        },
    ]
    assert page.answer == (
        "The server agreed with us on 1 of 2 pools that were compared in its latest answer about each driver."
        " 1 differs, with its reason beside it."
    )


def test_status_list_answers_by_the_latest_comparison_of_each_driver(
    visit: Visit, cluster: Cluster
) -> None:
    old = api_rows.status_request(cluster, "old", created_at=NOON - timedelta(minutes=9))
    new = api_rows.status_request(cluster, "new", pools_differing=0)
    one = api_rows.status_request(cluster, "one", pool_name="node-1", pools_differing=1)
    for_each((old, one), api_rows.status_answer)
    api_rows.status_answer(new, differences=[])

    assert visit("/pool-status-requests/").answer == (
        "The server agreed with us on 1 of 1 pool that was compared in its latest answer about each driver."
    )


def test_status_list_counts_no_pool_that_was_not_compared(visit: Visit, cluster: Cluster) -> None:
    asked = api_rows.status_request(cluster, pools_answered=3, pools_differing=0)
    api_rows.status_answer(asked, "node-1", differences=[])
    for_each(("node-2", "node-3"), partial(api_rows.status_answer, asked, differences=None))

    assert visit("/pool-status-requests/").answer == (
        "The server agreed with us on 1 of 1 pool that was compared in its latest answer about each driver."
    )


def test_status_list_without_a_comparison_says_so(visit: Visit, cluster: Cluster) -> None:
    api_rows.status_request(cluster, pool_name="node-1")

    assert visit("/pool-status-requests/").answer == (
        "No answer about a whole driver was compared with our figures yet."
    )


def test_status_list_took_long_is_said_in_whole_units(visit: Visit, cluster: Cluster) -> None:
    api_rows.status_request(cluster, answered_at=NOON + timedelta(seconds=150))

    assert visit("/pool-status-requests/").rows()[0]["Took"] == "2 min"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("outcome=answered", 1),
        ("outcome=failed", 0),
        ("differing=true", 1),
        ("differing=false", 0),
        ("q=gpu.example", 1),
        ("q=nothing-has-this", 0),
    ],
)
def test_status_list_takes_filters_from_the_address(
    visit: Visit, cluster: Cluster, query: str, found: int
) -> None:
    api_rows.status_request(cluster)

    page = visit(f"/pool-status-requests/?{query}")

    assert len(page.rows() if page.all("tbody") else []) == found


@pytest.mark.parametrize(
    ("mode", "hint"),
    [
        ("off", "They are switched off. A cluster's page switches them on."),
        ("on", "The first one is made within minutes."),
    ],
)
def test_status_list_empty_says_whether_any_will_come(visit: Visit, mode: str, hint: str) -> None:
    api_rows.cluster(pool_status_mode=mode)

    page = visit("/pool-status-requests/")

    assert [p.text for p in page.one("div", class_="empty-state").all("p")] == [
        "No pool status requests.",
        hint,
    ]


def test_status_list_says_where_they_are_switched_off(visit: Visit) -> None:
    api_rows.cluster("mine", pool_status_mode="off")

    page = visit("/pool-status-requests/?cluster=mine&outcome=failed&cursor=x")

    assert page.answer == "Switched off for mine."
    # There is none without the filter either.
    assert page.one("p", class_="empty-title").text == "No pool status requests."


@pytest.mark.parametrize("rows", [1, 3])
def test_status_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, cluster: Cluster, django_assert_num_queries: Any, rows: int
) -> None:
    for_each(range(rows), lambda number: api_rows.status_request(cluster, f"r-{number}"))

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, page 1, count 1, agreement 1.
    with django_assert_num_queries(12):
        page = visit("/pool-status-requests/")

    assert len(page.rows()) == rows


def test_status_list_live_part_and_export(
    ask: Ask, visit: Visit, viewer: Client, cluster: Cluster
) -> None:
    api_rows.cluster("two")
    api_rows.status_request(cluster)
    first = ask("/pool-status-requests/")

    same = ask("/pool-status-requests/", **{"If-None-Match": first["ETag"]})
    page = visit("/pool-status-requests/?cluster=prod&outcome=answered")

    assert (first.status_code, same.status_code) == (200, 304)
    assert (same.content, same["ETag"]) == (b"", first["ETag"])
    links = page.one("p", class_="exports").links()
    assert viewer.get(links["JSON"]).json()["count"] == 1
    assert visit("/pool-status-requests/").rows()[0]["Cluster"] == "prod"


def test_status_page_compares_each_pool(visit: Visit, cluster: Cluster) -> None:
    pool = api_rows.pool(cluster)
    asked = api_rows.status_request(cluster)
    answer = api_rows.status_answer(asked)
    answer.ours = {"devices": {"total": 4, "allocated": 1, "available": 2, "unavailable": None}}
    answer.server = {"totalDevices": 4, "allocatedDevices": 1, "availableDevices": 1}
    answer.save()
    other = api_rows.status_answer(asked, "node-2")
    other.differences = None
    other.save()

    page = visit(f"/pool-status-requests/{asked.pk}/")

    assert page.answer == "Answered. 1 pool differs, with its reason beside it."
    assert page.rows() == [
        {
            "Pool": "node-1",
            "total": "4",
            "allocated": "1",
            "available": "2 → 1",
            "unavailable": "unknown",
            "Agreement": "differs available: the server subtracts a device that is allocated and tainted twice",
        },
        {
            "Pool": "node-2",
            "total": "unknown",
            "allocated": "unknown",
            "available": "1",
            "unavailable": "unknown",
            "Agreement": "not compared not yet",
        },
    ]
    assert page.links()["node-1"] == f"/pools/{pool.id}/"
    assert "poolCount: 1" in page.one("ol", class_="yaml").text


def test_status_page_that_was_not_answered_names_what_blocks_it(
    visit: Visit, cluster: Cluster
) -> None:
    pool = api_rows.pool(cluster)
    blockers = [
        {
            "driver": pool.driver,
            "pool": pool.name,
            "code": "blocked_by_missing_slices",
            "parameters": {"seen": 1, "expected": 2},
        },
        {
            "driver": pool.driver,
            "pool": "gone",
            "code": "blocked_by_generation_zero",
            "parameters": {},
        },
    ]
    asked = api_rows.status_request(
        cluster, outcome="blocked", notes=[api_rows.said("No answer.")], answered_at=None, blocked_by=blockers,
        answer=None, pools_answered=None, pool_count=None,
    )  # fmt: skip

    page = visit(f"/pool-status-requests/{asked.pk}/")

    assert page.answer == "Blocked by an incomplete pool. No answer."
    section = page.one("section", aria_labelledby="blockers-title")
    assert [entry.text for entry in section.all("li")] == [
        "node-1 incomplete: 1 of 2 slices",
        "gone generation 0, which the server cannot write into its answer",
    ]
    assert section.links() == {"node-1": f"/pools/{pool.id}/"}
    facts = page.facts()
    assert (facts["Answered"], facts["Pools answered"]) == ("no", "unknown of unknown")


@pytest.mark.parametrize(
    ("differing", "answer"),
    [
        (None, "Answered, and not compared."),
        (0, "Answered. The server's figures are ours."),
        (2, "Answered. 2 pools differ, with their reasons beside them."),
    ],
)
def test_status_page_answers_in_words(
    visit: Visit, cluster: Cluster, differing: int | None, answer: str
) -> None:
    asked = api_rows.status_request(cluster, pools_differing=differing)

    assert visit(f"/pool-status-requests/{asked.pk}/").answer == answer


def test_status_page_of_many_pools_shows_the_first_hundred(visit: Visit, cluster: Cluster) -> None:
    asked = api_rows.status_request(cluster)
    for_each(range(101), lambda number: api_rows.status_answer(asked, f"node-{number}"))

    page = visit(f"/pool-status-requests/{asked.pk}/")

    assert len(page.rows()) == 100
    assert page.one(id="status-request").all("p")[-1].text.startswith("100 of 101 pools")


@pytest.mark.parametrize("differences", [[], None])
@pytest.mark.parametrize("pools", [1, 3])
def test_status_page_whatever_its_length_takes_the_same_queries(
    visit: Visit,
    cluster: Cluster,
    django_assert_num_queries: Any,
    pools: int,
    differences: list[Any] | None,
) -> None:
    asked = api_rows.status_request(cluster)
    answer = partial(api_rows.status_answer, asked, differences=differences)
    for_each(range(pools), lambda number: answer(f"node-{number}"))

    # Session and person 2, the snapshot 4, request 1, clusters with kinds and gaps 3, answers 1, pools 1.
    with django_assert_num_queries(12):
        visit(f"/pool-status-requests/{asked.pk}/")


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("/pool-status-requests/", False),
        ("/api/v1/pool-status-requests/", False),
        ("/api/v1/pool-status-requests/?format=csv", False),
        ("/pools/{pool}/", False),
        ("/pool-status-requests/{asked}/", True),
        ("/api/v1/pool-status-requests/{asked}/", True),
    ],
)
def test_whole_answer_of_the_server_is_read_where_it_is_shown_alone(
    viewer: Client, cluster: Cluster, path: str, is_read: bool
) -> None:
    pool, asked = api_rows.pool(cluster), api_rows.status_request(cluster)
    api_rows.status_answer(asked)

    with CaptureQueriesContext(connection) as asked_for:
        answer = viewer.get(path.format(pool=pool.id, asked=asked.pk))
        content = b"".join(answer)

    read = [query for query in asked_for if '"pools_poolstatusrequest"."answer"' in query["sql"]]
    assert (bool(read), b"gpu.example.com" in content) == (is_read, True)


def test_status_page_live_part(ask: Ask, cluster: Cluster) -> None:
    asked = api_rows.status_request(cluster)
    first = ask(f"/pool-status-requests/{asked.pk}/")

    same = ask(f"/pool-status-requests/{asked.pk}/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    assert (same.content, same["ETag"]) == (b"", first["ETag"])


def test_status_page_of_no_request_is_not_found(viewer: Client) -> None:
    answer = viewer.get("/pool-status-requests/4711/")

    assert (answer.status_code, heading(answer)) == (404, "Not found")


def test_status_page_opened_between_answer_and_comparison_shows_the_comparison(
    ask: Ask, cluster: Cluster
) -> None:
    asked = api_rows.status_request(cluster, pools_differing=None)
    path = f"/pool-status-requests/{asked.pk}/"
    first = ask(path)

    key = PoolKey(DriverName("gpu.example.com"), PoolName("node-1"))
    answer = PoolStatusAnswer(
        request=asked,
        cluster=cluster,
        driver=key.driver,
        pool_name=key.pool,
        observed_at=NOON,
        server={"driver": key.driver, "poolName": key.pool, "totalDevices": 7},
    )
    answer.save()
    assessed = assess_pool(key, [], allocations=[], taint_rules=(), release=None)
    status_requests.record_comparison(asked, [answer], {key: assessed}, release=None)
    later = ask(path, **{"If-None-Match": first["ETag"]})

    assert [parse(each).answer for each in (first, later)] == [
        "Answered, and not compared.",
        "Answered. 1 pool differs, with its reason beside it.",
    ]


def test_status_list_shows_when_the_cluster_refused_again(ask: Ask, cluster: Cluster) -> None:
    refuse = partial(
        status_requests.note_not_made,
        cluster.pk,
        "gpu.example.com",
        name="dradash-1",
        outcome=Outcome.REFUSED,
        note=Statement.of("not_allowed", said="no"),
    )
    refuse(now=NOON)
    first = ask("/pool-status-requests/")

    refuse(now=NOON + timedelta(seconds=3))
    again = ask("/pool-status-requests/", **{"If-None-Match": first["ETag"]})

    assert [parse(answer).rows()[0]["Asked"] for answer in (first, again)] == [
        "4 s ago",
        "1 s ago",
    ]
