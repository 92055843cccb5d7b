from typing import Any

import pytest
from django.test import Client

from clusters.models import Cluster
from tests.factories import api_rows
from tests.factories.api_rows import NOON


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = api_rows.cluster()
    made.kinds.create(kind="Node", state="watching", last_synced_at=NOON, object_count=1)
    return made


def csv_of(response: Any) -> list[str]:
    text: str = response.getvalue().decode()
    return text.splitlines()


def test_node_says_what_it_is_and_which_pools_are_bound_to_it(get: Any, cluster: Cluster) -> None:
    row = api_rows.node(
        cluster,
        is_ready=False,
        ready_reason="KubeletNotReady",
        ready_message="no network",
        is_unschedulable=True,
        labels={"zone": "a"},
        taints=[{"key": "k", "value": "", "effect": "NoExecute", "added_at": None}],
        addresses=[{"type": "InternalIP", "address": "10.1.0.1"}],
        facts={"kubeletVersion": "v1.37.2"},
        created_at=NOON,
    )
    pool = api_rows.pool(cluster)

    found = get(f"nodes/{row.id}/")

    (on_it,) = found.pop("pools")
    assert found == {
        "id": str(row.id),
        "url": f"http://testserver/api/v1/nodes/{row.id}/",
        "cluster": "prod",
        "cluster_id": str(cluster.pk),
        "name": "node-1",
        "uid": "uid-node-1",
        "ready": False,
        "ready_reason": "KubeletNotReady",
        "ready_message": "no network",
        "cordoned": True,
        "labels": {"zone": "a"},
        "taints": [{"key": "k", "value": "", "effect": "NoExecute", "added_at": None}],
        "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "node_info": {"kubeletVersion": "v1.37.2"},
        "created_at": "2026-03-01T12:00:00Z",
        "problems": [],
        "changed_at": "2026-03-01T12:00:00Z",
        "vanished_at": None,
        "observed_at": "2026-03-01T12:00:00Z",
    }
    assert (on_it["id"], on_it["driver"], on_it["devices"]["total"]) == (
        str(pool.id),
        "gpu.example.com",
        4,
    )


def test_node_list_has_the_filters_of_the_page(get: Any, cluster: Cluster) -> None:
    api_rows.node(cluster, "node-1", labels={"zone": "a"})
    api_rows.node(cluster, "node-2", is_ready=None)
    api_rows.node(cluster, "gone", vanished_at=NOON)

    every, labelled = get("nodes/"), get("nodes/?label=zone&name=node-1")

    assert [row["name"] for row in every["results"]] == ["node-1", "node-2"]
    assert [row["name"] for row in labelled["results"]] == ["node-1"]
    assert [row["ready"] for row in every["results"]] == [True, None]


def test_node_list_as_csv_has_a_column_for_each_member(api: Client, cluster: Cluster) -> None:
    api_rows.node(cluster, labels={"zone": "a"})

    header, line = csv_of(api.get("/api/v1/nodes/?format=csv"))

    assert header == (
        "id,cluster,name,uid,created_at,changed_at,vanished_at,observed_at,problems,ready,ready_reason,"
        "ready_message,cordoned,labels,taints,addresses,node_info"
    )
    assert line.split(",")[1:4] == ["prod", "node-1", "uid-node-1"]


def test_node_that_never_was_is_not_found(refused: Any, cluster: Cluster) -> None:
    assert refused("nodes/5/")[0] == 404
