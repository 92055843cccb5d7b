from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from clusters.choices import POOLS
from clusters.services import raise_revisions
from dra.problems import CODES
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.integration.conftest import Ask, Visit
from tests.pages import main
from tests.series import for_each

UNKNOWN = {
    "Pool": "node-9",
    "Driver": "gpu.example.com",
    "Node": "not said",
    "Devices": "",
    "Free": "unknown",
    "Total": "≥4",
    "Fits now": "unknown",
    "Problems": "1 of 2 slices of generation 3 are there: the scheduler takes no device from this pool generation unknown",
}
PLAIN = {
    "Pool": "node-1",
    "Driver": "gpu.example.com",
    "Node": "node-1",
    "Devices": "",
    "Free": "2",
    "Total": "4",
    "Fits now": "2 devices",
    "Problems": "none",
}
MIG = [
    {"attribute": "type", "type": "1g.10gb", "total": 7, "allocatable": 5},
    {"attribute": "type", "type": "3g.40gb", "total": 2, "allocatable": 0},
]


def names(page: Any) -> list[str]:
    return [row["Pool"] for row in page.rows()]


def refusals(page: Any) -> list[str]:
    return [each.text for each in page.all("p", class_="list-problem")]


def assert_no_rows_and_no_zero(page: Any) -> None:
    """Neither a list without its filter, nor one that seems empty."""
    empty = page.one("div", class_="empty-state")
    title = empty.one("p", class_="empty-title").text
    assert title == "These pools cannot be shown: a filter is not understood."
    assert (page.all("tbody"), page.all("p", class_="list-count")) == ([], [])


def test_pool_list_shows_problems_first_and_unknown_as_unknown(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.unknown_pool(cluster, "node-9")

    page = visit("/pools/")

    assert page.rows() == [UNKNOWN, PLAIN]
    assert page.answer == (
        "2 of 4 devices are free, in 2 pools. 1 pool cannot be used or counted. 1 pool has a problem."
    )
    assert page.one("p", class_="list-count").text == "2 of 2 pools"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("driver=mig.example.com", "2 of 4 devices are free, in 1 pool."),
        ("q=node-9", "1 pool cannot be used or counted. 1 pool has a problem."),
    ],
)
def test_pool_list_answers_for_what_is_asked(visit: Visit, query: str, answer: str) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2", driver="mig.example.com")
    api_rows.unknown_pool(cluster, "node-9")

    assert visit(f"/pools/?{query}").answer == answer


def test_pool_list_counts_nothing_of_pools_that_are_gone(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2", vanished_at=NOON)

    gone, both = visit("/pools/?vanished=true"), visit("/pools/?include_vanished=true")

    assert (names(gone), gone.all("p", class_="answer-text")) == (["node-2 vanished"], [])
    assert (len(names(both)), both.answer) == (2, "2 of 4 devices are free, in 1 pool.")


def test_pool_list_bar_says_the_figures_in_words(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    (bar,) = visit("/pools/").one("tbody").all("svg", role="img")

    assert bar.attributes["aria-label"] == "4 devices: 1 allocated, 2 available, 1 unavailable"


def test_pool_list_links_pool_driver_and_node(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(), "rack/7.a", node_name="node-7")

    links = visit("/pools/").one("tbody").links()

    assert links == {
        "rack/7.a": f"/pools/{pool.id}/",
        "gpu.example.com": "/pools/?driver=gpu.example.com",
        "node-7": "/devices/?node=node-7",
    }


def test_pool_list_names_the_cluster_where_there_are_several(visit: Visit) -> None:
    one = api_rows.cluster("one")
    api_rows.cluster("two")
    api_rows.pool(one, "node-1")

    page = visit("/pools/")

    assert page.rows()[0]["Cluster"] == "one"
    assert page.links()["one"] == f"/clusters/{one.pk}/"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cluster=one", ["node-1", "node-2"]),
        ("driver=mig.example.com", ["node-2"]),
        ("node=node-1", ["node-1"]),
        ("complete=false", ["node-9"]),
        ("problem=any", ["node-9"]),
        ("problem=none", ["node-1", "node-2"]),
        ("problem=incomplete_pool", ["node-9"]),
        ("fits=1g.10gb", ["node-2"]),
        ("fits=3g.40gb", []),
        ("fits=device", ["node-1", "node-2"]),
        ("q=node-2", ["node-2"]),
        ("q=driver:mig.example.com+fits:1g.10gb", ["node-2"]),
        ("sort=-name", ["node-9", "node-2", "node-1"]),
        ("sort=available", ["node-9", "node-1", "node-2"]),
    ],
)
def test_pool_list_takes_filters_and_order_from_the_address(
    visit: Visit, query: str, found: list[str]
) -> None:
    one, two = api_rows.cluster("one"), api_rows.cluster("two")
    api_rows.pool(one, "node-1")
    api_rows.pool(one, "node-2", driver="mig.example.com", partitions=MIG)
    api_rows.unknown_pool(two, "node-9")

    page = visit(f"/pools/?{query}")

    rows = page.rows() if page.all("tbody") else []
    assert [row["Pool"] for row in rows] == found


def test_pool_list_fits_names_partition_types_as_alternatives(visit: Visit) -> None:
    many = [
        {"attribute": "type", "type": f"{n}g", "total": 7, "allocatable": n} for n in range(1, 6)
    ]
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "a", partitions=MIG)
    api_rows.pool(cluster, "b", partitions=many)
    api_rows.pool(cluster, "c", devices_allocated=3, devices_available=0)

    fits = [row["Fits now"] for row in visit("/pools/").rows()]

    assert fits == ["5 × 1g.10gb", "1 × 1g or 2 × 2g or 3 × 3g or 2 others", "nothing"]


def test_pool_list_offers_what_still_fits_with_counts(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2", partitions=MIG)

    options = [option.text for option in visit("/pools/").one("select", name="fits").all("option")]

    assert options == ["fits or not", "fits any device (2)", "1g.10gb (1)"]


def test_pool_list_filters_in_force_are_chips_that_can_be_dropped(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    page = visit("/pools/?driver=gpu.example.com&q=node:node-1&sort=name")

    chips = {chip.text: chip.attributes["href"] for chip in page.all("a", class_="chip")}
    assert chips == {
        "Drivergpu.example.com": "/pools/?q=node:node-1&sort=name",
        "nodenode-1": "/pools/?driver=gpu.example.com&sort=name",
    }


def test_pool_list_refuses_what_it_does_not_understand(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    page = visit("/pools/?sort=colour&cursor=nonsense&complete=perhaps&cluster=prod")

    assert refusals(page) == [
        "complete: Write true, false or any, not “perhaps”.",
        "sort: Write one of problems, name, driver, node, available, allocated, total, or the same after a minus.",
    ]
    assert_no_rows_and_no_zero(page)
    assert page.one("div", class_="empty-state").links() == {
        "Drop all filters": "/pools/?cluster=prod"
    }


def test_pool_list_with_a_cursor_of_another_list_shows_the_first_page(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    page = visit("/pools/?cursor=nonsense")

    assert refusals(page) == [
        "That page of the list is not there any more. This is the first one."
    ]
    assert names(page) == ["node-1"]


TERMS = "cluster:, driver:, fits:, problem:, complete:, pool:, node:, vanished:, include_vanished:"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("q=foo:bar", f"There is no filter “foo:”. There are: {TERMS}."),
        (
            "q=memory>=40Gi",
            f"“memory>=40Gi” compares something, and nothing of this list can be compared. Filters: {TERMS}.",
        ),
        ("q=cluster:typo", "cluster: There is no cluster “typo”; there are: one, two."),
        (
            "problem=incomplete_pol",
            f"problem: “incomplete_pol” is none of the {len(CODES) + 3} values there are; near it are incomplete_pool.",
        ),
        ("fits=9g.90gb", "fits: “9g.90gb” is not one of device, 1g.10gb, 3g.40gb."),
        (
            "problem=nosuch",
            f"problem: “nosuch” is none of the {len(CODES) + 3} values there are, such as any, serious, none.",
        ),
        (
            "colour=red",
            "colour: There is no such filter here; there are: cluster, driver, fits, problem, complete, pool, node, vanished, include_vanished, q.",
        ),
    ],
)
def test_pool_list_says_beside_the_box_what_is_allowed(
    visit: Visit, fragment: Visit, query: str, message: str
) -> None:
    api_rows.pool(api_rows.cluster("one"), "node-1", partitions=MIG)
    api_rows.cluster("two")

    page, part = visit(f"/pools/?{query}"), fragment(f"/pools/?{query}")

    assert refusals(page) == refusals(part) == [message]
    assert_no_rows_and_no_zero(page)


def test_pool_list_refused_does_not_carry_what_is_unknown_into_the_form(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster())

    page = visit("/pools/?colour=red&sort=shade&vanished=true")

    hidden = page.one("form", class_="list-filters").all("input", type="hidden")
    assert [(each.attributes["name"], each.attributes["value"]) for each in hidden] == [
        ("vanished", "true")
    ]


def test_pool_list_pages_by_cursor(visit: Visit) -> None:
    cluster = api_rows.cluster()
    for_each(range(51), lambda number: api_rows.pool(cluster, f"node-{number:02}"))

    first = visit("/pools/?driver=gpu.example.com")
    second = visit(first.one("a", rel="next").attributes["href"])
    back = visit(second.one("a", rel="prev").attributes["href"])

    assert (len(first.rows()), names(second), names(back)) == (50, ["node-50"], names(first))
    assert second.one("p", class_="list-count").text == "1 of 51 that match, of 51 pools"


def test_pool_list_exports_the_present_view(visit: Visit, viewer: Client) -> None:
    cluster = api_rows.cluster("prod", context="prod admin")
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2")

    page = visit("/pools/?driver=gpu.example.com&node=node-2&sort=-name&cursor=")
    links = page.one("p", class_="exports").links()
    command = page.one("p", class_="exports").one("button").attributes["data-copy"]

    answers = {name: viewer.get(url) for name, url in links.items()}
    assert [row["pool"] for row in answers["JSON"].json()["results"]] == ["node-2"]
    lines = b"".join(answers["CSV"]).decode().splitlines()
    assert (len(lines), lines[1].split(",")[3]) == (2, "node-2")
    assert command == (
        "kubectl --context 'prod admin' get resourceslices"
        " --field-selector spec.driver=gpu.example.com,spec.nodeName=node-2"
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_pool_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, django_assert_num_queries: Any, rows: int
) -> None:
    cluster = api_rows.cluster()
    for_each(range(rows), lambda number: api_rows.unknown_pool(cluster, f"node-{number}"))

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, page 1, facets 4, figures 1.
    with django_assert_num_queries(11):
        page = visit("/pools/")

    assert len(page.rows()) == rows


def test_pool_list_vanished_pools_are_shown_when_asked_for(visit: Visit) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "here")
    api_rows.pool(cluster, "gone", vanished_at=api_rows.NOON)

    assert names(visit("/pools/")) == ["here"]
    assert names(visit("/pools/?vanished=true")) == ["gone vanished"]


def test_pool_list_old_generations_are_worth_a_word(visit: Visit) -> None:
    problem = {"code": "older_generation_published", "parameters": {"generations": [2]}}
    api_rows.pool(
        api_rows.cluster(),
        "node-1",
        problems=[problem],
        problem_codes=["older_generation_published"],
        severity=1,
    )

    assert visit("/pools/").rows()[0]["Problems"] == (
        "slices of older generations (2) are still published; they are ignored generation 3"
    )


@pytest.mark.parametrize(
    ("state", "title"),
    [
        ("waiting", "The pools have not been read yet."),
        ("reading", "The pools have not been read yet."),
        ("forbidden", "We may not read pools."),
        ("not_served", "This cluster does not serve the API for pools."),
        ("watching", "No driver publishes anything."),
        ("failing", "The pools cannot be read."),
    ],
)
def test_pool_list_empty_says_why(visit: Visit, state: str, title: str) -> None:
    cluster = api_rows.cluster()
    cluster.kinds.filter(kind="ResourceSlice").update(state=state)

    page = visit("/pools/")

    assert page.one("p", class_="empty-title").text == title


def test_pool_list_without_a_cluster_says_what_to_do(visit: Visit) -> None:
    empty = visit("/pools/").one("div", class_="empty-state")

    assert empty.one("p", class_="empty-title").text == "No cluster is watched."


def test_pool_list_of_clusters_in_different_states_speaks_for_the_one_that_was_read(
    visit: Visit,
) -> None:
    api_rows.cluster("a").kinds.update(state="forbidden")
    api_rows.cluster("b")

    assert visit("/pools/").one("p", class_="empty-title").text == "No driver publishes anything."


def test_pool_list_without_a_match_offers_to_drop_the_filters(visit: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    empty = visit("/pools/?q=absent&cluster=prod").one("div", class_="empty-state")

    assert [line.text for line in empty.all("p")] == [
        "No pools match these filters.",
        "Without any filter there is 1.",
        "Drop “absent”",
    ]
    assert empty.links() == {"Drop “absent”": "/pools/?cluster=prod"}


def test_pool_list_forbidden_shows_the_line_that_grants_it(visit: Visit) -> None:
    api_rows.cluster().kinds.filter(kind="ResourceSlice").update(state="forbidden")

    command = visit("/pools/").one("span", class_="command").one("code").text

    assert command == (
        "kubectl create clusterrole dradash-resourceslices --verb=list,watch"
        " --resource=resourceslices.resource.k8s.io && kubectl create clusterrolebinding dradash-resourceslices"
        " --clusterrole=dradash-resourceslices --serviceaccount=dradash:dradash"
    )


def test_pool_list_fragment_is_the_part_of_the_page(visit: Visit, fragment: Visit) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    page, part = visit("/pools/"), fragment("/pools/")

    assert part.one(id="pool-list").rows() == page.one(id="pool-list").rows()
    assert (part.all("h2"), len(part.all("form"))) == ([], 0)
    assert part.one(id="list-answer").attributes["hx-swap-oob"] == "true"
    assert part.answer == page.answer


def test_pool_list_live_part_is_not_sent_again_until_something_changed(ask: Ask) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    first = ask("/pools/")

    same = ask("/pools/", **{"If-None-Match": first["ETag"]})
    compressed = ask("/pools/", **{"If-None-Match": f"W/{first['ETag']}"})
    raise_revisions([cluster.pk], [POOLS])
    changed = ask("/pools/", **{"If-None-Match": first["ETag"]})

    statuses = [answer.status_code for answer in (first, same, compressed, changed)]
    assert statuses == [200, 304, 304, 200]
    assert changed["ETag"] != first["ETag"]


def test_pool_list_history_restore_gets_the_whole_page(ask: Ask) -> None:
    api_rows.pool(api_rows.cluster(), "node-1")

    answer = ask("/pools/", **{"HX-History-Restore-Request": "true"})

    assert main(answer).one("h1").text == "Pools"
    assert "HX-Request" in answer["Vary"]


def test_pool_list_anonymous_is_asked_to_sign_in(client: Client, plain_static: None) -> None:
    answer = client.get("/pools/?q=x")

    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/accounts/login/?next={quote('/pools/?q=x')}",
    )


# What the templates of a row are made of.
TAGS = {"th", "td", "div", "span", "a", "svg", "title", "rect", "use"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "{{ 7|add:7 }}{% load i18n %}",
    "\u202eevil\u2066",
    "n" * 253,
    "a/b.c?d=e&f=g#h",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_pool_list_hostile_names_are_text_and_nothing_else(visit: Visit, text: str) -> None:
    problem = {"code": "x", "parameters": {"said_before": text}}
    pool = api_rows.pool(
        api_rows.cluster(text),
        text,
        driver=text,
        node_name=text,
        problems=[problem],
        partitions=[{"attribute": text, "type": text, "total": 1, "allocatable": 1}],
    )

    page = visit(f"/pools/?q={quote(text)}")
    row = visit("/pools/").one("tbody").one("tr")

    # Scripts of the page are in its head; nothing in the list but what the templates have.
    assert {element.tag for element in row.all()} <= TAGS
    assert row.one("a", href=f"/pools/{pool.id}/").attributes["title"] == text
    driver = next(link for link in row.all("a") if "driver=" in link.attributes["href"])
    assert driver.attributes["href"] == f"/pools/?driver={quote(text, safe='')}"
    assert page.one("input", type="search").attributes["value"] == text


def test_pool_list_claims_unread_says_unknown_and_not_zero(visit: Visit) -> None:
    api_rows.pool(
        api_rows.cluster(),
        "node-1",
        devices_allocated=None,
        devices_partly_used=None,
        devices_unavailable=None,
        devices_blocked=None,
        devices_available=None,
    )

    assert visit("/pools/").answer == (
        "How many of 4 devices are free is unknown, since claims or taint rules were not read."
    )


@pytest.mark.parametrize(
    "path", ["/pools/", "/devices/", "/resource-slices/", "/pool-status-requests/", "/"]
)
@pytest.mark.parametrize("query", ["cluster=typo", "cluster=typo&driver=gpu.example.com"])
def test_page_of_a_cluster_that_is_not_there_says_so_and_shows_nothing(
    viewer: Client, path: str, query: str
) -> None:
    pool = api_rows.pool(api_rows.cluster("one"), "node-1")
    api_rows.device(pool, "gpu-0")

    page = main(viewer.get(f"{path}?{query}"))

    empty = page.one("div", class_="empty-state")
    assert empty.text == "There is no such cluster. There are: one."
    assert "node-1" not in page.text
    assert "free" not in page.one("div", class_="answer").text


@pytest.mark.parametrize(
    "path", ["/pools/", "/devices/", "/resource-slices/", "/pool-status-requests/"]
)
def test_list_with_nul_in_a_filter_shows_no_row_and_says_why(viewer: Client, path: str) -> None:
    pool = api_rows.pool(api_rows.cluster("one"), "node-1")
    api_rows.device(pool, "gpu-0")

    page = main(viewer.get(f"{path}?driver=%00"))

    assert page.all("tbody") == []
    assert "driver: Nothing holds the character NUL (%00), so this matches nothing." in page.text
    assert page.one("div", class_="empty-state").attributes["data-reason"] == "refused"


@pytest.mark.parametrize(
    "path", ["/pools/", "/devices/", "/resource-slices/", "/pool-status-requests/"]
)
@pytest.mark.parametrize("query", ["q=foo:bar", "colour=red", "sort=colour", "driver=%00"])
def test_list_refused_takes_no_query_for_rows(
    viewer: Client, django_assert_num_queries: Any, path: str, query: str
) -> None:
    api_rows.cluster("one")

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3.
    with django_assert_num_queries(9):
        page = main(viewer.get(f"{path}?{query}"))

    assert page.one("div", class_="empty-state").attributes["data-reason"] == "refused"


@pytest.mark.parametrize("path", ["/pools/", "/devices/", "/", "/clusters/status/"])
def test_page_with_nul_as_its_cluster_is_answered(viewer: Client, path: str) -> None:
    api_rows.pool(api_rows.cluster("one"), "node-1")

    assert (
        "There is no cluster called \ufffd." in viewer.get(f"{path}?cluster=%00").content.decode()
    )


SOURCE = (
    "computed from ResourceSlices at 81273, ResourceClaims at 81273, DeviceTaintRules at 81273"
)


@pytest.mark.parametrize(
    ("synced_at", "said"),
    [
        (NOON, "as of 1 Mar 2026 12:00:00 UTC"),
        (NOON - timedelta(hours=2), "as of 1 Mar 2026 10:00:00 UTC, 2 h ago: stale"),
        (None, "not all of it has been read yet"),
    ],
)
def test_pool_list_says_of_each_figure_where_it_is_from_and_how_old(
    visit: Visit, synced_at: datetime | None, said: str
) -> None:
    api_rows.pool(api_rows.cluster(synced_at=synced_at))

    (cell,) = visit("/pools/").one("tbody").all("td", data_label="Free")

    assert cell.attributes["title"] == f"{SOURCE}; {said}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("selector", "by selector zone in (a, b)"),
        ("mixed", "mixed zone in (a, b)"),
        ("all", "all nodes"),
        ("per_device", "per device"),
        ("none", "not said"),
    ],
)
def test_pool_list_says_where_a_pool_can_be_used(visit: Visit, kind: str, words: str) -> None:
    api_rows.pool(
        api_rows.cluster(), node_name=None, node_kind=kind, node_selection="zone in (a, b)"
    )

    assert visit("/pools/").rows()[0]["Node"] == words
