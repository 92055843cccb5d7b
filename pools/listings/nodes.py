"""Nodes: what is shown of each."""

from collections.abc import Sequence
from typing import Any, Final

from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from msgspec import convert

from clusters.choices import POOLS
from dra.shapes import nodes as shapes
from dra.shapes.parts import DeviceCounts
from kube.kinds import NODE
from pools.choices import counts_of
from pools.listings.places import CLUSTER, DRIVER, NAME
from pools.models import Node
from pools.queries.nodes import NODE_ORDER, NodeFilter, nodes, pools_of_node
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Choice, Flag, Match, search_box
from ui.shown_kind import Addresses, ShownKind
from ui.snapshot import Snapshot

READINESS = {"ready": _("ready"), "not_ready": _("not ready"), "unknown": _("unknown")}


def _label(text: str) -> Sequence[str] | str:
    if text.partition("=")[0]:
        return (text,)
    return _now("Write the name of a label, or name=value, not “%(text)s”.") % {"text": text}


_LISTING: Final[Listing[Node, NodeFilter]] = Listing(
    id="node-list",
    title=_("Nodes"),
    noun=_("nodes"),
    subject=NODE.name,
    also_subjects=(POOLS,),
    wanted=NodeFilter,
    parameters=(
        CLUSTER,
        NAME,
        DRIVER,
        Choice(
            name="ready",
            field="readiness",
            label=_("Readiness"),
            meaning=_("What the node's kubelet says; unknown: nothing, or nothing any more."),
            example="not_ready",
            any_label=_("any readiness"),
            choices=READINESS,
        ),
        Flag(
            name="cordoned",
            field="is_unschedulable",
            label=_("Cordoned"),
            meaning=_("Whether it is marked unschedulable."),
            example="true",
            any_label=_("cordoned or not"),
            true_label=_("cordoned"),
            false_label=_("not cordoned"),
        ),
        Match(
            name="label",
            field="labels",
            label=_("label"),
            meaning=_("A label that the node has, by its name, or by name=value."),
            example="topology.kubernetes.io/zone=a",
            parse=_label,
        ),
        search_box(
            meaning=_("Text that the name of a node contains, and terms such as `driver:NAME`."),
            example="driver:gpu.example.com ready:not_ready",
        ),
    ),
    orders={"name": NODE_ORDER},
    default_order="name",
    columns=(
        Column("name", _("Node")),
        Column("cluster", _("Cluster")),
        Column("readiness", _("Readiness")),
        Column("drivers", _("Drivers")),
        Column("devices", _("Devices")),
        Column("available", _("Available"), is_number=True),
        Column("total", _("Total"), is_number=True),
        Column("kubelet", _("Kubelet")),
        Column("changed", _("Changed")),
    ),
    query=nodes,
    shape=shapes.Node,
    api_url="api:nodes",
    rows="pools/nodes.html",
    unshown=("uid", "created_at", "labels", "taints", "addresses", "first_seen_at"),
    placeholder=_("driver:gpu.example.com ready:not_ready"),
)


def _members(row: Node) -> dict[str, Any]:
    return {
        "ready": row.is_ready,
        "ready_reason": row.ready_reason,
        "ready_message": row.ready_message,
        "cordoned": row.is_unschedulable,
        "labels": dict(sorted(row.labels.items())),
        "taints": convert(row.taints, list[shapes.NodeTaint]),
        "addresses": convert(row.addresses, list[shapes.NodeAddress]),
        "node_info": dict(sorted(row.facts.items())),
    }


def _more(snapshot: Snapshot, row: Node, links: Addresses) -> dict[str, Any]:
    pools = [
        shapes.PoolOfNode(
            id=str(pool.id),
            url=links.one("pools", pool.id),
            driver=pool.driver,
            pool=pool.name,
            devices=DeviceCounts(**counts_of(pool)),
        )
        for pool in pools_of_node(snapshot, row)
    ]
    return {"pools": pools}


NODES: Final = ShownKind(
    listing=_LISTING,
    rows=Node.objects,
    path="nodes",
    id="node",
    noun=_("node"),
    plural="Nodes",
    members=_members,
    page=shapes.NodeList,
    detail=shapes.NodeDetail,
    more=_more,
)
