"""Kubernetes objects as drivers and schedulers write them, small enough to read."""

from __future__ import annotations

from typing import Any

DRIVER = "gpu.example.com"


def resource_slice(
    name: str,
    *,
    pool: str = "node-1",
    devices: int | list[dict[str, Any]] = 2,
    generation: int = 1,
    count: int = 1,
    driver: str = DRIVER,
    node: str | None = "node-1",
) -> dict[str, Any]:
    if isinstance(devices, int):
        devices = [{"name": f"gpu-{number}"} for number in range(devices)]
    where = {"allNodes": True} if node is None else {"nodeName": node}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **where,
            "devices": devices,
        },
    }


def resource_claim(
    name: str,
    *,
    holds: list[str] | None = None,
    pool: str = "node-1",
    driver: str = DRIVER,
    namespace: str = "default",
    **result: Any,
) -> dict[str, Any]:
    claim: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}
        },
    }
    if holds is not None:
        results = [
            {"request": "gpu", "driver": driver, "pool": pool, "device": device, **result}
            for device in holds
        ]
        claim["status"] = {"allocation": {"devices": {"results": results}}}
    return claim


def taint_rule(
    name: str, *, effect: str = "NoSchedule", selector: dict[str, str] | None = None
) -> dict[str, Any]:
    spec: dict[str, Any] = {"taint": {"key": "example.com/broken", "effect": effect}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": spec,
    }


def device_class(name: str, *, driver: str = DRIVER) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]},
    }


def node(name: str, *, ready: bool = True) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }
