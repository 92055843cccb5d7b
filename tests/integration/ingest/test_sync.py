from __future__ import annotations

from collections.abc import Callable

from clusters.models import Cluster, ClusterKind, ClusterNode
from ingest.services import SyncResult
from objects.models import ObjectEvent
from pools.models import Device, Pool
from simulator.cluster import Simulator
from tests.factories import kube

Sync = Callable[[], SyncResult]


def figures(name: str = "node-1") -> tuple[object, ...]:
    pool = Pool.objects.get(name=name)
    return (
        pool.generation,
        pool.is_complete,
        pool.devices_total,
        pool.devices_allocated,
        pool.devices_unavailable,
        pool.devices_available,
    )


def test_sync_first_time_shows_the_whole_cluster(
    simulator: Simulator, cluster: Cluster, sync: Sync
) -> None:
    simulator.put_all(
        [
            kube.resource_slice("slice-a", devices=3),
            kube.resource_claim("claim-a", holds=["gpu-0"]),
            kube.taint_rule("rule-a", selector={"device": "gpu-1"}),
            kube.node("node-1"),
        ]
    )

    sync()

    assert figures() == (1, True, 3, 1, 1, 1)
    assert dict(Device.objects.values_list("name", "state")) == {
        "gpu-0": "allocated",
        "gpu-1": "unavailable",
        "gpu-2": "available",
    }
    assert list(ClusterNode.objects.values_list("name", "is_ready")) == [("node-1", True)]
    assert list(
        ClusterKind.objects.order_by("kind").values_list("kind", "state", "object_count")
    ) == [
        ("DeviceClass", "watching", 0),
        ("DeviceTaintRule", "watching", 1),
        ("Node", "watching", 1),
        ("ResourceClaim", "watching", 1),
        ("ResourceSlice", "watching", 1),
    ]
    assert sorted(ObjectEvent.objects.values_list("op", flat=True)) == ["resync_added"] * 3
