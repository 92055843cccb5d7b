"""Lists that are empty because of their filters: how many rows there are all the same, and which filter it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.series import for_each

if TYPE_CHECKING:
    from tests.integration.conftest import Visit


@pytest.fixture
def three_of_each(db: None) -> None:
    """Three pools, each with a device and a slice, on nodes of their names; three classes and status requests."""
    cluster = api_rows.cluster()
    cluster.kinds.create(kind="Node", state="watching", last_synced_at=NOON, object_count=3)
    cluster.kinds.create(kind="DeviceClass", state="watching", last_synced_at=NOON)

    def make(number: int) -> None:
        pool = api_rows.pool(cluster, f"node-{number}")
        api_rows.device(pool)
        api_rows.count_devices(pool)
        api_rows.resource_slice(pool, f"slice-{number}", object_id=number)
        api_rows.node(cluster, f"node-{number}")
        api_rows.device_class(cluster, f"class-{number}")
        api_rows.status_request(cluster, f"request-{number}")

    for_each(range(3), make)


def lines_of(page: Any) -> list[str]:
    return [line.text for line in page.one("div", class_="empty-state").all("p")]


def count_of(page: Any) -> str:
    return str(page.one("p", class_="list-count").text)


@pytest.mark.parametrize(
    ("path", "query", "label", "noun"),
    [
        ("/pools/", "problem=any", "Problem: with any problem or note", "pools"),
        ("/devices/", "state=blocked", "State: blocked", "devices"),
        ("/resource-slices/", "driver=none", "Driver: none", "resource slices"),
        ("/nodes/", "ready=not_ready", "Readiness: not ready", "nodes"),
        ("/device-classes/", "name=none", "name: none", "device classes"),
        ("/pool-status-requests/", "outcome=failed", "Outcome: failed", "pool status requests"),
    ],
)
def test_empty_list_says_how_many_there_are_and_which_filter_leaves_none(
    visit: Visit, three_of_each: None, path: str, query: str, label: str, noun: str
) -> None:
    page = visit(f"{path}?{query}")

    assert lines_of(page) == [
        f"No {noun} match these filters.",
        "Without any filter there are 3.",
        f"Drop “{label}”",
    ]
    assert page.one("div", class_="empty-state").links() == {f"Drop “{label}”": path}
    assert count_of(page) == f"0 of 3 {noun}"


@pytest.mark.parametrize("path", ["/nodes/", "/device-classes/", "/resource-slices/"])
def test_list_whose_filters_leave_none_does_not_say_that_there_are_none(
    visit: Visit, three_of_each: None, path: str
) -> None:
    assert visit(path).answer.startswith("3 ")
    assert visit(f"{path}?q=none").all("p", class_="answer-text") == []


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("/pools/", "pools"),
        ("/devices/?sort=name", "devices"),
        ("/resource-slices/", "resource slices"),
        ("/nodes/", "nodes"),
        ("/device-classes/", "device classes"),
        ("/pool-status-requests/", "pool status requests"),
    ],
)
def test_list_without_a_filter_counts_what_it_shows(
    visit: Visit, three_of_each: None, path: str, noun: str
) -> None:
    assert count_of(visit(path)) == f"3 of 3 {noun}"


def test_filtered_list_counts_what_matches_among_all(visit: Visit, three_of_each: None) -> None:
    assert count_of(visit("/pools/?q=node-1")) == "1 of 3 pools"


def test_filtered_list_of_several_pages_counts_what_it_shows_too(
    visit: Visit, three_of_each: None
) -> None:
    cluster = api_rows.cluster("other")
    for_each(range(60), lambda number: api_rows.node(cluster, f"many-{number}"))

    assert count_of(visit("/nodes/?q=many")) == "50 of 60 that match, of 63 nodes"


def test_only_filters_that_alone_leave_none_are_named(visit: Visit, three_of_each: None) -> None:
    named = visit("/pools/?driver=gpu.example.com&q=node-1+problem:any")

    assert lines_of(named) == [
        "No pools match these filters.",
        "Without any filter there are 3.",
        "Drop “problem: any”",
        "Drop all filters",
    ]
    assert named.one("div", class_="empty-state").links() == {
        "Drop “problem: any”": "/pools/?driver=gpu.example.com&q=node-1",
        "Drop all filters": "/pools/",
    }


def test_filters_that_leave_none_only_together_are_said_to(
    visit: Visit, three_of_each: None
) -> None:
    assert lines_of(visit("/pools/?driver=none&node=none")) == [
        "No pools match these filters.",
        "Without any filter there are 3. No filter alone leaves none of them.",
        "Drop all filters",
    ]


def test_pools_that_vanished_are_not_counted_among_those_that_are_there(
    visit: Visit, three_of_each: None
) -> None:
    page = visit("/pools/?vanished=true")

    assert lines_of(page) == ["No pools match these filters.", "Drop “vanished: true”"]
    assert count_of(page) == "0 pools"


def test_filtered_list_of_what_was_never_read_blames_no_filter(visit: Visit) -> None:
    api_rows.cluster(synced_at=None).kinds.update(state="waiting")

    page = visit("/nodes/?ready=not_ready")

    assert page.one("div", class_="empty-state").attributes["data-reason"] == "not-read"
    assert count_of(page) == ""


@pytest.mark.parametrize("query", ["q=none", "q=none&driver=none&node=none&problem=any"])
def test_empty_list_takes_the_same_queries_whatever_its_filters(
    visit: Visit, three_of_each: None, django_assert_num_queries: Any, query: str
) -> None:
    with django_assert_num_queries(13):
        visit(f"/pools/?{query}")
