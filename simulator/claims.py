"""What people ask of the simulated cluster, and how a claim looks in each part of its life."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from simulator import objects
from simulator.devices import FPGA, GPU
from simulator.fleet import INCOMPLETE_POOL
from simulator.objects import FINALIZER, Object
from simulator.scheduling import Inventory, results_of

_POD_CLAIM: Final = "resource.kubernetes.io/pod-claim-name"


class Demand(NamedTuple):
    """A kind of workload: whose, how often among all, how long it runs, what it asks for."""

    namespace: str
    pod: str
    weight: int
    mean_seconds: float
    requests: Sequence[Object]


def _gpus(count: int) -> list[Object]:
    return [objects.exact_request("gpu", "gpu.example.com", count=count)]


_GPU_AND_NIC: Final = [
    objects.exact_request("gpu", "gpu.example.com", count=4),
    objects.exact_request("nic", "rdma-nic", capacity={"bandwidth": "50G"}),
]
_TOLERANT: Final = [{"key": "fpga.example.com/overheated", "operator": "Exists"}]

DEMANDS: Final = (
    Demand("ml-training", "finetune", 4, 900.0, _gpus(1)),
    Demand("ml-training", "pretrain", 2, 1800.0, _gpus(8)),
    Demand("ml-training", "ring", 3, 1200.0, _GPU_AND_NIC),
    Demand("ml-inference", "chat", 8, 600.0, [objects.exact_request("slice", "mig-1g")]),
    Demand("ml-inference", "embed", 5, 600.0, [objects.exact_request("slice", "mig-2g")]),
    Demand("ml-inference", "rank", 3, 900.0, [objects.exact_request("slice", "mig-3g")]),
    Demand("ml-inference", "batch", 1, 300.0, [objects.exact_request("slice", "mig-full")]),
    Demand(
        "data-eng",
        "etl",
        6,
        400.0,
        [objects.exact_request("cpus", "cpus", capacity={"cpu": "8"})],
    ),
    Demand(
        "data-eng",
        "query",
        4,
        200.0,
        [objects.exact_request("cpus", "cpus", capacity={"cpu": "4"})],
    ),
    Demand(
        "net-test",
        "perf",
        4,
        240.0,
        [objects.exact_request("nic", "rdma-nic", capacity={"bandwidth": "12500M"})],
    ),
    Demand("net-test", "ping", 2, 120.0, [objects.exact_request("nic", "rdma-nic")]),
    Demand("fpga-lab", "encode", 2, 500.0, [objects.exact_request("card", "fpga-video")]),
    Demand(
        "fpga-lab",
        "debug",
        1,
        500.0,
        [objects.exact_request("card", "fpga", tolerations=_TOLERANT)],
    ),
)


def choose(rng: random.Random) -> Demand:
    return rng.choices(DEMANDS, weights=[demand.weight for demand in DEMANDS])[0]


def pending(demand: Demand, rng: random.Random) -> Object:
    pod = f"{demand.pod}-{objects.suffix(rng)}"
    name = f"{pod}-{demand.requests[0]['name']}-{objects.suffix(rng)}"
    return objects.claim(
        namespace=demand.namespace,
        pod=pod,
        pod_uid=objects.new_uid(rng),
        name=name,
        requests=demand.requests,
    )


def is_of_a_pod(claim: Object) -> bool:
    """Whether it was made for one pod, with whose end it goes."""
    return _POD_CLAIM in (claim["metadata"].get("annotations") or {})


def with_finalizer(claim: Object) -> Object:
    return {**claim, "metadata": {**claim["metadata"], "finalizers": [FINALIZER]}}


def allocated(
    claim: Object, *, node: str, given: Sequence[Object], rng: random.Random, stamp: str
) -> Object:
    """The claim once the scheduler has decided: devices, node, and the pod that may use them."""
    shares = [_with_share_id(result, rng) for result in given]
    owner = claim["metadata"]["ownerReferences"][0]
    status = {
        "allocation": _allocation(shares, node=node, stamp=stamp),
        "reservedFor": [{"resource": "pods", "name": owner["name"], "uid": owner["uid"]}],
    }
    return {**with_finalizer(claim), "status": status}


def _with_share_id(result: Object, rng: random.Random) -> Object:
    if "consumedCapacity" not in result:
        return result
    return {**result, "shareID": objects.new_uid(rng)}


def _allocation(given: Sequence[Object], *, node: str, stamp: str) -> Object:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {
        "devices": {"results": list(given)},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        "allocationTimestamp": stamp,
    }


def with_device_status(claim: Object, rng: random.Random, *, stamp: str) -> Object:
    """What the driver of a network card reports once it has prepared it."""
    reported = [
        {
            "driver": result["driver"],
            "pool": result["pool"],
            "device": result["device"],
            "shareID": result["shareID"],
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Prepared",
                    "message": "interface moved into the pod",
                    "lastTransitionTime": stamp,
                }
            ],
            "networkData": {
                "interfaceName": "net1",
                "ips": [f"192.0.2.{rng.randint(2, 250)}/24"],
                "hardwareAddress": ":".join(f"{rng.getrandbits(8):02x}" for _ in range(6)),
            },
        }
        for result in results_of(claim)
        if "bandwidth" in (result.get("consumedCapacity") or {})
    ]
    return {**claim, "status": {**claim["status"], "devices": reported}}


def unreserved(claim: Object) -> Object:
    status = {key: value for key, value in claim["status"].items() if key != "reservedFor"}
    return {**claim, "status": status}


def deallocated(claim: Object) -> Object:
    metadata = {k: v for k, v in claim["metadata"].items() if k != "finalizers"}
    return {**claim, "metadata": metadata, "status": {}}


def first_claims(
    inventory: Inventory, nodes: Sequence[str], rng: random.Random, *, count: int, stamp: str
) -> Iterator[Object]:
    """The claims the cluster begins with: ordinary ones, and one of each strange kind."""
    for claim, node, given in _odd_claims():
        inventory.take(given)
        yield _odd(claim, node, given, rng, stamp=stamp)
    for _ in range(count):
        claim = pending(choose(rng), rng)
        order = rng.sample(nodes, k=len(nodes))
        placed = inventory.allocate(claim["spec"]["devices"]["requests"], order)
        if placed is None:
            yield claim
            continue
        node, given = placed
        inventory.take(given)
        yield allocated(claim, node=node, given=given, rng=rng, stamp=stamp)


def _odd_claims() -> Iterator[tuple[Object, str, list[Object]]]:
    """Claims that people made by hand, with the node and the devices they hold."""
    watched = [
        {**_result("gpus", GPU, "gpu-01", f"gpu-{number}"), "adminAccess": True}
        for number in range(8)
    ]
    everything = {
        "deviceClassName": "gpu.example.com",
        "allocationMode": "All",
        "adminAccess": True,
    }
    yield (
        _by_hand("monitoring", "gpu-watch", {"name": "gpus", "exactly": everything}),
        ("gpu-01"),
        watched,
    )
    yield _by_hand("ml-training", "typo", objects.exact_request("gpu", "gpu-typo")), "", []
    yield (
        _by_hand(
            "ml-training", "too-many", objects.exact_request("gpu", "gpu.example.com", count=16)
        ),
        "",
        [],
    )
    gone = objects.exact_request("card", "fpga")
    yield (
        _by_hand("fpga-lab", "long-run", gone),
        INCOMPLETE_POOL,
        [_result("card", FPGA, INCOMPLETE_POOL, "fpga-3")],
    )
    shared = objects.exact_request("gpu", "gpu.example.com")
    yield (
        _by_hand("ml-training", "shared-gpu", shared),
        "gpu-02",
        [_result("gpu", GPU, "gpu-02", "gpu-0")],
    )
    stuck = objects.exact_request("gpu", "gpu.example.com")
    yield _by_hand("default", "leaving", stuck), "gpu-03", [_result("gpu", GPU, "gpu-03", "gpu-7")]


def _by_hand(namespace: str, name: str, request: Mapping[str, Any]) -> Object:
    return {
        "kind": "ResourceClaim",
        "apiVersion": objects.DRA_V1,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [dict(request)]}},
        "status": {},
    }


def _result(request: str, driver: str, pool: str, device: str) -> Object:
    return {"request": request, "driver": driver, "pool": pool, "device": device}


def _odd(
    claim: Object, node: str, given: list[Object], rng: random.Random, *, stamp: str
) -> Object:
    """A claim by hand as it stands: who uses it, and whether it is on its way out."""
    if not given:
        return claim
    name = claim["metadata"]["name"]
    pods = {"leaving": (), "shared-gpu": ("notebook-0", "notebook-1")}.get(name, (f"{name}-0",))
    metadata = {**claim["metadata"], "finalizers": [FINALIZER]}
    if name == "leaving":
        metadata["deletionTimestamp"] = stamp
        metadata["deletionGracePeriodSeconds"] = 0
    status: Object = {"allocation": _allocation(given, node=node, stamp=stamp)}
    if pods:
        status["reservedFor"] = [
            {"resource": "pods", "name": pod, "uid": objects.new_uid(rng)} for pod in pods
        ]
    return {**claim, "metadata": metadata, "status": status}
