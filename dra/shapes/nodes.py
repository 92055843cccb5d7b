"""Nodes, and the pools that are bound to one."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from dra.shapes.lists import Page
from dra.shapes.members import Driver, Id, PoolName, Url
from dra.shapes.objects import NamedObject
from dra.shapes.parts import DeviceCounts


class NodeTaint(Struct, frozen=True, kw_only=True):
    """A taint of a node."""

    key: Annotated[str, Meta(description="Key.", examples=["node.kubernetes.io/unreachable"])]
    value: Annotated[str, Meta(description="Value; may be empty.", examples=[""])]
    effect: Annotated[
        str, Meta(description="NoSchedule, PreferNoSchedule or NoExecute.", examples=["NoExecute"])
    ]
    added_at: Annotated[
        str | None,
        Meta(description="When, as the node says.", examples=["2026-03-01T12:00:00Z"]),
    ]


class NodeAddress(Struct, frozen=True, kw_only=True):
    """One address of a node."""

    type: Annotated[str, Meta(description="Of which type.", examples=["InternalIP"])]
    address: Annotated[str, Meta(description="The address.", examples=["10.0.0.7"])]


class Node(NamedObject, frozen=True, kw_only=True):
    """A node, as far as devices are concerned."""

    ready: Annotated[
        bool | None,
        Meta(
            description="What its kubelet says; null: nothing, or nothing any more.",
            examples=[True],
        ),
    ]
    ready_reason: Annotated[
        str, Meta(description="Reason of the condition Ready.", examples=["KubeletReady"])
    ]
    ready_message: Annotated[
        str,
        Meta(
            description="Message of the condition Ready.",
            examples=["kubelet is posting ready status"],
        ),
    ]
    cordoned: Annotated[
        bool | None,
        Meta(
            description="Whether it is marked unschedulable; null: that could not be read.",
            examples=[False],
        ),
    ]
    labels: Annotated[
        Mapping[str, str],
        Meta(description="Labels.", examples=[{"topology.kubernetes.io/zone": "a"}]),
    ]
    taints: Annotated[Sequence[NodeTaint], Meta(description="Taints.")]
    addresses: Annotated[Sequence[NodeAddress], Meta(description="Addresses.")]
    node_info: Annotated[
        Mapping[str, str],
        Meta(
            description="What its nodeInfo says of software and hardware.",
            examples=[{"kubeletVersion": "v1.37.2"}],
        ),
    ]


class PoolOfNode(Struct, frozen=True, kw_only=True):
    """A pool whose devices can be used on this node alone."""

    id: Id
    url: Url
    driver: Driver
    pool: PoolName
    devices: DeviceCounts


class NodeDetail(Node, frozen=True, kw_only=True):
    """A node with the pools that are bound to it."""

    pools: Annotated[
        Sequence[PoolOfNode], Meta(description="Pools whose devices can be used there alone.")
    ]


class NodeList(Page[Node], frozen=True, kw_only=True):
    """A page of nodes."""
