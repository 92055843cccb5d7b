from typing import Any

import pytest
from django.test import Client

from pools.models import Pool
from tests.factories import api_rows
from tests.integration.conftest import Ask, Visit
from tests.pages import heading, parse
from tests.series import for_each

BODY = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "slice-a"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "node-1", "resourceSliceCount": 1},
        "devices": [{"name": "<script>alert(1)</script>"}],
    },
}


@pytest.fixture
def pool(db: None) -> Pool:
    return api_rows.pool(api_rows.cluster())


def test_slice_list_shows_slices_with_their_pools(visit: Visit, pool: Pool) -> None:
    problem = {"code": "x", "parameters": {"said_before": "Unreadable."}}
    api_rows.resource_slice(pool, "slice-a", problems=[problem], generation=None)
    lost = api_rows.resource_slice(pool, "slice-b", object_id=2, device_count=None)
    type(lost).objects.filter(object_id=2).update(pool_name="lost")

    page = visit("/resource-slices/")

    assert page.rows() == [
        {
            "Resource slice": "slice-b",
            "Driver": "gpu.example.com",
            "Pool": "lost",
            "Node": "node-1",
            "Generation": "3",
            "Devices": "unknown",
            "Changed": "4 s ago",
        },
        {
            "Resource slice": "slice-a Unreadable.",
            "Driver": "gpu.example.com",
            "Pool": "node-1",
            "Node": "node-1",
            "Generation": "unknown",
            "Devices": "4",
            "Changed": "4 s ago",
        },
    ]
    assert page.answer == "2 resource slices."
    assert page.links()["node-1"] in {f"/pools/{pool.id}/", "/devices/?node=node-1"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("driver=gpu.example.com", ["slice-a", "slice-b"]),
        ("driver=absent", []),
        ("pool=node-1&q=slice-b", ["slice-b"]),
        ("node=node-7", []),
    ],
)
def test_slice_list_takes_filters_from_the_address(
    visit: Visit, pool: Pool, query: str, found: list[str]
) -> None:
    api_rows.resource_slice(pool, "slice-a")
    api_rows.resource_slice(pool, "slice-b", object_id=2)

    page = visit(f"/resource-slices/?{query}")

    rows = page.rows() if page.all("tbody") else []
    assert [row["Resource slice"] for row in rows] == found


def test_slice_list_pages_by_cursor_and_exports(visit: Visit, viewer: Client, pool: Pool) -> None:
    for_each(
        range(51),
        lambda number: api_rows.resource_slice(pool, f"slice-{number:02}", object_id=number + 1),
    )

    first = visit("/resource-slices/")
    second = visit(first.one("a", rel="next").attributes["href"])

    assert [row["Resource slice"] for row in second.rows()] == ["slice-50"]
    links = first.one("p", class_="exports").links()
    assert viewer.get(links["JSON"]).json()["count"] == 51
    assert visit("/resource-slices/?cursor=x").one("p", class_="list-problem").text == (
        "That page of the list is not there any more. This is the first one."
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_slice_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, pool: Pool, django_assert_num_queries: Any, rows: int
) -> None:
    for_each(
        range(rows),
        lambda number: api_rows.resource_slice(pool, f"slice-{number}", object_id=number + 1),
    )

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, page 1, count 1, pools 1.
    with django_assert_num_queries(12):
        page = visit("/resource-slices/")

    assert len(page.rows()) == rows


def test_slice_list_of_several_clusters_names_them(visit: Visit, pool: Pool) -> None:
    api_rows.cluster("two")
    api_rows.resource_slice(pool)

    assert visit("/resource-slices/").rows()[0]["Cluster"] == "prod"


def test_slice_list_live_part(ask: Ask, visit: Visit, fragment: Visit, pool: Pool) -> None:
    api_rows.resource_slice(pool)
    first = ask("/resource-slices/")

    same = ask("/resource-slices/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    assert (same.content, same["ETag"]) == (b"", first["ETag"])
    part, page = fragment("/resource-slices/"), visit("/resource-slices/")
    assert part.one(id="slice-list").text == page.one(id="slice-list").text


def test_slice_list_empty_says_why(visit: Visit) -> None:
    api_rows.cluster()

    title = visit("/resource-slices/").one("p", class_="empty-title").text

    assert title == "No driver publishes anything."


def test_slice_page_shows_the_object_as_yaml(visit: Visit, pool: Pool) -> None:
    row = api_rows.resource_slice(pool)
    api_rows.stored_object(row, BODY)

    page = visit(f"/resource-slices/{row.object_id}/")

    assert page.one("h1").text == "slice-a"
    lines = [line.one("code").text for line in page.one("ol", class_="yaml").all("li")]
    assert lines[:4] == [
        "apiVersion: resource.k8s.io/v1",
        "kind: ResourceSlice",
        "metadata:",
        "name: slice-a",
    ]
    assert "- name: <script>alert(1)</script>" in lines
    assert page.all("script") == []
    assert page.one("span", class_="command").one("code").text == (
        "kubectl get resourceslice slice-a -o yaml"
    )
    assert page.facts() == {
        "Driver": "gpu.example.com",
        "Pool": "node-1",
        "Cluster": "prod",
        "Node": "node-1",
        "Generation": "3",
        "Slices declared": "1",
        "Read as": "resource.k8s.io/v1",
        "Known as of": "4 s ago",
    }


def test_slice_page_without_body_or_pool_is_still_there(visit: Visit, pool: Pool) -> None:
    row = api_rows.resource_slice(pool, generation=None)
    type(pool).objects.filter(id=pool.id).delete()

    page = visit(f"/resource-slices/{row.object_id}/")

    assert (page.facts()["Pool"], page.facts()["Generation"]) == ("node-1", "unknown")
    assert page.all("ol", class_="yaml") == []


def test_slice_page_live_part(ask: Ask, pool: Pool) -> None:
    row = api_rows.resource_slice(pool)
    first = ask(f"/resource-slices/{row.object_id}/")

    same = ask(f"/resource-slices/{row.object_id}/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    assert (same.content, same["ETag"]) == (b"", first["ETag"])


def test_slice_that_is_gone_is_not_found(viewer: Client) -> None:
    answer = viewer.get("/resource-slices/4711/")

    assert (answer.status_code, heading(answer)) == (404, "Not found")


def test_slice_page_opened_before_its_pool_is_derived_leads_to_it(ask: Ask, pool: Pool) -> None:
    row = api_rows.resource_slice(pool, device_count=None)
    type(row).objects.update(pool_name="node-2")
    path = f"/resource-slices/{row.object_id}/"
    first = ask(path)

    derived = api_rows.pool(pool.cluster, "node-2")
    type(row).objects.update(device_count=4)
    later = ask(path, **{"If-None-Match": first["ETag"]})

    links = [parse(each).links().get("node-2") for each in (first, later)]
    assert links == [None, f"/pools/{derived.id}/"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("selector", "by selector"),
        ("mixed", "mixed"),
        ("all", "all nodes"),
        ("per_device", "per device"),
        ("none", "not said"),
    ],
)
def test_slice_list_and_page_say_where_a_slice_can_be_used(
    visit: Visit, kind: str, words: str
) -> None:
    pool = api_rows.pool(api_rows.cluster())
    row = api_rows.resource_slice(pool, node_name=None, node_kind=kind)

    assert visit("/resource-slices/").rows()[0]["Node"] == words
    assert visit(f"/resource-slices/{row.object_id}/").facts()["Node"] == words
