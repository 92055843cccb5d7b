"""Nodes, and the pools that are bound to one."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from dra.shapes.lists import Page
from dra.shapes.members import ClusterId, ClusterName, Driver, Id, Moment, PoolName, Url
from dra.shapes.parts import DeviceCounts, Problems


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


class Node(Struct, frozen=True, kw_only=True):
    """A node, as far as devices are concerned."""

    id: Id
    url: Url
    cluster: ClusterName
    cluster_id: ClusterId
    name: Annotated[str, Meta(description="Name of the node.", examples=["node-7"])]
    uid: Annotated[
        str,
        Meta(
            description="Uid in Kubernetes; another one when it was made anew.",
            examples=["7e0c2f0a-3c0e-4ab7-9f53-4d9b7d5b4b1c"],
        ),
    ]
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
    created_at: Annotated[
        Moment | None, Meta(description="When the cluster made it; null when it does not say.")
    ]
    problems: Problems
    changed_at: Annotated[Moment, Meta(description="When its latest change was seen.")]
    vanished_at: Annotated[
        Moment | None, Meta(description="When it was missed; null while it is in the cluster.")
    ]
    observed_at: Annotated[
        Moment | None,
        Meta(
            description="The latest moment for which the cluster's nodes were known; null: never yet.",
            examples=["2026-03-01T12:00:00Z"],
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
