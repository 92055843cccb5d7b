from collections.abc import Sequence

from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from clusters.choices import POOLS
from dra.shapes import nodes as shapes
from kube.kinds import NODE
from pools.listings.places import CLUSTER, DRIVER, NAME
from pools.models import Node
from pools.queries.nodes import NODE_ORDER, NodeFilter, nodes
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Choice, Flag, Match, search_box

READINESS = {"ready": _("ready"), "not_ready": _("not ready"), "unknown": _("unknown")}


def _label(text: str) -> Sequence[str] | str:
    if text.partition("=")[0]:
        return (text,)
    return _now("Write the name of a label, or name=value, not “%(text)s”.") % {"text": text}


NODES: Listing[Node, NodeFilter] = Listing(
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
