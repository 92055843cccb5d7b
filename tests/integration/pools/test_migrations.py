from __future__ import annotations

from typing import TYPE_CHECKING

from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from tests.integration.conftest import Migrate

SENTENCE = {"code": "no_devices", "message": "It has none.", "severity": "info"}
KEPT = {"code": "no_devices", "parameters": {"said_before": "It has none."}}
OF_POOL = {"driver": "gpu.example.com", "pool_name": "node-1"}


def test_sentences_that_were_stored_are_kept_and_pools_derived_anew(migrate: Migrate) -> None:
    before = migrate("pools", "0005_nodes_and_classes")
    cluster = before.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    of_cluster = {"cluster_id": cluster.pk}
    before.get_model("pools", "ResourceSlice").objects.create(
        **of_cluster, **OF_POOL, object_id=1, name="a", problems=[SENTENCE], changed_at=NOON
    )
    asked = before.get_model("pools", "PoolStatusRequest").objects.create(
        **of_cluster,
        driver="d",
        created_at=NOON,
        blocked_by=[{"driver": "d", "pool": "p", "reason": "generation 0"}],
    )
    before.get_model("pools", "PoolStatusAnswer").objects.create(
        **of_cluster,
        **OF_POOL,
        request_id=asked.pk,
        observed_at=NOON,
        server={},
        ours={"pool": "node-1", "problems": [SENTENCE]},
        differences=[{"field": "total", "ours": 1, "server": 2, "reason": "twice"}],
    )

    after = migrate("pools", "0006_problems_as_codes")

    assert after.get_model("pools", "ResourceSlice").objects.get().problems == [KEPT]
    answer = after.get_model("pools", "PoolStatusAnswer").objects.get()
    assert answer.ours == {"pool": "node-1", "problems": [KEPT]}
    assert answer.differences == [
        {"field": "total", "ours": 1, "server": 2, "reasons": [], "said_before": "twice"}
    ]
    assert after.get_model("pools", "PoolStatusRequest").objects.get().blocked_by == [
        {
            "driver": "d",
            "pool": "p",
            "code": "said_before",
            "parameters": {"said_before": "generation 0"},
        }
    ]
    assert list(after.get_model("pools", "DirtyPool").objects.values_list("driver", "name")) == [
        ("gpu.example.com", "node-1")
    ]


def test_what_was_said_of_a_request_is_kept(migrate: Migrate) -> None:
    before = migrate("pools", "0009_orders_of_one_direction")
    cluster = before.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    requests = before.get_model("pools", "PoolStatusRequest").objects
    requests.create(cluster_id=cluster.pk, name="a", driver="d", created_at=NOON, message="No.")
    requests.create(cluster_id=cluster.pk, name="b", driver="d", created_at=NOON)

    after = migrate("pools", "0010_request_notes_as_codes")

    found = after.get_model("pools", "PoolStatusRequest").objects.order_by("name")
    assert [row.notes for row in found] == [
        [{"code": "said_before", "parameters": {"said_before": "No."}}],
        [],
    ]


def test_pools_of_mixed_nodes_are_derived_anew_without_words(migrate: Migrate) -> None:
    before = migrate("pools", "0018_past_of_replaced_clusters")
    cluster = before.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    fields = {
        "cluster_id": cluster.pk,
        "driver": "d",
        "is_complete": True,
        "is_valid": True,
        "slices_seen": 2,
        "devices_seen": 2,
        "first_seen_at": NOON,
        "since": NOON,
    }
    pools = before.get_model("pools", "Pool").objects
    pools.create(**fields, name="a", node_kind="mixed", node_selection="all nodes, n1")
    pools.create(**fields, name="b", node_kind="node", node_name="n1")
    pools.create(**fields, name="c", node_kind="mixed", vanished_at=NOON)

    after = migrate("pools", "0019_terms_of_mixed_nodes")

    assert list(after.get_model("pools", "DirtyPool").objects.values_list("driver", "name")) == [
        ("d", "a")
    ]
