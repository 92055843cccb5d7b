from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.series import for_each

if TYPE_CHECKING:
    from clusters.models import Cluster
    from tests.integration.conftest import Ask, Visit


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = api_rows.cluster()
    made.kinds.create(kind="Node", state="watching", last_synced_at=NOON, object_count=1)
    return made


def names(page: Any) -> list[str]:
    return [row["Node"] for row in page.rows()] if page.all("tbody") else []


def test_node_list_shows_what_each_offers(visit: Visit, cluster: Cluster) -> None:
    api_rows.node(cluster, "node-1", facts={"kubeletVersion": "v1.37.2"})
    api_rows.node(
        cluster, "node-2", is_ready=False, ready_reason="KubeletNotReady", is_unschedulable=True
    )
    api_rows.node(cluster, "gone", vanished_at=NOON)
    api_rows.pool(cluster, "node-1")
    api_rows.pool(cluster, "other", driver="nic.example.com", node_name="node-1")

    page = visit("/nodes/")

    assert page.rows() == [
        {
            "Node": "node-1",
            "Readiness": "ready",
            "Drivers": "gpu.example.com nic.example.com",
            "Devices": page.rows()[0]["Devices"],
            "Available": "4",
            "Total": "8",
            "Kubelet": "v1.37.2",
            "Changed": "4 s ago",
        },
        {
            "Node": "node-2",
            "Readiness": "not ready cordoned",
            "Drivers": "none",
            "Devices": "none bound to it",
            "Available": "–",
            "Total": "–",
            "Kubelet": "unknown",
            "Changed": "4 s ago",
        },
    ]
    assert page.answer == "2 nodes. 1 is not ready."


def test_node_list_does_not_add_up_what_is_not_known(visit: Visit, cluster: Cluster) -> None:
    api_rows.node(cluster, "node-1")
    api_rows.pool(cluster, "node-1")
    api_rows.pool(
        cluster,
        "b",
        node_name="node-1",
        devices_total=None,
        devices_available=None,
        devices_seen=3,
    )

    (row,) = visit("/nodes/").rows()

    assert (row["Available"], row["Total"]) == ("unknown", "≥7")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("driver=gpu.example.com", ["node-1"]),
        ("driver=absent", []),
        ("ready=not_ready", ["node-2"]),
        ("ready=unknown&ready=ready", ["node-1", "node-3"]),
        ("cordoned=true", ["node-3"]),
        ("label=zone%3Da", ["node-1"]),
        ("label=zone", ["node-1", "node-2"]),
        ("label=zone&label=disk%3Dssd", ["node-2"]),
        ("q=node-2", ["node-2"]),
        ("q=label:zone=b", ["node-2"]),
        ("cluster=prod&q=NODE-3", ["node-3"]),
    ],
)
def test_node_list_takes_filters_from_the_address(
    visit: Visit, cluster: Cluster, query: str, found: list[str]
) -> None:
    api_rows.node(cluster, "node-1", labels={"zone": "a"})
    api_rows.node(cluster, "node-2", labels={"zone": "b", "disk": "ssd"}, is_ready=False)
    api_rows.node(cluster, "node-3", is_ready=None, is_unschedulable=True)
    api_rows.pool(cluster, "node-1")

    assert names(visit(f"/nodes/?{query}")) == found


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("ready=maybe", "ready: “maybe” is not one of ready, not_ready, unknown."),
        ("label==a", "label: Write the name of a label, or name=value, not “=a”."),
    ],
)
def test_node_list_refuses_what_it_does_not_understand(
    visit: Visit, cluster: Cluster, query: str, said: str
) -> None:
    api_rows.node(cluster)

    page = visit(f"/nodes/?{query}")

    assert (said in page.text, page.all("tbody")) == (True, [])


@pytest.mark.parametrize(
    ("state", "reason"),
    [("watching", "none"), ("forbidden", "forbidden"), ("waiting", "not-read")],
)
def test_node_list_that_is_empty_says_why(
    visit: Visit, cluster: Cluster, state: str, reason: str
) -> None:
    cluster.kinds.filter(kind="Node").update(state=state)

    shown = visit("/nodes/").one("div", class_="empty-state")

    assert shown.attributes["data-reason"] == reason


@pytest.mark.parametrize("count", [1, 3])
def test_node_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, cluster: Cluster, django_assert_num_queries: Any, count: int
) -> None:
    names = [f"n-{number}" for number in range(count)]
    for_each(names, lambda name: api_rows.node(cluster, name))
    for_each(names, lambda name: api_rows.pool(cluster, name, node_name=name))

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, counts, nodes and their pools 3.
    with django_assert_num_queries(12):
        page = visit("/nodes/")

    assert len(page.rows()) == count


def test_node_page_shows_what_stands_on_it(visit: Visit, cluster: Cluster) -> None:
    row = api_rows.node(
        cluster,
        labels={"zone": "a"},
        taints=[{"key": "k", "value": "", "effect": "NoExecute", "added_at": None}],
        addresses=[{"type": "InternalIP", "address": "10.1.0.1"}],
        facts={"kubeletVersion": "v1.37.2"},
        created_at=NOON - timedelta(days=3),
    )
    pool = api_rows.pool(cluster)
    api_rows.allocation(api_rows.device(pool), "worker-0")

    page = visit(f"/nodes/{row.id}/")

    assert page.answer == "Ready. 2 of its 4 devices are free."
    assert page.facts() == {
        "Readiness": "ready",
        "Cluster": "prod",
        "In the cluster since": "3 d ago",
        "Latest change": "4 s ago",
        "Kubelet": "v1.37.2",
        "InternalIP": "10.1.0.1",
        "Taints": "k:NoExecute",
        "Labels": "zone=a",
    }
    pools, holders = page.all("section", class_="card")[:2]
    assert [(row["Driver"], row["Pool"], row["Available"]) for row in pools.rows()] == [
        ("gpu.example.com", "node-1", "2")
    ]
    assert holders.rows() == [
        {
            "Device": "gpu-0",
            "Claim": "training/worker-0",
            "Pool": "node-1",
            "Driver": "gpu.example.com",
        }
    ]


@pytest.mark.parametrize(
    ("link", "column", "shown"),
    [
        ("gpu-0", "Device", ["gpu-0"]),
        ("node-1", "Pool", ["node-1"]),
        ("gpu.example.com", "Driver", ["gpu.example.com"]),
    ],
)
def test_node_page_leads_to_what_is_held(
    visit: Visit, cluster: Cluster, link: str, column: str, shown: list[str]
) -> None:
    row = api_rows.node(cluster)
    api_rows.allocation(api_rows.device(api_rows.pool(cluster)), "worker-0")

    page = visit(f"/nodes/{row.id}/")

    address = page.one("section", aria_labelledby="node-holders-title").links()[link]
    assert [line[column] for line in visit(address).rows()] == shown


def test_node_page_says_why_its_devices_cannot_be_counted(visit: Visit, cluster: Cluster) -> None:
    row = api_rows.node(cluster, "node-9")
    pool = api_rows.unknown_pool(cluster, "node-9", node_name="node-9")

    page = visit(f"/nodes/{row.id}/")

    assert page.answer == "Ready. How many of its devices are free is not known."
    assert page.one("section", class_="problems").links() == {
        "gpu.example.com/node-9: 1 of 2 slices of generation 3 are there: the scheduler takes no device from this pool": (
            f"/pools/{pool.id}/"
        )
    }


NEITHER = ("", "?cordoned=true", "?cordoned=false")


def test_node_of_which_it_is_not_known_whether_it_is_cordoned_is_neither(
    visit: Visit, cluster: Cluster
) -> None:
    row = api_rows.node(cluster, is_unschedulable=None)

    listed = [len(visit(f"/nodes/{query}").all("tr")) > 1 for query in NEITHER]

    assert listed == [True, False, False]
    assert "Whether it is cordoned could not be read." in visit(f"/nodes/{row.id}/").answer


def test_node_page_of_a_node_that_is_gone_or_never_was(
    visit: Visit, ask: Ask, cluster: Cluster
) -> None:
    row = api_rows.node(cluster, vanished_at=NOON)

    gone = visit(f"/nodes/{row.id}/")

    assert gone.answer == "No longer in the cluster. This is what was stored."
    assert ask(f"/nodes/{row.id + 1}/").status_code == 404


def test_node_page_live_part_is_new_only_after_a_change(ask: Ask, cluster: Cluster) -> None:
    row = api_rows.node(cluster)
    first = ask(f"/nodes/{row.id}/")

    same = ask(f"/nodes/{row.id}/", **{"If-None-Match": first["ETag"]})
    cluster.revisions.create(subject="Node", number=1)
    changed = ask(f"/nodes/{row.id}/", **{"If-None-Match": first["ETag"]})

    assert [first.status_code, same.status_code, changed.status_code] == [200, 304, 200]


def test_node_list_tells_nodes_of_one_name_apart(visit: Visit, cluster: Cluster) -> None:
    other = api_rows.cluster("test")
    api_rows.node(cluster, "node-1")
    api_rows.node(other, "node-1")
    api_rows.node(other, "node-2")
    api_rows.pool(cluster, "a", node_name="node-1", driver="gpu.example.com")
    api_rows.pool(cluster, "b", node_name="node-2", driver="gpu.example.com")
    api_rows.pool(other, "a", node_name="node-1", driver="nic.example.com")

    page = visit("/nodes/")

    assert [(row["Node"], row["Cluster"], row["Drivers"]) for row in page.rows()] == [
        ("node-1", "prod", "gpu.example.com"),
        ("node-1", "test", "nic.example.com"),
        ("node-2", "test", "none"),
    ]
