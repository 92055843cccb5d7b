"""Objects for the control plane, small enough to read."""

from typing import Any

from tests.cluster.client import Document, Documents

RESOURCE = "resource.k8s.io/v1"


def document(kind: str, name: str, spec: Document, *, api_version: str = RESOURCE) -> Document:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def node(name: str) -> Document:
    room = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    status = {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return document("Node", name, {}, api_version="v1") | {"status": status}


def device_class(driver: str) -> Document:
    """Every device of a driver, under the first part of its name."""
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    return document("DeviceClass", driver.split(".")[0], {"selectors": [selector]})


def device(name: str, **parts: Any) -> Document:
    """A device that a selector can name by its attribute `name`."""
    attributes = {"name": {"string": name}} | parts.pop("attributes", {})
    return {"name": name, "attributes": attributes, **parts}


def resource_slice(
    name: str,
    devices: Documents | None,
    *,
    driver: str,
    pool: str = "node-0",
    node_name: str | None = "node-0",
    generation: int = 1,
    count: int = 1,
    **parts: Any,
) -> Document:
    where = {"allNodes": True} if node_name is None else {"nodeName": node_name}
    content = {} if devices is None else {"devices": devices}
    spec = {
        "driver": driver,
        "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
        **where,
        **content,
        **parts,
    }
    return document("ResourceSlice", name, spec)


def taint(effect: str = "NoSchedule") -> Documents:
    return [{"key": "example.com/broken", "effect": effect}]


def taint_rule(name: str, *, effect: str = "NoSchedule", **selector: str) -> Document:
    spec = {"taint": taint(effect)[0], "deviceSelector": selector}
    return document("DeviceTaintRule", name, spec)


def claim(
    name: str, driver: str, *, device: str = "", namespace: str = "default", **wanted: Any
) -> Document:
    """For one device of a driver, by name if one is given."""
    if device:
        expression = f"device.attributes['{driver}'].name == '{device}'"
        wanted["selectors"] = [{"cel": {"expression": expression}}]
    exactly = {"deviceClassName": driver.split(".")[0], **wanted}
    made = document(
        "ResourceClaim", name, {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    )
    made["metadata"]["namespace"] = namespace
    return made


def pod(name: str, *, namespace: str = "default") -> Document:
    """A pod with the claim of its name."""
    container = {"name": "c", "image": "none", "resources": {"claims": [{"name": "c"}]}}
    spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "tolerations": [{"operator": "Exists"}],
        "resourceClaims": [{"name": "c", "resourceClaimName": name}],
        "containers": [container],
    }
    made = document("Pod", name, spec, api_version="v1")
    made["metadata"]["namespace"] = namespace
    return made


def held_claim(name: str, driver: str, *devices: str, pool: str = "node-0") -> Document:
    """Allocated by hand, where no scheduler runs or none is wanted."""
    results = [{"request": "r", "driver": driver, "pool": pool, "device": d} for d in devices]
    return claim(name, driver, count=len(devices)) | {
        "status": {"allocation": {"devices": {"results": results}}}
    }
