import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from dra.problems import CODES
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.series import for_each

SOURCE = (
    "computed from ResourceSlices at 81273, ResourceClaims at 81273, DeviceTaintRules at 81273"
)
VERSIONS = {"ResourceSlice": "81273", "ResourceClaim": "81273", "DeviceTaintRule": "81273"}
LISTS = (
    "clusters",
    "pools",
    "devices",
    "nodes",
    "device-classes",
    "resource-slices",
    "pool-status-requests",
)
# Sign-in 1, the snapshot 4, clusters 2, gaps 1, page 1, count 1. The list of clusters reads their kinds once more, that of
# slices the ids of their pools.
QUERIES = {"clusters": 11, "resource-slices": 11}


def pool_names(body: Any) -> list[str]:
    return [row["pool"] for row in body["results"]]


def fill(rows: int) -> None:
    for number in range(rows):
        cluster = api_rows.cluster(f"cluster-{number}")
        pool = api_rows.pool(cluster, f"node-{number}")
        api_rows.device(pool)
        api_rows.count_devices(pool)
        api_rows.node(cluster)
        api_rows.device_class(cluster)
        api_rows.resource_slice(pool, object_id=number + 1)
        api_rows.status_request(cluster)
        api_rows.gap(cluster)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", LISTS)
def test_list_whatever_its_length_takes_the_same_queries(
    get: Any, django_assert_num_queries: Any, name: str, rows: int
) -> None:
    fill(rows)

    with django_assert_num_queries(QUERIES.get(name, 10)):
        body = get(f"{name}/")

    assert (body["count"], len(body["results"]), len(body["gaps"])) == (rows, rows, rows)


def test_pool_list_shows_pools_with_problems_first(get: Any) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.unknown_pool(cluster, "node-9")

    assert pool_names(get("pools/")) == ["node-9", "node-1"]


def test_pool_unknown_figures_are_null(get: Any) -> None:
    row = api_rows.unknown_pool(api_rows.cluster(synced_at=None))

    (found,) = get("pools/")["results"]

    assert found == {
        "id": str(row.id),
        "url": f"http://testserver/api/v1/pools/{row.id}/",
        "cluster": "prod",
        "cluster_id": str(row.cluster_id),
        "driver": "gpu.example.com",
        "pool": "node-9",
        "generation": None,
        "complete": False,
        "slices": {"seen": 1, "expected": None},
        "node": None,
        "node_selection": {"kind": "none", "text": ""},
        "devices": {
            "total": None,
            "seen": 4,
            "allocated": None,
            "partly_used": None,
            "unavailable": None,
            "blocked": None,
            "available": None,
            "admin_access": None,
        },
        "partitions": [],
        "capacity": [],
        "problems": [
            {
                "code": "incomplete_pool",
                "message": (
                    "1 of 2 slices of generation 3 are there:"
                    " the scheduler takes no device from this pool"
                ),
                "parameters": {"seen": 1, "expected": 2, "generation": 3, "taking": "nothing"},
            }
        ],
        "vanished_at": None,
        "observed_at": None,
        "source": "computed from ResourceSlices at 81273, ResourceClaims at 81273, "
        "DeviceTaintRules at 81273",
        "resource_versions": VERSIONS,
    }


def three_pools() -> None:
    east, west = api_rows.cluster("east"), api_rows.cluster("west")
    partitions = [{"attribute": "profile", "type": "1g.10gb", "total": 7, "allocatable": 1}]
    api_rows.pool(east, "node-a", driver="nic.example.com")
    api_rows.unknown_pool(east, "node/b.c", node_name="node/b.c")
    api_rows.pool(west, "node-c", partitions=partitions, devices_total=5, devices_available=3)
    api_rows.pool(east, "gone", vanished_at=api_rows.NOON)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"node/b.c", "node-a", "node-c"}),
        ("cluster=west", {"node-c"}),
        ("driver=nic.example.com", {"node-a"}),
        ("driver=nic.example.com&driver=gpu.example.com", {"node/b.c", "node-a", "node-c"}),
        ("node=node/b.c", {"node/b.c"}),
        ("complete=false", {"node/b.c"}),
        ("complete=any&problem=none", {"node-a", "node-c"}),
        ("problem=incomplete_pool", {"node/b.c"}),
        ("fits=1g.10gb", {"node-c"}),
        ("q=node:node-a", {"node-a"}),
        ("q=b.c", {"node/b.c"}),
        ("vanished=true", {"gone"}),
        ("include_vanished=true", {"node/b.c", "node-a", "node-c", "gone"}),
        ("driver=gpu.example.com&pool=node/b.c", {"node/b.c"}),
        ("pool=node", set()),
    ],
)
def test_pool_list_with_a_filter_has_what_matches(get: Any, query: str, names: set[str]) -> None:
    three_pools()

    body = get(f"pools/?{query}")

    assert (set(pool_names(body)), body["count"]) == (names, len(names))


@pytest.mark.parametrize(
    ("ordering", "names"),
    [
        ("name", ["node-a", "node-c", "node/b.c"]),
        ("-name", ["node/b.c", "node-c", "node-a"]),
        ("available", ["node/b.c", "node-a", "node-c"]),
        ("-available", ["node-c", "node-a", "node/b.c"]),
        ("problems", ["node/b.c", "node-c", "node-a"]),
    ],
)
def test_pool_list_is_sorted_by_the_word(get: Any, ordering: str, names: list[str]) -> None:
    three_pools()

    assert pool_names(get(f"pools/?ordering={ordering}")) == names


def test_device_list_filters_by_attribute_and_capacity(get: Any) -> None:
    pool = api_rows.pool(api_rows.cluster())
    row = api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gpu-1", attributes={"model": "T4"}, capacity_numbers={"memory": 2**34})

    body = get("devices/?attribute=model=A100&capacity=memory>=40Gi")

    assert body["results"] == [
        {
            "id": str(row.id),
            "url": f"http://testserver/api/v1/devices/{row.id}/",
            "cluster": "prod",
            "cluster_id": str(pool.cluster_id),
            "driver": "gpu.example.com",
            "pool": "node-1",
            "pool_id": str(pool.id),
            "pool_url": f"http://testserver/api/v1/pools/{pool.id}/",
            "device": "gpu-0",
            "node": "node-1",
            "generation": 3,
            "state": "available",
            "partly_used": False,
            "attributes": {"index": 0, "model": "A100"},
            "capacity": [
                {"name": "memory", "total": "80Gi", "consumed": "0", "available": "80Gi"}
            ],
            "taints": [],
            "problems": [],
            "slice_id": "1",
            "slice_url": "http://testserver/api/v1/resource-slices/1/",
            "vanished_at": None,
            "observed_at": "2026-03-01T12:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("query", "count", "total", "found"),
    [
        ("", 1, 1, {"gpu-0": None}),
        ("?driver=gpu.example.com&pool=node-1&device=gone", 0, 1, {}),
        (
            "?driver=gpu.example.com&pool=node-1&device=gone&include_vanished=true",
            1,
            None,
            {"gone": "2026-03-01T12:00:00Z"},
        ),
        ("?vanished=true&state=available", 1, None, {"gone": "2026-03-01T12:00:00Z"}),
        ("?include_vanished=true", 2, None, {"gone": "2026-03-01T12:00:00Z", "gpu-0": None}),
    ],
)
def test_device_list_has_those_that_vanished_when_asked_for(
    get: Any, query: str, count: int, total: int | None, found: dict[str, str | None]
) -> None:
    pool = api_rows.pool(api_rows.cluster())
    api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gone", vanished_at=api_rows.NOON)
    api_rows.count_devices(pool)

    body = get(f"devices/{query}")

    assert (body["count"], body["total"]) == (count, total)
    assert {row["device"]: row["vanished_at"] for row in body["results"]} == found


def test_list_pages_lead_forward_and_back_with_filters_kept(api: Client) -> None:
    cluster = api_rows.cluster()
    for_each(range(5), lambda number: api_rows.pool(cluster, f"node-{number}"))

    pages = [api.get("/api/v1/pools/?cluster=prod&limit=2&ordering=-name").json()]
    pages.append(api.get(pages[0]["next"]).json())
    pages.append(api.get(pages[1]["next"]).json())
    back = api.get(pages[2]["previous"]).json()

    assert [pool_names(page) for page in pages] == [
        ["node-4", "node-3"],
        ["node-2", "node-1"],
        ["node-0"],
    ]
    assert (pages[0]["previous"], pages[2]["next"]) == (None, None)
    assert back["results"] == pages[1]["results"]


# By parameter, what a refusal names where its values are known.
CLOSED_SETS = {"fits": {"allowed": ["device", "1g.10gb", "3g.40gb"]}}


@pytest.mark.parametrize(
    ("path", "parameter", "message"),
    [
        ("pools/?limit=0", "limit", "Write a number from 1 to 1000."),
        ("pools/?limit=ten", "limit", "Write a number from 1 to 1000."),
        ("pools/?limit=1&limit=2", "limit", "Give this parameter once."),
        (
            "devices/?ordering=size",
            "ordering",
            "Write one of name, node, state, or the same after a minus.",
        ),
        (
            "pools/?cursor=nonsense",
            "cursor",
            "Take it from `next` or `previous` of an answer to this list, with its filters and order.",
        ),
        ("pools/?complete=perhaps", "complete", "Write true or false, not “perhaps”."),
        ("pools/?complete=1", "complete", "Write true or false, not “1”."),
        ("pools/?driver=", "driver", "Give it a value, or leave the parameter out."),
        (
            "pools/?ordering=name&sort=name",
            "sort",
            "This is another word for `ordering`; give one of them.",
        ),
        ("pools/?format=xml", "format", "“xml” is not one of json, csv."),
        ("pools/?fits=9g.90gb", "fits", "“9g.90gb” is not one of device, 1g.10gb, 3g.40gb."),
        (
            "resource-slices/?q=foo:bar",
            "q",
            "There is no filter “foo:”. There are: cluster:, driver:, pool:, name:, node:.",
        ),
    ],
)
def test_list_with_an_invalid_value_says_what_to_write(
    refused: Any, path: str, parameter: str, message: str
) -> None:
    types = [
        {"attribute": "type", "type": each, "total": 1, "allocatable": n}
        for n, each in enumerate(("3g.40gb", "1g.10gb"))
    ]
    api_rows.pool(api_rows.cluster(), partitions=types)

    assert refused(path) == (
        400,
        {
            "type": "about:blank",
            "title": "Bad Request",
            "status": 400,
            "code": "invalid_parameters",
            "detail": f"{parameter}: {message}",
            "instance": f"/api/v1/{path.partition('?')[0]}",
            "errors": [
                {"parameter": parameter, "message": message, **CLOSED_SETS.get(parameter, {})}
            ],
        },
    )


def test_list_with_a_word_of_no_closed_set_names_all_that_there_are(refused: Any) -> None:
    status, problem = refused("pools/?q=problem:nosuch&driver=d")

    assert (status, problem["errors"]) == (
        400,
        [
            {
                "parameter": "problem",
                "message": f"“nosuch” is none of the {3 + len(CODES)} values there are, such as any, serious, none.",
                "allowed": ["any", "serious", "none", *CODES],
            }
        ],
    )


def test_list_with_an_unknown_parameter_names_those_there_are(refused: Any) -> None:
    status, problem = refused("resource-slices/?page=2")

    assert (status, problem["errors"], problem["allowed"]) == (
        400,
        [{"parameter": "page", "message": "There is no such parameter here."}],
        [
            "cluster",
            "driver",
            "pool",
            "name",
            "node",
            "q",
            "ordering",
            "limit",
            "cursor",
            "at",
            "format",
            "sort",
        ],
    )


@pytest.mark.parametrize(
    "other",
    [
        "pools/?limit=1&ordering=-name",
        "pools/?limit=1&ordering=driver",
        "pools/?limit=1&ordering=name&driver=gpu.example.com",
        "pools/?limit=1&ordering=name&q=node",
        "nodes/?limit=1",
        "device-classes/?limit=1",
    ],
)
def test_list_refuses_the_cursor_of_another_list_order_or_filter(
    get: Any, refused: Any, other: str
) -> None:
    cluster = api_rows.cluster()
    for_each(("a", "b"), lambda name: api_rows.pool(cluster, f"node-{name}"))
    for_each(("a", "b"), lambda name: api_rows.node(cluster, f"node-{name}"))
    for_each(("a", "b"), lambda name: api_rows.device_class(cluster, f"class-{name}"))
    next_url = get(other)["next"]

    cursor = next_url.partition("cursor=")[2]
    status, problem = refused(f"pools/?limit=1&ordering=name&cursor={cursor}")

    assert (status, [each["parameter"] for each in problem["errors"]]) == (400, ["cursor"])
    assert len(get(f"{other}&cursor={cursor}")["results"]) == 1


@pytest.mark.parametrize(
    "cursor",
    [
        "W2ZhbHNlLCJhIiwiYiIsImMiLCJkIl0",
        "W2ZhbHNlLDEsIlx1MDAwMCIsImMiLDFd",
        "W2ZhbHNlLEluZmluaXR5LCJiIiwiYyIsMV0",
        "W2ZhbHNlLDEsIlx1ZDgwMCIsImMiLDFd",
        "Wy" * 900,
        "W1tb" * 499,
        "é",
    ],
)
def test_list_with_a_forged_cursor_is_refused(refused: Any, cursor: str) -> None:
    api_rows.pool(api_rows.cluster())

    status, problem = refused(f"pools/?cursor={cursor}")

    assert (status, [each["parameter"] for each in problem["errors"]]) == (400, ["cursor"])


def test_device_list_as_csv_has_no_links(api: Client) -> None:
    response = api.get("/api/v1/devices/?format=csv")

    assert response.getvalue().decode().strip() == (
        "id,cluster,driver,pool,device,node,generation,state,partly_used,attributes,capacity,taints,"
        "problems,vanished_at,observed_at"
    )


def test_pool_list_as_csv_has_every_row_and_no_formula(api: Client) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "=HYPERLINK(1)")
    api_rows.unknown_pool(cluster)

    response = api.get("/api/v1/pools/?ordering=name", headers={"Accept": "text/csv"})

    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert response["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert response["Content-Disposition"].startswith('attachment; filename="pools-20')
    assert [row["pool"] for row in rows] == ["'=HYPERLINK(1)", "node-9"]
    assert {name: rows[1][name] for name in ("devices_total", "devices_seen", "problems")} == {
        "devices_total": "",
        "devices_seen": "4",
        "problems": "incomplete_pool",
    }
    assert list(rows[0]) == [
        "id",
        "cluster",
        "driver",
        "pool",
        "generation",
        "complete",
        "slices_seen",
        "slices_expected",
        "node",
        "node_selection_kind",
        "node_selection_text",
        "devices_total",
        "devices_seen",
        "devices_allocated",
        "devices_partly_used",
        "devices_unavailable",
        "devices_blocked",
        "devices_available",
        "devices_admin_access",
        "partitions",
        "capacity",
        "problems",
        "vanished_at",
        "observed_at",
        "source",
    ]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(("query", "lines"), [("", 4), ("&limit=2", 3)])
def test_list_as_csv_has_all_rows_unless_a_limit_is_given(
    api: Client, name: str, query: str, lines: int
) -> None:
    fill(3)

    response = api.get(f"/api/v1/{name}/?format=csv{query}")

    assert len(response.getvalue().decode().splitlines()) == lines


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("driver=%00", "driver"),
        ("q=a%00%3D1", "q"),
        ("q=%00", "q"),
        ("attribute=a%00=%00x", "attribute"),
        ("cluster=%00", "cluster"),
    ],
)
def test_list_with_nul_in_a_value_is_refused(refused: Any, query: str, parameter: str) -> None:
    status, problem = refused(f"devices/?{query}")

    message = "Nothing holds the character NUL (%00), so this matches nothing."
    assert (status, problem["errors"]) == (400, [{"parameter": parameter, "message": message}])


@pytest.mark.parametrize("name", ["pools", "devices", "resource-slices", "pool-status-requests"])
@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("cluster=typo", "typo"),
        ("cluster=east&cluster=typo", "typo"),
        ("q=cluster:typo", "typo"),
        ("cluster=99999999999999999999", "99999999999999999999"),
        ("cluster=%F0%9D%9F%98", "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ZERO}"),
    ],
)
def test_list_of_a_cluster_that_is_not_there_is_refused_with_those_that_are(
    refused: Any, name: str, query: str, given: str
) -> None:
    api_rows.cluster("west")
    api_rows.cluster("east")

    status, problem = refused(f"{name}/?{query}")

    message = f"There is no cluster “{given}”; there are: east, west."
    assert (status, problem["errors"]) == (400, [{"parameter": "cluster", "message": message}])


@pytest.mark.parametrize(
    "query",
    [
        "q=%22unclosed",
        "attribute=index>=999999999999999999",
        'attribute=a"]%5Cu0000=1',
        "capacity=memory>=-1",
        "capacity=memory=0.0000001",
        'capacity=x"y\u0041>1',
        "driver=" + "d" * 3000,
    ],
)
def test_list_with_an_odd_value_is_answered(get: Any, query: str) -> None:
    api_rows.device(api_rows.pool(api_rows.cluster()))

    assert get(f"devices/?{query}")["count"] in {0, 1}


@pytest.mark.parametrize("query", ["q=>=", "attribute=!=", "q=memory%20>=%2040Gi"])
def test_comparison_without_a_name_is_refused(refused: Any, query: str) -> None:
    status, problem = refused(f"devices/?{query}")

    assert (status, [each["parameter"] for each in problem["errors"]]) == (
        400,
        [query.partition("=")[0]],
    )


def known_as_of(cluster: str, observed_at: str | None, *, is_stale: bool) -> dict[str, Any]:
    return {
        "cluster": cluster,
        "observed_at": observed_at,
        "stale": is_stale,
        "source": SOURCE,
        "resource_versions": VERSIONS,
    }


FRESH = known_as_of("fresh", "2026-03-01T12:00:00Z", is_stale=False)
OLD = known_as_of("old", "2026-03-01T10:00:00Z", is_stale=True)
NEVER = known_as_of("never", None, is_stale=True)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("query", "is_stale", "freshness"),
    [
        ("", True, [FRESH, NEVER, OLD]),
        ("cluster=fresh", False, [FRESH]),
        ("cluster=old", True, [OLD]),
        ("cluster=never", True, [NEVER]),
    ],
)
@pytest.mark.parametrize("name", LISTS[1:])
def test_list_says_which_clusters_are_stale(
    api: Client, name: str, query: str, is_stale: bool, freshness: list[Any]
) -> None:
    rows = [
        api_rows.cluster("old", synced_at=api_rows.NOON - timedelta(hours=2)),
        api_rows.cluster("fresh"),
        api_rows.cluster("never", synced_at=None),
    ]
    ids = {row.name: str(row.pk) for row in rows}

    answer = api.get(f"/api/v1/{name}/?{query}")

    body = answer.json()
    expected = [{**each, "cluster_id": ids[each["cluster"]]} for each in freshness]
    assert (body["stale"], body["freshness"]) == (is_stale, expected)
    assert answer["Dradash-Stale"] == str(is_stale).lower()


@pytest.mark.parametrize(
    ("address", "count"),
    [
        ("pools/", 0),
        ("pools/?cluster=fresh", 0),
        ("pools/?cluster=never", None),
        ("resource-slices/?cluster=never", None),
        # Slices were read, classes were not.
        ("device-classes/", None),
    ],
)
def test_count_is_null_where_nothing_was_read(get: Any, address: str, count: int | None) -> None:
    api_rows.cluster("fresh")
    api_rows.cluster("never", synced_at=None)

    body = get(address)

    assert (body["count"], body["total"], body["results"]) == (count, count, [])


def test_clusters_are_counted_whatever_was_read_of_them(get: Any) -> None:
    api_rows.cluster("never", synced_at=None)

    assert get("clusters/")["count"] == 1


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("hours", "said"), [(0, "false"), (2, "true")])
def test_answer_without_an_envelope_says_in_a_header_whether_it_is_stale(
    api: Client, hours: int, said: str
) -> None:
    cluster = api_rows.cluster(synced_at=api_rows.NOON - timedelta(hours=hours))
    pool = api_rows.pool(cluster)

    paths = ("pools/?format=csv", f"pools/{pool.id}/", f"pools/{pool.id}/history/")
    answers = [api.get(f"/api/v1/{path}") for path in paths]

    assert [answer["Dradash-Stale"] for answer in answers] == [said] * 3
    assert api.get("/api/v1/clusters/").json()["results"][0]["stale"] is (said == "true")


@pytest.mark.parametrize(
    ("name", "link", "member", "expected"),
    [
        ("clusters", "url", "name", "prod"),
        ("pools", "url", "pool", "node-1"),
        ("devices", "url", "device", "gpu-0"),
        ("devices", "pool_url", "pool", "node-1"),
        ("devices", "slice_url", "kind", "ResourceSlice"),
        ("resource-slices", "url", "kind", "ResourceSlice"),
        ("resource-slices", "pool_url", "pool", "node-1"),
        ("pool-status-requests", "url", "name", "dradash-1"),
        ("nodes", "url", "name", "node-1"),
        ("device-classes", "url", "name", "gpu"),
    ],
)
def test_link_of_a_row_leads_to_what_it_names(
    api: Client, get: Any, name: str, link: str, member: str, expected: str
) -> None:
    pool = api_rows.pool(api_rows.cluster())
    api_rows.device(pool)
    api_rows.stored_object(
        api_rows.resource_slice(pool), {"kind": "ResourceSlice", "spec": {"pool": {}}}
    )
    api_rows.status_request(pool.cluster)
    api_rows.node(pool.cluster)
    api_rows.device_class(pool.cluster)
    (row,) = get(f"{name}/")["results"]

    found = api.get(row[link]).json()

    assert found[member] == expected


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("driver=gpu.example.com&pool=node-1&device=gpu-1", ["gpu-1"]),
        ("driver=gpu.example.com&pool=node-2&device=gpu-1", []),
        ("device=gpu", []),
    ],
)
def test_device_is_found_by_its_names_in_kubernetes(
    get: Any, query: str, found: list[str]
) -> None:
    pool = api_rows.pool(api_rows.cluster())
    api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gpu-1")

    assert [row["device"] for row in get(f"devices/?{query}")["results"]] == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("resource-slices/?name=slice-b", ["slice-b"]),
        ("resource-slices/?name=slice", []),
        ("pool-status-requests/?name=dradash-2", ["dradash-2"]),
        ("pool-status-requests/?pool=node-1", ["dradash-2"]),
        ("clusters/?name=prod", ["prod"]),
        ("clusters/?name=pro", []),
    ],
)
def test_object_is_found_by_its_name_in_kubernetes(get: Any, query: str, found: list[str]) -> None:
    pool = api_rows.pool(api_rows.cluster("prod"))
    api_rows.resource_slice(pool, "slice-a", object_id=1)
    api_rows.resource_slice(pool, "slice-b", object_id=2)
    api_rows.status_request(pool.cluster, "dradash-1")
    api_rows.status_request(pool.cluster, "dradash-2", pool_name="node-1")

    assert [row["name"] for row in get(query)["results"]] == found


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        ("", (2, 2)),
        ("?cluster=prod", (2, 2)),
        ("?problem=any", (0, 2)),
        ("?q=node-1", (1, 2)),
        # One that has vanished is not among those that are there.
        ("?vanished=true", (1, None)),
    ],
)
def test_list_counts_what_matches_and_what_there_is(
    api: Client, query: str, counts: tuple[int, int | None]
) -> None:
    cluster = api_rows.cluster()
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "node-2")
    api_rows.pool(cluster, "node-3", vanished_at=NOON)

    found = api.get(f"/api/v1/pools/{query}").json()

    assert (found["count"], found["total"]) == counts
