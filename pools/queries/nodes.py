"""Reads of nodes."""

from collections.abc import Sequence

from pools.models import Node
from ui.snapshot import Snapshot


def nodes_not_ready(snapshot: Snapshot, cluster_id: int) -> Sequence[str]:
    """Names of the nodes whose kubelet says that they are not ready."""
    found = Node.objects.filter(cluster_id=cluster_id, vanished_at__isnull=True, is_ready=False)
    return list(found.order_by("name").values_list("name", flat=True))
