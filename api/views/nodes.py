from typing import Any, ClassVar

from msgspec import convert

from api import rows
from api.coverage import Coverage
from api.links import Links
from api.views.details import DetailView
from api.views.listing import ListView
from clusters.choices import POOLS
from dra.shapes import nodes as shapes
from kube.kinds import NODE
from pools.listings.node_list import NODES
from pools.models import Node
from pools.queries.nodes import node, pools_of_node
from ui.snapshot import Snapshot


def members(row: Node, coverage: Coverage, links: Links) -> dict[str, Any]:
    """A row as the members of its shape."""
    fresh = coverage.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "url": links.one("nodes", row.id),
        "cluster": fresh.cluster_name,
        "cluster_id": str(row.cluster_id),
        "name": row.name,
        "uid": row.uid,
        "ready": row.is_ready,
        "ready_reason": row.ready_reason,
        "ready_message": row.ready_message,
        "cordoned": row.is_unschedulable,
        "labels": dict(sorted(row.labels.items())),
        "taints": convert(row.taints, list[shapes.NodeTaint]),
        "addresses": convert(row.addresses, list[shapes.NodeAddress]),
        "node_info": dict(sorted(row.facts.items())),
        "created_at": row.created_at,
        "problems": rows.problems(row.problems),
        "changed_at": row.since,
        "vanished_at": row.vanished_at,
        "observed_at": fresh.read_at.get(NODE.name),
    }


class NodeList(ListView[Node]):
    """All nodes that are in the cluster and match the filters."""

    operation_id = "nodes"
    summary = "List nodes"
    tag = "Nodes"
    listing = NODES
    page = shapes.NodeList

    def shape(self, row: Node, coverage: Coverage, links: Links) -> shapes.Node:
        return shapes.Node(**members(row, coverage, links))


class NodeDetail(DetailView):
    """One node with the pools that are bound to it; also one that is no longer in the cluster."""

    operation_id = "node"
    summary = "Read one node"
    tag = "Nodes"
    subjects = (NODE.name, POOLS)
    answers: ClassVar = {"application/json": shapes.NodeDetail}

    def find(self, snapshot: Snapshot, number: int) -> Node:
        return node(snapshot, number)

    def shape(self, row: Node, coverage: Coverage, links: Links) -> shapes.NodeDetail:
        return shapes.NodeDetail(
            **members(row, coverage, links),
            pools=[
                shapes.PoolOfNode(
                    id=str(pool.id),
                    url=links.pool(pool.id),
                    driver=pool.driver,
                    pool=pool.name,
                    devices=rows.device_counts(pool),
                )
                for pool in pools_of_node(coverage.snapshot, row)
            ],
        )
