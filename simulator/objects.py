"""Kubernetes objects of the simulated cluster, as their makers write them."""

import random
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Object = dict[str, Any]

DRA_V1: Final = "resource.k8s.io/v1"
FINALIZER: Final = "resource.kubernetes.io/delete-protection"

_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


def suffix(rng: random.Random, length: int = 5) -> str:
    """What `generateName` adds."""
    return "".join(rng.choices(_SUFFIX_LETTERS, k=length))


def new_uid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def string(value: str) -> Object:
    return {"string": value}


def integer(value: int) -> Object:
    return {"int": value}


YES: Final[Object] = {"bool": True}
NO: Final[Object] = {"bool": False}


def version(value: str) -> Object:
    return {"version": value}


def quantities(amounts: Mapping[str, str]) -> Object:
    """Capacity and counters: each amount under `value`."""
    return {name: {"value": amount} for name, amount in amounts.items()}


def namespace(
    name: str, *, labels: Mapping[str, str] | None = None, uid: str | None = None
) -> Object:
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            **({"uid": uid} if uid else {}),
            "labels": {"kubernetes.io/metadata.name": name, **(labels or {})},
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def node(name: str, *, uid: str, labels: Mapping[str, str], stamp: str) -> Object:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": uid,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                **labels,
            },
        },
        "spec": {},
        "status": {
            "conditions": [ready_condition("True", stamp=stamp)],
            "nodeInfo": {
                "architecture": "amd64",
                "kubeletVersion": "v1.37.2",
                "operatingSystem": "linux",
            },
        },
    }


def ready_condition(status: str, *, stamp: str) -> Object:
    reasons = {
        "True": ("KubeletReady", "kubelet is posting ready status"),
        "Unknown": ("NodeStatusUnknown", "Kubelet stopped posting node status."),
    }
    reason, message = reasons[status]
    return {
        "type": "Ready",
        "status": status,
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def resource_slice(
    name: str,
    *,
    driver: str,
    pool: str,
    generation: int,
    count: int,
    where: Mapping[str, Any],
    owner_uid: str | None = None,
    content: Mapping[str, Any],
) -> Object:
    """`where`: nodeName, nodeSelector or allNodes. A slice of a node is owned by it."""
    metadata: Object = {"name": name}
    if owner_uid is not None:
        metadata["ownerReferences"] = [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "name": where["nodeName"],
                "uid": owner_uid,
                "controller": True,
            }
        ]
    return {
        "kind": "ResourceSlice",
        "apiVersion": DRA_V1,
        "metadata": metadata,
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **where,
            **content,
        },
    }


def device_class(
    name: str, *, expression: str, extended_resource_name: str | None = None
) -> Object:
    spec: Object = {"selectors": [{"cel": {"expression": expression}}]}
    if extended_resource_name is not None:
        spec["extendedResourceName"] = extended_resource_name
    return {
        "kind": "DeviceClass",
        "apiVersion": DRA_V1,
        "metadata": {"name": name},
        "spec": spec,
    }


def taint_rule(
    name: str, *, selector: Mapping[str, str], key: str, value: str, effect: str, stamp: str
) -> Object:
    taint = {"key": key, "value": value, "effect": effect, "timeAdded": stamp}
    return {
        "kind": "DeviceTaintRule",
        "apiVersion": DRA_V1,
        "metadata": {"name": name},
        "spec": {"deviceSelector": dict(selector), "taint": taint},
        "status": {},
    }


def claim(
    *, namespace: str, pod: str, pod_uid: str, name: str, requests: Sequence[Object]
) -> Object:
    """A claim made from a template for one pod, before anything was allocated."""
    base = f"{pod}-{requests[0]['name']}-"
    return {
        "kind": "ResourceClaim",
        "apiVersion": DRA_V1,
        "metadata": {
            "name": name,
            "generateName": base,
            "namespace": namespace,
            "annotations": {"resource.kubernetes.io/pod-claim-name": requests[0]["name"]},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": pod,
                    "uid": pod_uid,
                    "controller": True,
                }
            ],
        },
        "spec": {"devices": {"requests": list(requests)}},
        "status": {},
    }


def exact_request(
    name: str,
    device_class_name: str,
    *,
    count: int = 1,
    capacity: Mapping[str, str] | None = None,
    tolerations: Iterable[Mapping[str, str]] = (),
) -> Object:
    exactly: Object = {
        "deviceClassName": device_class_name,
        "allocationMode": "ExactCount",
        "count": count,
    }
    if tolerations := [dict(toleration) for toleration in tolerations]:
        exactly["tolerations"] = tolerations
    if capacity:
        exactly["capacity"] = {"requests": dict(capacity)}
    return {"name": name, "exactly": exactly}
