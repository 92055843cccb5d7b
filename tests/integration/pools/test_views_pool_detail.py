from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from objects.services.partitions import Partitioned, ensure_partitions
from pools.models import Pool
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.integration.conftest import Ask, Visit
from tests.pages import heading
from tests.series import for_each


@pytest.fixture(autouse=True)
def _partitions(db: None) -> None:
    ensure_partitions(
        [Partitioned("pools_poolsample"), Partitioned("pools_poolhour", by="month")], now=NOON
    )


@pytest.fixture
def pool(db: None) -> Pool:
    return api_rows.pool(api_rows.cluster())


def url(pool: Pool, query: str = "") -> str:
    return f"/pools/{pool.id}/{query}"


def figures(page: Any) -> dict[str, str]:
    return {
        figure.one("span", class_="figure-label").text: figure.one("button").text.partition(" ")[0]
        for figure in page.all("div", class_="figure")
    }


def test_pool_page_answers_with_figures_source_and_age(visit: Visit, pool: Pool) -> None:
    page = visit(url(pool))

    assert (page.one("h1").text, page.answer) == ("node-1", "2 of 4 devices are free.")
    assert figures(page) == {"free": "2", "allocated": "1", "unavailable": "1", "in all": "4"}
    assert page.all("span", class_="figure-source")[0].text == (
        "computed from ResourceSlices at 81273, ResourceClaims at 81273, DeviceTaintRules at 81273, 4 s ago"
    )


def test_pool_page_unknown_figures_are_unknown_and_never_zero(visit: Visit) -> None:
    pool = api_rows.unknown_pool(api_rows.cluster())

    page = visit(url(pool))

    assert page.answer == (
        "Incomplete: 1 slices, which disagree on how many there are, with 4 devices seen. Its total is unknown."
    )
    assert figures(page) == {
        "free": "unknown",
        "allocated": "unknown",
        "of these partly used": "unknown",
        "blocked": "unknown",
        "unavailable": "unknown",
        "in all": "unknown",
        "seen": "4",
    }
    facts = page.facts()
    assert (facts["Generation"], facts["Fits now"]) == ("unknown", "unknown")
    assert page.one("section", class_="problems").one("li").classes == ["tone-error"]


def test_pool_page_says_what_it_is_with_links(visit: Visit, pool: Pool) -> None:
    page = visit(url(pool))

    assert page.facts() == {
        "Driver": "gpu.example.com",
        "Node": "node-1",
        "Cluster": "prod",
        "Generation": "3",
        "Slices": "1, all that are declared",
        "Fits now": "2 devices",
        "Latest change": "4 s ago",
        "First seen": "1 Mar 2026 12:00:00 UTC",
    }
    links = page.links()
    assert links["prod"] == f"/clusters/{pool.cluster_id}/"
    assert links["With attributes and filters"] == "/devices/?driver=gpu.example.com&pool=node-1"


def test_pool_page_lists_devices_with_holders_and_what_is_left(visit: Visit, pool: Pool) -> None:
    shared = [{"name": "memory", "total": "80Gi", "consumed": "30Gi", "available": "50Gi"}]
    whole = [{"name": "memory", "total": "80Gi", "consumed": "80Gi", "available": "0"}]
    held = api_rows.device(pool, "gpu-0", state="allocated", capacity=whole)
    api_rows.device(pool, "gpu-1", state="allocated", is_partly_used=True, capacity=shared)
    api_rows.device(
        pool,
        "gpu-2",
        state="unavailable",
        taints=[{"key": "broken", "value": "", "effect": "NoExecute", "rule": "r1"}],
    )
    api_rows.allocation(held)

    rows = visit(url(pool)).one("section", aria_labelledby="pool-devices-title").rows()

    assert rows == [
        {
            "Device": "gpu-0",
            "State": "allocated",
            "Held by": "training/worker-0",
            "Taints": "",
            "Capacity": "80 GiB memory",
        },
        {
            "Device": "gpu-1",
            "State": "allocated partly used",
            "Held by": "nobody",
            "Taints": "",
            "Capacity": "50 GiB of 80 GiB memory",
        },
        {
            "Device": "gpu-2",
            "State": "unavailable",
            "Held by": "nobody",
            "Taints": "broken:NoExecute",
            "Capacity": "80 GiB memory",
        },
    ]


def test_pool_page_without_taints_has_no_column_for_them(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool, "gpu-0", state="unknown")

    rows = visit(url(pool)).one("section", aria_labelledby="pool-devices-title").rows()

    assert rows == [
        {
            "Device": "gpu-0",
            "State": "unknown",
            "Held by": "unknown",
            "Capacity": "80 GiB memory",
        }
    ]


def test_pool_page_pages_its_devices_and_keeps_the_chart_range(visit: Visit, pool: Pool) -> None:
    for_each(range(51), lambda number: api_rows.device(pool, f"gpu-{number:02}"))

    first = visit(url(pool, "?range=week"))
    address = first.one("a", rel="next").attributes["href"]
    second = visit(address.partition("#")[0])

    devices = second.one("section", aria_labelledby="pool-devices-title").rows()
    assert [row["Device"] for row in devices] == ["gpu-50"]
    assert "range=week" in address
    assert visit(url(pool, "?cursor=nonsense")).one("h1").text == "node-1"


def test_pool_page_partitions_are_alternatives(visit: Visit) -> None:
    parts = [
        {"attribute": "profile", "type": "1g.10gb", "total": 7, "allocatable": 5},
        {"attribute": "profile", "type": "3g.40gb", "total": 2, "allocatable": None},
    ]
    pool = api_rows.pool(api_rows.cluster(), partitions=parts)

    page = visit(url(pool))

    section = page.one("section", aria_labelledby="partitions-title")
    assert [[cell.text for cell in row.all("td")] for row in section.one("tbody").all("tr")] == [
        ["5", "7"],
        ["unknown", "2"],
    ]
    assert section.links()["1g.10gb"] == "/pools/?driver=gpu.example.com&fits=1g.10gb"
    assert page.answer == "2 of 4 devices are free. Fits now: 5 × 1g.10gb."


def test_pool_page_chart_shows_the_latest_hour_while_there_is_no_more(
    visit: Visit, pool: Pool
) -> None:
    page = visit(url(pool))

    assert page.one("nav", class_="ranges").one("a", aria_current="true").text == "Hour"


def test_pool_page_chart_shows_a_day_of_an_older_pool(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(), first_seen_at=NOON - timedelta(hours=4))

    assert visit(url(pool)).one("nav", class_="ranges").one("a", aria_current="true").text == "Day"


def test_pool_page_chart_names_gaps_once_with_their_kinds(visit: Visit, pool: Pool) -> None:
    api_rows.sample(pool, NOON - timedelta(minutes=50))
    gaps = {"ResourceSlice": 30, "ResourceClaim": 29, "DeviceTaintRule": 5}
    for_each(
        gaps,
        lambda kind: api_rows.gap(
            pool.cluster,
            kind=kind,
            started_at=NOON - timedelta(minutes=gaps[kind]),
            ended_at=NOON - timedelta(minutes=gaps[kind] - 2),
        ),
    )

    notes = [note.text for note in visit(url(pool)).one("ul", class_="chart-notes").all("li")]

    assert notes == [
        "1 Mar 2026 11:10:00 UTC generation 3",
        (
            "1 Mar 2026 11:30:00 UTC – 1 Mar 2026 11:33:00 UTC:"
            " ResourceSlices, ResourceClaims not seen. The API server could not be read."
        ),
        (
            "1 Mar 2026 11:55:00 UTC – 1 Mar 2026 11:57:00 UTC:"
            " DeviceTaintRules not seen. The API server could not be read."
        ),
    ]


def test_pool_page_chart_is_a_table_as_well_with_gaps_unknown(visit: Visit, pool: Pool) -> None:
    api_rows.sample(pool, NOON - timedelta(minutes=50))
    api_rows.gap(
        pool.cluster,
        started_at=NOON - timedelta(minutes=30),
        ended_at=NOON - timedelta(minutes=20),
    )

    table = visit(url(pool)).one("details", class_="chart-table").one("tbody")

    rows = [[cell.text for cell in row.all()] for row in table.all("tr")]
    cells = [row[-5:] for row in rows]
    assert ["1", "0", "2", "0", "1"] in cells
    assert any(row.count("unknown") >= 5 for row in rows)


def test_pool_page_lists_generations_of_the_chart(visit: Visit, pool: Pool) -> None:
    api_rows.sample(pool, NOON - timedelta(minutes=50), generation=2)
    api_rows.sample(pool, NOON - timedelta(minutes=40), generation=3, is_complete=False)
    api_rows.sample(pool, NOON - timedelta(minutes=30), generation=None, has_vanished=True)

    section = visit(url(pool)).one("section", aria_labelledby="generations-title")

    rows = [[cell.text for cell in row.all("td")] for row in section.one("tbody").all("tr")]
    assert rows == [
        ["1 Mar 2026 11:30:00 UTC", "unknown", "vanished"],
        ["1 Mar 2026 11:20:00 UTC", "3", "incomplete"],
        ["1 Mar 2026 11:10:00 UTC", "2", "complete"],
    ]


def test_pool_page_server_section_without_a_request_says_why(visit: Visit, pool: Pool) -> None:
    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.one("p").text == (
        "The server is not asked: pool status requests are switched off for this cluster. Switch them on"
    )
    assert section.links() == {"Switch them on": f"/clusters/{pool.cluster_id}/"}


def test_pool_page_server_section_before_the_first_request(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(pool_status_mode="on"))

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.one("p").text == (
        "The server has not been asked about this pool yet. It is asked every few minutes."
    )


def test_pool_page_server_section_of_an_unanswered_request(visit: Visit, pool: Pool) -> None:
    asked = api_rows.status_request(
        pool.cluster,
        outcome="refused",
        notes=[api_rows.said("No right to create.")],
        answered_at=None,
    )

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.one("p").text == "refused (RBAC) No right to create. Asked 4 s ago"
    assert section.links()["Asked 4 s ago"] == f"/pool-status-requests/{asked.pk}/"


def test_pool_page_compares_the_servers_figures_one_by_one(visit: Visit, pool: Pool) -> None:
    answer = api_rows.status_answer(api_rows.status_request(pool.cluster))
    answer.ours = {"devices": {"total": 4, "allocated": 1, "available": 2, "unavailable": 1}}
    answer.server = {"totalDevices": 4, "availableDevices": 1, "validationError": "odd"}
    part = {"parameters": {"attribute": "profile", "type": "half"}, "reasons": ["unexplained"]}
    answer.differences = [
        {"field": "available", "ours": 2, "server": 1, "reasons": ["server_subtracts_twice"]},
        {"field": "node", "ours": None, "server": "n1", "reasons": ["unexplained"]},
        {**part, "field": "partition_total", "ours": 1, "server": 2},
        {**part, "field": "partition_allocatable", "ours": 1, "server": 0},
        # Of an earlier release, which kept the words.
        {"field": "capacity bw", "ours": None, "server": "1", "reasons": ["unexplained"]},
    ]
    answer.save()

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.all("p")[0].text == (
        "The pool status controller answered, and 5 figures differ. Asked 4 s ago"
    )
    unexplained = "not explained: the objects may have changed between the two readings"
    assert section.rows() == [
        {"Figure": "total", "Ours then": "4", "Server's": "4", "Why": "the same"},
        {"Figure": "allocated", "Ours then": "1", "Server's": "unknown", "Why": "the same"},
        {
            "Figure": "available",
            "Ours then": "2",
            "Server's": "1",
            "Why": "the server subtracts a device that is allocated and tainted twice",
        },
        {"Figure": "unavailable", "Ours then": "1", "Server's": "unknown", "Why": "the same"},
        {
            "Figure": "node",
            "Ours then": "unknown",
            "Server's": "n1",
            "Why": unexplained,
        },
        {
            "Figure": "partition profile=half total",
            "Ours then": "1",
            "Server's": "2",
            "Why": unexplained,
        },
        {
            "Figure": "partition profile=half allocatable",
            "Ours then": "1",
            "Server's": "0",
            "Why": unexplained,
        },
        {
            "Figure": "capacity bw",
            "Ours then": "unknown",
            "Server's": "1",
            "Why": unexplained,
        },
    ]
    assert section.all("p")[-1].text == "The server says: odd"


def test_pool_page_says_when_the_server_agrees(visit: Visit, pool: Pool) -> None:
    answer = api_rows.status_answer(api_rows.status_request(pool.cluster))
    answer.differences = []
    answer.save()

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.all("p")[0].text == (
        "The pool status controller's figures are ours. Asked 4 s ago"
    )


def test_pool_page_answer_that_was_not_compared_says_so(visit: Visit, pool: Pool) -> None:
    answer = api_rows.status_answer(api_rows.status_request(pool.cluster))
    answer.differences = None
    answer.server = {"totalDevices": ["odd"], "allocatedDevices": "1"}
    answer.save()

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.all("p")[0].text == (
        "The pool status controller answered. Its figures are compared with ours within moments."
        " Asked 4 s ago"
    )
    assert [row["Why"] for row in section.rows()] == ["not yet"] * 4
    assert [row["Ours then"] for row in section.rows()] == ["not compared"] * 4


def test_pool_page_says_that_an_answer_was_not_compared_since_the_pool_changed(
    visit: Visit, pool: Pool
) -> None:
    note = {"code": "pools_not_compared", "parameters": {"pools": 1}}
    answer = api_rows.status_answer(api_rows.status_request(pool.cluster, notes=[note]))
    answer.differences = None
    answer.save()

    section = visit(url(pool)).one("section", aria_labelledby="server-title")

    assert section.all("p")[0].text == (
        "The pool status controller answered. The pool changed meanwhile, so its figures are not"
        " compared with ours. Asked 4 s ago"
    )
    assert [row["Why"] for row in section.rows()] == ["the pool changed meanwhile"] * 4


def test_pool_page_vanished_pool_is_still_readable(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(), vanished_at=NOON, devices_total=None)

    page = visit(url(pool))

    assert page.answer == (
        "No driver publishes this pool any more. This is what was stored of it."
    )
    assert page.facts()["Vanished"] == "1 Mar 2026 12:00:00 UTC, 4 s ago"


def test_pool_page_hundreds_of_slices_lists_the_first_and_links_to_all(
    visit: Visit, pool: Pool
) -> None:
    for_each(
        range(60),
        lambda number: api_rows.resource_slice(
            pool, f"slice-{number:02}", object_id=number + 1, generation=3 if number else 2
        ),
    )

    section = visit(url(pool)).one("section", aria_labelledby="slices-title")

    assert len(section.one("tbody").all("tr")) == 50
    assert section.one("h2").text == "Resource slices 60"
    assert section.links()["All of them"] == (
        "/resource-slices/?driver=gpu.example.com&pool=node-1"
    )
    assert section.all("p")[0].text == "1 is of an older generation."


@pytest.mark.parametrize("devices", [1, 3])
def test_pool_page_whatever_its_size_takes_the_same_queries(
    visit: Visit, pool: Pool, django_assert_num_queries: Any, devices: int
) -> None:
    api_rows.sample(pool, NOON - timedelta(minutes=50))
    api_rows.status_answer(api_rows.status_request(pool.cluster))
    for_each(
        range(devices),
        lambda number: api_rows.allocation(api_rows.device(pool, f"gpu-{number}")),
    )
    for_each(
        range(devices),
        lambda number: api_rows.resource_slice(pool, f"slice-{number}", object_id=number + 1),
    )

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, pool 1, devices and holders 2, slices 1, history 3, server 2.
    with django_assert_num_queries(18):
        visit(url(pool))


def test_pool_page_live_part_is_the_same_as_in_the_page(
    visit: Visit, fragment: Visit, pool: Pool
) -> None:
    api_rows.device(pool)

    page, part = visit(url(pool)), fragment(url(pool))

    assert part.one(id="pool-now").text == page.one(id="pool-now").text
    assert part.all("section", aria_labelledby="server-title") == []


def test_pool_page_live_part_is_not_sent_again_until_something_changed(
    ask: Ask, pool: Pool
) -> None:
    first = ask(url(pool))

    same = ask(url(pool), **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    assert (same.content, same["ETag"]) == (b"", first["ETag"])


def test_pool_page_of_no_pool_is_not_found(viewer: Client) -> None:
    answer = viewer.get("/pools/4711/")

    assert (answer.status_code, heading(answer)) == (404, "Not found")
