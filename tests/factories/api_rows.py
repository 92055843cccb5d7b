"""Rows as one sync leaves them behind, for tests that read."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from zstandard import ZstdCompressor

from clusters.choices import Reach, ReadState, Source
from clusters.models import Cluster, ClusterKind, Gap
from kube.capabilities import Capabilities, ServerVersion
from kube.kinds import RESOURCE_SLICE, served
from objects.models import Body, KubeObject
from pools.models import (
    Allocation,
    Device,
    DeviceClass,
    DeviceUse,
    Node,
    Pool,
    PoolHour,
    PoolSample,
    PoolStatusAnswer,
    PoolStatusRequest,
    PublishedDevice,
    ResourceSlice,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DRIVER = "gpu.example.com"
SLICE_DIGEST = UUID("0b1f0c9e-52a4-4b8e-9d0a-3b1f0c9e8a01")
CLAIM_UID = UUID("7f6d0c1e-52a4-4b8e-9d0a-3b1f0c9e8a77")


def capabilities() -> dict[str, Any]:
    found = Capabilities(
        server_version=ServerVersion(1, 36, "v1.36.2"),
        resources={"ResourceSlice": served(RESOURCE_SLICE, "v1")},
        rights={("ResourceSlice", "list"): True, ("ResourceSlice", "watch"): None},
        gates={"kube-apiserver": {"DRAPartitionableDevices": True}},
    )
    return found.to_json()


def said(text: str) -> dict[str, Any]:
    """What an earlier release stored in words, as any failure or note may be."""
    return {"code": "said_before", "parameters": {"said_before": text}}


def cluster(name: str = "prod", *, synced_at: datetime | None = NOON, **fields: Any) -> Cluster:
    made = Cluster.objects.create(
        name=name,
        **{
            "source": Source.KUBECONFIG,
            "created_at": NOON - timedelta(days=1),
            "reach": Reach.OK,
            **fields,
        },
    )
    for kind in ("ResourceSlice", "ResourceClaim", "DeviceTaintRule"):
        ClusterKind.objects.create(
            cluster=made,
            kind=kind,
            state=ReadState.WATCHING,
            api_version="resource.k8s.io/v1",
            resource_version="81273",
            object_count=2,
            last_synced_at=synced_at,
        )
    return made


def device_class(of: Cluster, name: str = "gpu", **fields: Any) -> DeviceClass:
    return DeviceClass.objects.create(
        cluster=of,
        name=name,
        **{
            "selectors": ["device.driver == 'gpu.example.com'"],
            "object_id": 0,
            "uid": f"uid-{name}",
            "first_seen_at": NOON,
            "since": NOON,
            **fields,
        },
    )


def node(
    of: Cluster, name: str = "node-1", *, is_ready: bool | None = True, **fields: Any
) -> Node:
    return Node.objects.create(
        cluster=of,
        name=name,
        is_ready=is_ready,
        **{
            "object_id": 0,
            "uid": f"uid-{name}",
            "first_seen_at": NOON,
            "since": NOON,
            **fields,
        },
    )


def pool(of: Cluster, name: str = "node-1", **fields: Any) -> Pool:
    return Pool.objects.create(
        cluster=of,
        name=name,
        **{
            "driver": DRIVER,
            "generation": 3,
            "is_complete": True,
            "is_valid": True,
            "slices_seen": 1,
            "slices_expected": 1,
            "node_kind": "node",
            "node_name": name,
            "devices_total": 4,
            "devices_seen": 4,
            "devices_allocated": 1,
            "devices_partly_used": 0,
            "devices_unavailable": 1,
            "devices_blocked": 0,
            "devices_available": 2,
            "devices_admin_access": 0,
            "first_seen_at": NOON,
            "since": NOON,
            **fields,
        },
    )


def unknown_pool(of: Cluster, name: str = "node-9", **fields: Any) -> Pool:
    """One of two slices is there: no figure but `seen` is known."""
    figures = ("total", "allocated", "partly_used", "unavailable", "blocked", "available")
    return pool(
        of,
        name,
        **{
            "generation": None,
            "is_complete": False,
            "slices_expected": None,
            "node_kind": "none",
            "node_name": None,
            "devices_admin_access": None,
            "problems": [
                {
                    "code": "incomplete_pool",
                    "parameters": {
                        "seen": 1,
                        "expected": 2,
                        "generation": 3,
                        "taking": "nothing",
                    },
                }
            ],
            "problem_codes": ["incomplete_pool"],
            "severity": 3,
            **{f"devices_{name}": None for name in figures},
            **fields,
        },
    )


USE: Mapping[str, Any] = {
    "state": "available",
    "is_partly_used": False,
    "capacity": None,
    "taints": None,
    "problems": [],
}


def device(of: Pool, name: str = "gpu-0", **fields: Any) -> Device:
    """A device with its use; fields of either are given by their names, capacity and taints as they are now."""
    use = {key: fields.pop(key, value) for key, value in USE.items()}
    published = PublishedDevice.objects.create(
        cluster_id=of.cluster_id,
        pool_id=of.id,
        driver=of.driver,
        pool_name=of.name,
        name=name,
        **{
            "slice_object_id": 1,
            "node_name": of.node_name,
            "attributes": {"model": "A100", "index": 0},
            "capacity": [
                {"name": "memory", "total": "80Gi", "consumed": "0", "available": "80Gi"}
            ],
            "capacity_numbers": {"memory": 80 * 2**30},
            "since": NOON,
            **fields,
        },
    )
    DeviceUse.objects.create(cluster_id=of.cluster_id, device_id=published.id, since=NOON, **use)
    return Device.known.get(cluster_id=of.cluster_id, id=published.id)


def count_devices(of: Pool) -> None:
    """Figures as its devices have them, as a derivation leaves them."""
    states = Counter(Device.objects.filter(pool_id=of.id).values_list("state", flat=True))
    is_settled = not states["unknown"]
    Pool.objects.filter(id=of.id).update(
        devices_seen=states.total(),
        devices_total=states.total(),
        devices_allocated=states["allocated"],
        devices_unavailable=states["unavailable"] if is_settled else None,
        devices_blocked=states["blocked"] if is_settled else None,
        devices_available=states["available"] if is_settled else None,
    )


def allocation(of: Device, claim: str = "worker-0", **fields: Any) -> Allocation:
    return Allocation.objects.create(
        cluster_id=of.cluster_id,
        driver=of.driver,
        pool_name=of.pool_name,
        device=of.name,
        claim_name=claim,
        **{
            "claim_object_id": 5,
            "claim_namespace": "training",
            "claim_uid": CLAIM_UID,
            "request": "gpu",
            "since": NOON,
            **fields,
        },
    )


def resource_slice(of: Pool, name: str = "slice-a", **fields: Any) -> ResourceSlice:
    return ResourceSlice.objects.create(
        cluster_id=of.cluster_id,
        name=name,
        driver=of.driver,
        pool_name=of.name,
        **{
            "object_id": 1,
            "api_version": "resource.k8s.io/v1",
            "generation": of.generation,
            "resource_slice_count": of.slices_expected,
            "node_kind": of.node_kind,
            "node_name": of.node_name,
            "digest": SLICE_DIGEST,
            "device_count": 4,
            "since": NOON,
            **fields,
        },
    )


def status_request(of: Cluster, name: str = "dradash-1", **fields: Any) -> PoolStatusRequest:
    return PoolStatusRequest.objects.create(
        cluster=of,
        name=name,
        **{
            "driver": DRIVER,
            "outcome": "answered",
            "created_at": NOON,
            "answered_at": NOON + timedelta(seconds=1),
            "is_removed": True,
            "pool_count": 1,
            "pools_answered": 1,
            "pools_differing": 1,
            "answer": {"kind": "ResourcePoolStatusRequest", "status": {"poolCount": 1}},
            **fields,
        },
    )


def status_answer(
    of: PoolStatusRequest, pool_name: str = "node-1", **fields: Any
) -> PoolStatusAnswer:
    return PoolStatusAnswer.objects.create(
        request=of,
        cluster_id=of.cluster_id,
        driver=of.driver,
        pool_name=pool_name,
        observed_at=NOON,
        **{
            "server": {"driver": of.driver, "poolName": pool_name, "availableDevices": 1},
            "ours": None,
            "differences": [
                {
                    "field": "available",
                    "parameters": {},
                    "ours": 2,
                    "server": 1,
                    "reasons": ["server_subtracts_twice"],
                }
            ],
            **fields,
        },
    )


def gap(of: Cluster, **fields: Any) -> Gap:
    return Gap.objects.create(
        cluster=of,
        **{
            "kind": "ResourceSlice",
            "started_at": NOON,
            "reason": "api_unreachable",
            **fields,
        },
    )


def sample(of: Pool, at: datetime, **fields: Any) -> PoolSample:
    """The figures of a pool from a moment on; those of `pool()` unless given."""
    return PoolSample.objects.create(
        cluster_id=of.cluster_id,
        pool_id=of.id,
        at=at,
        **{
            "generation": of.generation,
            "is_complete": of.is_complete,
            "total": of.devices_total,
            "allocated": of.devices_allocated,
            "partly_used": of.devices_partly_used,
            "unavailable": of.devices_unavailable,
            "blocked": of.devices_blocked,
            "available": of.devices_available,
            **fields,
        },
    )


def hour(of: Pool, at: datetime, *, available: float | None) -> PoolHour:
    """An hour of which only the free devices matter."""
    figures = [None, None, None, None, None, available]
    return PoolHour.objects.create(
        cluster_id=of.cluster_id,
        pool_id=of.id,
        hour=at,
        known_seconds=3600,
        least=figures,
        most=figures,
        mean=figures,
    )


def stored_object(of: ResourceSlice, body: dict[str, Any]) -> KubeObject:
    """The object in the log that a slice row was read from."""
    content = json.dumps(body).encode()
    digest = uuid4()
    Body.objects.create(
        cluster_id=of.cluster_id,
        digest=digest,
        content=ZstdCompressor().compress(content),
    )
    return KubeObject.objects.create(
        cluster_id=of.cluster_id,
        id=of.object_id,
        kind="ResourceSlice",
        uid=uuid4(),
        name=of.name,
        api_version=of.api_version,
        resource_version="81273",
        digest=digest,
        generation=of.generation,
        first_seen_at=NOON,
        changed_at=NOON,
    )
