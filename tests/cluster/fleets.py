"""Random small fleets, and what the real scheduler gives out of them.

For each published device, one after the other, a claim for that device alone and a pod are made
and taken away again. So the scheduler itself says which devices are free; nothing of the
product's arithmetic is used.
"""

import argparse
import json
import sys
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.cluster.client import Document, Documents
from tests.cluster.controlplane import ControlPlane

PLAIN, PARTITIONED, SHARED = (
    "plain.example.com",
    "part.example.com",
    "share.example.com",
)
# Has a value of its own on every device, so that a selector can name one device and no other.
UNIQUE = "uniq"
_STORED_KINDS = (
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "ResourceClaim",
    "DeviceTaintRule",
    "Pod",
)
# Longer than any informer was seen to lag behind a write.
_SETTLE_SECONDS = 0.4


@dataclass(frozen=True)
class Fleet:
    """What one seed gives: objects to create, and requests for devices that are to be in use."""

    seed: int
    nodes: tuple[str, ...]
    slice_specs: tuple[Document, ...]
    rule_specs: tuple[Document, ...]
    holders: tuple[Document, ...]
    """The `exactly` part of one claim each, for one pod each."""


@dataclass(frozen=True)
class Trial:
    """One device asked for alone. `refusal` is the scheduler's message; None: placed."""

    driver: str
    pool: str
    device: str
    generation: int
    refusal: str | None

    @property
    def is_placed(self) -> bool:
        return self.refusal is None


@dataclass
class _FleetMaker:
    random: Random
    slice_specs: Documents = field(default_factory=list)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def device(self, driver: str, name: str, **parts: Any) -> Document:
        value = f"{driver.split('.')[0]}-{uuid.UUID(int=self.random.getrandbits(128))}"
        return {"name": name, "attributes": {UNIQUE: {"string": value}}, **parts}

    def taint_some(self, devices: Documents, probability: float) -> None:
        for device in devices:
            if self.chance(probability):
                effect = self.random.choice(["NoSchedule", "NoExecute", "None", "NoSchedule"])
                key = f"example.com/{self.random.choice('abc')}"
                device["taints"] = [{"key": key, "effect": effect}]

    def publish(self, driver: str, node: str, generation: int, count: int, **parts: Any) -> None:
        pool = {"name": node, "generation": generation, "resourceSliceCount": count}
        self.slice_specs.append({"driver": driver, "nodeName": node, "pool": pool, **parts})

    def node(self, name: str) -> None:
        generation = self.random.choice([1, 1, 3])
        if self.chance(0.9):
            self.plain_pool(name, generation)
        if self.chance(0.8):
            self.partitioned_pool(name, generation)
        if self.chance(0.8):
            self.shared_pool(name, generation)

    def plain_pool(self, node: str, generation: int) -> None:
        """One or two slices; at times one missing, a name there twice, an old slice left."""
        per_slice, declared = self.random.randint(1, 4), self.random.choice([1, 1, 2])
        published = declared - (declared == 2 and self.chance(0.3))
        for number in range(published):
            devices = [self.device(PLAIN, f"d{number}-{i}") for i in range(per_slice)]
            self.taint_some(devices, 0.25)
            if number == 1 and self.chance(0.2):
                devices[0]["name"] = "d0-0"
            self.publish(PLAIN, node, generation, declared, devices=devices)
        if generation > 1 and self.chance(0.6):
            self.publish(PLAIN, node, generation - 1, 1, devices=[self.device(PLAIN, "old-0")])

    def partitioned_pool(self, node: str, generation: int) -> None:
        """Full, half and quarter devices on one or two counter sets, one at times unknown."""
        total = self.random.choice([80, 40])
        sets = [f"c{i}" for i in range(self.random.randint(1, 2))]
        counters = {"memory": {"value": f"{total}Gi"}, "sm": {"value": "8"}}
        shared_counters = [{"name": name, "counters": counters} for name in sets]
        self.publish(PARTITIONED, node, generation, 2, sharedCounters=shared_counters)
        devices = [device for name in sets for device in self.partitions(name, total)]
        if self.chance(0.1):
            devices[0]["consumesCounters"][0]["counterSet"] = "nowhere"
        self.taint_some(devices, 0.1)
        self.publish(PARTITIONED, node, generation, 2, devices=devices)

    def partitions(self, counter_set: str, total: int) -> Documents:
        def partition(name: str, memory: int, sm: int) -> Document:
            cost = {"memory": {"value": f"{memory}Gi"}, "sm": {"value": str(sm)}}
            use = [{"counterSet": counter_set, "counters": cost}]
            return self.device(PARTITIONED, f"{name}-{counter_set}", consumesCounters=use)

        devices = [partition("full", total, 8)]
        # Two halves of 5 do not fit into 8, though their memory does.
        devices += [
            partition(f"half{i}", total // 2, self.random.choice([3, 4, 5])) for i in range(2)
        ]
        quarters = self.random.randint(0, 3)
        devices += [partition(f"quarter{i}", total // 4, 2) for i in range(quarters)]
        if self.chance(0.4):
            devices[-1]["allowMultipleAllocations"] = True
            devices[-1]["capacity"] = {"memory": {"value": f"{total // 2}Gi"}}
        return devices

    def shared_pool(self, node: str, generation: int) -> None:
        """Devices with capacity, most of them for several claims at once."""
        count = self.random.randint(1, 3)
        devices = [self.shared_device(f"nic-{i}") for i in range(count)]
        self.publish(SHARED, node, generation, 1, devices=devices)

    def shared_device(self, name: str) -> Document:
        by_range = {
            "default": "10",
            "validRange": {"min": "10", "step": "10", "max": "100"},
        }
        by_values = {"default": "50", "validValues": ["50", "100"]}
        policy = self.random.choice([None, by_range, by_values])
        capacity: Document = {"bw": {"value": "100"}}
        is_shared = self.chance(0.85)
        if self.chance(0.5):
            capacity["vfs"] = {"value": "4"}
        # The API refuses policies on devices for one claim only.
        if is_shared and policy:
            capacity["bw"]["requestPolicy"] = policy
        if is_shared and "vfs" in capacity:
            capacity["vfs"]["requestPolicy"] = {"default": "1", "validValues": ["1"]}
        return self.device(SHARED, name, allowMultipleAllocations=is_shared, capacity=capacity)

    def holder(self) -> Document:
        name = self.random.choice(["plain", "part", "part", "share", "share", "share"])
        count = self.random.choice([1, 1, 1, 2])
        wanted: Document = {
            "deviceClassName": name,
            "allocationMode": "ExactCount",
            "count": count,
        }
        if name == "share" and self.chance(0.7):
            bandwidth = self.random.choice([10, 20, 50, 100])
            wanted["capacity"] = {"requests": {"bw": str(bandwidth)}}
        if self.chance(0.15):
            # Without the effect the pod would be placed and then evicted.
            effects = ("NoSchedule", "NoExecute")
            wanted["tolerations"] = [{"operator": "Exists", "effect": e} for e in effects]
        return wanted

    def rules(self) -> Iterable[Document]:
        if not self.chance(0.35):
            return
        selector = self.random.choice(
            [
                {"driver": PLAIN},
                {"driver": SHARED, "device": "nic-0"},
                {"driver": PARTITIONED, "pool": "node-0", "device": "full-c0"},
                {"device": "d0-0"},
                None,
            ]
        )
        effect = self.random.choice(["NoSchedule", "None", "NoSchedule"])
        rule: Document = {"taint": {"key": "example.com/rule", "effect": effect}}
        yield rule if selector is None else rule | {"deviceSelector": selector}


def random_fleet(seed: int) -> Fleet:
    """Return the fleet of a seed: one to three nodes with up to three pools each."""
    maker = _FleetMaker(Random(seed))
    nodes = tuple(f"node-{i}" for i in range(maker.random.choice([1, 2, 3])))
    for node in nodes:
        maker.node(node)
    holders = tuple(maker.holder() for _ in range(maker.random.randint(0, 7)))
    return Fleet(
        seed=seed,
        nodes=nodes,
        slice_specs=tuple(maker.slice_specs),
        rule_specs=tuple(maker.rules()),
        holders=holders,
    )


def _document(kind: str, name: str, spec: Document) -> Document:
    is_core = kind in {"Node", "Pod"}
    metadata = {"name": name}
    if kind in {"Pod", "ResourceClaim"}:
        metadata["namespace"] = "default"
    api_version = "v1" if is_core else "resource.k8s.io/v1"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _node(name: str) -> Document:
    room = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"capacity": room, "allocatable": room, "conditions": conditions}
    return _document("Node", name, {}) | {"status": status}


def _device_class(driver: str) -> Document:
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    return _document("DeviceClass", driver.split(".")[0], {"selectors": [selector]})


def _claim(name: str, wanted: Document) -> Document:
    device_requests = [{"name": "r", "exactly": wanted}]
    return _document("ResourceClaim", name, {"devices": {"requests": device_requests}})


def _pod(name: str) -> Document:
    """A pod with the claim of its name. It tolerates every node taint: only devices decide."""
    container = {"name": "c", "image": "none", "resources": {"claims": [{"name": "c"}]}}
    spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "tolerations": [{"operator": "Exists"}],
        "resourceClaims": [{"name": "c", "resourceClaimName": name}],
        "containers": [container],
    }
    return _document("Pod", name, spec)


def apply_fleet(plane: ControlPlane, fleet: Fleet) -> Documents:
    """Wipe, make the fleet, let the scheduler place its holders; return what is stored.

    Holders that find no place are taken away. The documents are as the server stored them,
    managedFields apart.
    """
    plane.wipe()
    plane.apply(_node(name) for name in fleet.nodes)
    plane.apply(_device_class(driver) for driver in (PLAIN, PARTITIONED, SHARED))
    for kind, specs in (
        ("ResourceSlice", fleet.slice_specs),
        ("DeviceTaintRule", fleet.rule_specs),
    ):
        plane.apply(_document(kind, f"{kind.lower()}-{i}", spec) for i, spec in enumerate(specs))
    time.sleep(_SETTLE_SECONDS)
    for number, wanted in enumerate(fleet.holders):
        if _ask_scheduler(plane, f"holder-{number}", wanted) is not None:
            _take_away(plane, f"holder-{number}")
    time.sleep(_SETTLE_SECONDS)
    return stored_objects(plane)


def stored_objects(plane: ControlPlane) -> Documents:
    """Return all nodes, classes, slices, claims, rules and pods of the cluster."""
    documents = [document for kind in _STORED_KINDS for document in plane.list(kind)]
    for document in documents:
        document["metadata"].pop("managedFields", None)
    return documents


def try_each_device(plane: ControlPlane) -> list[Trial]:
    """Ask the scheduler for every published device alone, with nothing else asked."""
    trials: list[Trial] = []
    for document in plane.list("ResourceSlice"):
        spec = document["spec"]
        for device in spec.get("devices") or ():
            refusal = _try_device(plane, spec["driver"], device, f"try-{len(trials)}")
            pool = spec["pool"]
            trials.append(
                Trial(
                    spec["driver"],
                    pool["name"],
                    device["name"],
                    pool["generation"],
                    refusal,
                )
            )
    return trials


def _try_device(plane: ControlPlane, driver: str, device: Document, name: str) -> str | None:
    value = device["attributes"][UNIQUE]["string"]
    expression = f"device.attributes['{driver}'].{UNIQUE} == '{value}'"
    wanted = {
        "deviceClassName": driver.split(".")[0],
        "selectors": [{"cel": {"expression": expression}}],
    }
    refusal = _ask_scheduler(plane, name, wanted)
    _take_away(plane, name)
    return refusal


def _ask_scheduler(plane: ControlPlane, name: str, wanted: Document) -> str | None:
    """Make a claim and its pod; return the scheduler's refusal, or None if the pod was placed."""
    plane.apply([_claim(name, wanted), _pod(name)])

    def decision() -> tuple[str | None] | None:
        pod = plane.get("Pod", name, "default") or {}
        if pod.get("spec", {}).get("nodeName"):
            return (None,)
        for condition in pod.get("status", {}).get("conditions") or ():
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return (condition.get("message", ""),)
        return None

    return plane.wait_for(decision, what=f"a decision about pod {name}")[0]


def _take_away(plane: ControlPlane, name: str) -> None:
    """Delete pod and claim; the claim controller takes reservation and finalizer off."""
    plane.delete("Pod", name, "default")
    plane.delete("ResourceClaim", name, "default")
    plane.wait_for(
        lambda: plane.get("ResourceClaim", name, "default") is None,
        what=f"the end of claim {name}",
    )


def main() -> None:
    """Write one JSON file for each seed: the stored objects, and what was placed and refused."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with ControlPlane() as plane:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            objects = apply_fleet(plane, random_fleet(seed))
            trials = try_each_device(plane)
            written = {
                "seed": seed,
                "objects": objects,
                "trials": [vars(t) for t in trials],
            }
            (arguments.folder / f"fleet-{seed:04d}.json").write_text(json.dumps(written))
            placed = sum(trial.is_placed for trial in trials)
            sys.stdout.write(f"{seed}: {placed} placed, {len(trials) - placed} refused\n")


if __name__ == "__main__":
    main()
