"""Reads of nodes, and of what stands on them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from pools.choices import COUNTS
from pools.models import Allocation, Node, Pool
from pools.queries.conditions import any_of, places
from ui.snapshot import Snapshot

NODE_ORDER = ("name", "id")


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes; what is empty or None does not restrict."""

    clusters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    # With a pool of one of these.
    drivers: tuple[str, ...] = ()
    # "ready", "not_ready", "unknown".
    readiness: tuple[str, ...] = ()
    is_unschedulable: bool | None = None
    # "key=value", or a key alone; all of them must be there.
    labels: tuple[tuple[str, ...], ...] = ()
    text: str = ""


def nodes(snapshot: Snapshot, wanted: NodeFilter) -> QuerySet[Node]:
    """The nodes that are there and match."""
    condition = places(wanted.clusters, (), ()) & Q(vanished_at__isnull=True)
    if wanted.names:
        condition &= Q(name__in=wanted.names)
    if wanted.readiness:
        known = {"ready": Q(is_ready=True), "not_ready": Q(is_ready=False)}
        condition &= any_of([known.get(word, Q(is_ready=None)) for word in wanted.readiness])
    if wanted.is_unschedulable is not None:
        condition &= Q(is_unschedulable=wanted.is_unschedulable)
    for (label,) in wanted.labels:
        key, is_pair, value = label.partition("=")
        condition &= Q(labels__contains={key: value}) if is_pair else Q(labels__has_key=key)
    if wanted.text:
        condition &= Q(name__icontains=wanted.text)
    if wanted.drivers:
        there = Pool.objects.filter(
            cluster_id=OuterRef("cluster_id"),
            node_name=OuterRef("name"),
            vanished_at__isnull=True,
            driver__in=wanted.drivers,
        )
        condition &= Q(Exists(there))
    return Node.objects.filter(condition)


def readiness_counts(snapshot: Snapshot, listed: QuerySet[Node]) -> dict[str, int]:
    """How many of these nodes are ready, not ready, or unknown; in this order, without those of which there is none."""
    counted = dict(listed.order_by().values_list("is_ready").annotate(n=Count("id")))
    words = (("ready", True), ("not_ready", False), ("unknown", None))
    return {word: counted[is_ready] for word, is_ready in words if is_ready in counted}


def nodes_not_ready(snapshot: Snapshot, cluster_id: int) -> Sequence[str]:
    """Names of the nodes whose kubelet says that they are not ready."""
    not_ready = Node.objects.filter(
        cluster_id=cluster_id, vanished_at__isnull=True, is_ready=False
    )
    return list(not_ready.order_by("name").values_list("name", flat=True))


def pools_of_node(snapshot: Snapshot, row: Node) -> list[Pool]:
    """The pools whose devices can be used on this node and nowhere else."""
    return list(_pools_bound_to([row]))


def figures_of_nodes(snapshot: Snapshot, rows: Sequence[Node]) -> Mapping[int, Sequence[Any]]:
    """By id of a node, `driver` and figures of the pools whose devices can be used there and nowhere else; one query.

    A list shows no more of them, and whole pools would cost more than all else of its page.
    """
    ids = {(row.cluster_id, row.name): row.id for row in rows}
    names = ("cluster_id", "node_name", "driver", *(f"devices_{name}" for name in COUNTS))
    figures: dict[int, list[Any]] = defaultdict(list)
    for pool in _pools_bound_to(rows).values_list(*names, named=True):
        key = (pool.cluster_id, pool.node_name)
        if key in ids:
            figures[ids[key]].append(pool)
    return figures


def _pools_bound_to(rows: Sequence[Node]) -> QuerySet[Pool]:
    """Of several clusters, also those of a node that has the name of one of these."""
    return Pool.objects.filter(
        cluster_id__in={row.cluster_id for row in rows},
        node_name__in=[row.name for row in rows],
        vanished_at__isnull=True,
    ).order_by("driver", "name")


def allocations_of(snapshot: Snapshot, pools: Sequence[Pool]) -> QuerySet[Allocation]:
    """Who holds what of these pools, which are of one cluster."""
    if not pools:
        return Allocation.objects.none()
    where = any_of([Q(driver=pool.driver, pool_name=pool.name) for pool in pools])
    allocations = Allocation.objects.filter(where, cluster_id=pools[0].cluster_id)
    return allocations.order_by(
        "claim_namespace", "claim_name", "driver", "pool_name", "device", "id"
    )
