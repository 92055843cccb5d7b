"""Reference workloads of known size: S (100 nodes), L (the supported ceiling, 5,000 nodes) and X (65,000 nodes).

Field sets, sizes and managedFields are those that real drivers and components publish. The same name gives the same
objects, in the same order. Parts that do not differ between objects are shared: treat them as read-only.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from simulator import objects
from simulator.objects import NO, YES, Object, integer, quantities, string, version

GPU: Final = "gpu.example.com"
OTHER_GPU: Final = "gpu.example.org"
NIC: Final = "nic.example.com"
CPU: Final = "cpu.example.com"

_STAMP: Final = "2026-08-14T09:21:00Z"

# Profile, id, memory, where it may start, memory slices, multiprocessors, copy engines, decoders, jpeg and ofa engines.
_PROFILES: Final = (
    ("1g.10gb", 19, "10Gi", (0, 1, 2, 3, 4, 5, 6), 1, 16, 1, 1, 1, 0),
    ("1g.10gb.me", 20, "10Gi", (0, 1, 2, 3, 4, 5, 6), 1, 16, 1, 1, 1, 1),
    ("1g.20gb", 15, "20Gi", (0, 2, 4, 6), 2, 26, 1, 1, 1, 0),
    ("2g.20gb", 14, "20Gi", (0, 2, 4), 2, 32, 2, 2, 2, 0),
    ("3g.40gb", 9, "40Gi", (0, 4), 4, 60, 3, 3, 3, 0),
    ("4g.40gb", 5, "40Gi", (0,), 4, 64, 4, 4, 4, 0),
    ("7g.80gb", 0, "80Gi", (0,), 8, 132, 8, 7, 7, 1),
)
_COUNTER_NAMES: Final = {
    "multiprocessors": "multiprocessors",
    "copyEngines": "copy-engines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpegEngines": "jpeg-engines",
    "ofaEngines": "ofa-engines",
    "memory": "memory",
}


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    uid: str


def make(name: str) -> Iterator[Object]:
    """All objects of a workload. L is about 205 MB of JSON, X 1.1 GB."""
    made = {"S": _small, "L": _large, "X": _extreme}.get(name)
    if made is None:
        message = f"unknown workload {name!r}: S, L or X"
        raise ValueError(message)
    return made(random.Random(f"workload {name}"))  # noqa: S311 -- repeatable, not secret


def _nodes(rng: random.Random, count: int) -> list[_Node]:
    return [_Node(f"node-{number:05d}", objects.new_uid(rng)) for number in range(count)]


def _node_object(node: _Node) -> Object:
    return objects.node(node.name, uid=node.uid, labels={}, stamp=_STAMP)


def _small(rng: random.Random) -> Iterator[Object]:
    nodes = _nodes(rng, 100)
    yield from map(_node_object, nodes)
    for node in nodes:
        yield from gpu_slices(rng, node)
        yield from cpu_slices(rng, node)
    held = [(node, f"gpu-{card}") for node in nodes for card in range(8)]
    for number, (node, device) in enumerate(held[:720]):
        yield allocated_claim(rng, node, GPU, device, number=number)


def _large(rng: random.Random) -> Iterator[Object]:
    nodes = _nodes(rng, 5000)
    yield from map(_node_object, nodes)
    for number, node in enumerate(nodes):
        yield from _large_slices(rng, node, number)
    for number, (node, driver, device) in enumerate(_large_holdings(nodes)):
        yield allocated_claim(rng, node, driver, device, number=number)


def _large_slices(rng: random.Random, node: _Node, number: int) -> Iterator[Object]:
    if number < 1500:
        yield from gpu_slices(rng, node)
    elif number < 2000:
        yield from mig_slices(rng, node)
    elif number < 2500:
        yield from other_gpu_slices(rng, node)
    if number < 2000:
        yield from nic_slices(rng, node)
    yield from cpu_slices(rng, node)


def _large_holdings(nodes: list[_Node]) -> Iterator[tuple[_Node, str, str]]:
    """20,000 devices, each once; partitions such that no GPU gives more than it has."""
    for node in nodes[:1500]:
        for card in range(6):
            yield node, GPU, f"gpu-{card}"
    for node in nodes[1500:2000]:
        for card in range(5):
            for start in (0, 1):
                yield node, GPU, f"gpu-{card}-mig-1g10gb-19-{start}"
    for node in nodes[2000:2500]:
        for card in range(6):
            yield node, OTHER_GPU, f"gpu-{card}-{128 + card * 8}"
    for node in nodes[:1500]:
        for card in (0, 1):
            yield node, NIC, f"rdma{card}"


def _extreme(rng: random.Random) -> Iterator[Object]:
    for node in _nodes(rng, 65_000):
        yield from gpu_slices(rng, node)
        yield from nic_slices(rng, node)
        yield from cpu_slices(rng, node)


def _slice(
    rng: random.Random,
    node: _Node,
    *,
    driver: str,
    manager: str,
    count: int,
    generation: int = 1,
    **content: Any,
) -> Object:
    made = objects.resource_slice(
        f"{node.name}-{driver}-{objects.suffix(rng)}",
        driver=driver,
        pool=node.name,
        generation=generation,
        count=count,
        where={"nodeName": node.name},
        owner_uid=node.uid,
        content=content,
    )
    metadata = made["metadata"]
    metadata["generateName"] = f"{node.name}-{driver}-"
    metadata["uid"] = objects.new_uid(rng)
    metadata["managedFields"] = [_slice_fields(manager, node, list(content))]
    return made


def _slice_fields(manager: str, node: _Node, keys: list[str]) -> Object:
    owner = f'k:{{"uid":"{node.uid}"}}'
    spec: Object = {f"f:{key}": {} for key in keys}
    spec |= {
        "f:driver": {},
        "f:nodeName": {},
        "f:pool": {"f:generation": {}, "f:name": {}, "f:resourceSliceCount": {}},
    }
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": objects.DRA_V1,
        "time": _STAMP,
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:generateName": {}, "f:ownerReferences": {".": {}, owner: {}}},
            "f:spec": spec,
        },
    }


def _gpu_attributes(card: int) -> Object:
    bus = 16 + 8 * card
    return {
        "productName": string("EXAMPLE E100 80GB HBM3"),
        "brand": string("Example"),
        "architecture": string("Hopper"),
        "cudaComputeCapability": version("9.0.0"),
        "driverVersion": version("580.65.6"),
        "cudaDriverVersion": version("13.0.0"),
        "addressingMode": string("HMM"),
        "resource.kubernetes.io/pciBusID": string(f"0000:{bus:02x}:00.0"),
        "resource.kubernetes.io/pcieRoot": string(f"pci0000:{bus - 1:02x}"),
    }


_GPU_ATTRIBUTES: Final = [_gpu_attributes(card) for card in range(8)]
_GPU_CAPACITY: Final = quantities({"memory": "81559Mi"})


def gpu_slices(rng: random.Random, node: _Node, *, generation: int = 1) -> Iterator[Object]:
    """Eight whole GPUs in one slice."""
    devices = [
        {
            "name": f"gpu-{card}",
            "attributes": {
                "type": string("gpu"),
                "uuid": string(f"GPU-{objects.new_uid(rng)}"),
                **_GPU_ATTRIBUTES[card],
            },
            "capacity": _GPU_CAPACITY,
        }
        for card in range(8)
    ]
    yield _slice(
        rng,
        node,
        driver=GPU,
        manager="gpu-kubelet-plugin",
        count=1,
        generation=generation,
        devices=devices,
    )


def _engines(
    multiprocessors: int, copies: int, decoders: int, jpegs: int, ofas: int, memory: str
) -> Object:
    return quantities(
        {
            "multiprocessors": str(multiprocessors),
            "copyEngines": str(copies),
            "decoders": str(decoders),
            "encoders": "0",
            "jpegEngines": str(jpegs),
            "ofaEngines": str(ofas),
            "memory": memory,
        }
    )


_WHOLE: Final = _engines(132, 8, 7, 7, 1, "81559Mi")


def _counters(capacity: Object, *, start: int, slices: int) -> Object:
    counters = {_COUNTER_NAMES[name]: amount for name, amount in capacity.items()}
    places = range(start, min(start + slices, 8))
    return counters | quantities({f"memory-slice-{place}": "1" for place in places})


def _partitions(card: int) -> list[Callable[[str], Object]]:
    """Makers of the 25 partitions of one GPU; each takes the id of its parent."""
    makers = []
    for profile, number, memory, starts, slices, sm, copies, decoders, jpegs, ofas in _PROFILES:
        capacity = _engines(sm, copies, decoders, jpegs, ofas, memory)
        for start in starts:
            uses = _counters(capacity, start=start, slices=slices)
            makers.append(
                _partition_maker(
                    name=f"gpu-{card}-mig-{profile.replace('.', '')}-{number}-{start}",
                    profile=profile,
                    card=card,
                    capacity=capacity,
                    uses=[{"counterSet": f"gpu-{card}-counter-set", "counters": uses}],
                )
            )
    return makers


def _partition_maker(
    *, name: str, profile: str, card: int, capacity: Object, uses: list[Object]
) -> Callable[[str], Object]:
    attributes = {"type": string("mig"), "profile": string(profile), **_GPU_ATTRIBUTES[card]}

    def partition(parent: str) -> Object:
        return {
            "name": name,
            "attributes": {"parentUUID": string(parent), **attributes},
            "capacity": capacity,
            "consumesCounters": uses,
        }

    return partition


_PARTITIONS: Final = [_partitions(card) for card in range(8)]
_COUNTER_SETS: Final = [
    {"name": f"gpu-{card}-counter-set", "counters": _counters(_WHOLE, start=0, slices=8)}
    for card in range(8)
]


def mig_slices(rng: random.Random, node: _Node, *, generation: int = 1) -> Iterator[Object]:
    """A slice of counters, then one with the GPU and its 25 partitions for each of eight GPUs."""
    manager = "gpu-kubelet-plugin"
    yield _slice(
        rng,
        node,
        driver=GPU,
        manager=manager,
        count=9,
        generation=generation,
        sharedCounters=_COUNTER_SETS,
    )
    for card in range(8):
        parent = f"GPU-{objects.new_uid(rng)}"
        whole = {
            "name": f"gpu-{card}",
            "attributes": {
                "type": string("gpu"),
                "uuid": string(parent),
                **_GPU_ATTRIBUTES[card],
            },
            "capacity": _WHOLE,
            "consumesCounters": [
                {
                    "counterSet": f"gpu-{card}-counter-set",
                    "counters": _COUNTER_SETS[card]["counters"],
                }
            ],
        }
        devices = [whole, *(partition(parent) for partition in _PARTITIONS[card])]
        yield _slice(
            rng,
            node,
            driver=GPU,
            manager=manager,
            count=9,
            generation=generation,
            devices=devices,
        )


_OTHER_CAPACITY: Final = quantities(
    {"memory": "196592Mi", "computeUnits": "304", "simdUnits": "1216"}
)


def other_gpu_slices(rng: random.Random, node: _Node, *, generation: int = 1) -> Iterator[Object]:
    """Eight GPUs of another make."""
    devices = [
        {
            "name": f"gpu-{card}-{128 + card * 8}",
            "attributes": {
                "type": string("gpu"),
                "pciAddr": string(f"000{card}:00:02.0"),
                "cardIndex": integer(card),
                "renderIndex": integer(128 + card * 8),
                "deviceID": string(str(rng.getrandbits(60))),
                "family": string("AI"),
                "productName": string("Example_Intuition_XI300_OAM"),
                "driverVersion": version("6.12.12"),
                "driverSrcVersion": string("7AA72EC2C8F513519BE86FD"),
                "partitionProfile": string("spx_nps1"),
                "resource.kubernetes.io/pcieRoot": string(f"pci000{card}:00"),
            },
            "capacity": _OTHER_CAPACITY,
        }
        for card in range(8)
    ]
    yield _slice(
        rng,
        node,
        driver=OTHER_GPU,
        manager="gpu-kubeletplugin",
        count=1,
        generation=generation,
        devices=devices,
    )


def nic_slices(rng: random.Random, node: _Node, *, generation: int = 1) -> Iterator[Object]:
    """Ten network cards, with what a cloud says about each."""
    devices = [
        {"name": f"rdma{card}", "attributes": _nic_attributes(rng, card)} for card in range(10)
    ]
    yield _slice(
        rng,
        node,
        driver=NIC,
        manager="nicdra",
        count=1,
        generation=generation,
        devices=devices,
    )


def _nic_attributes(rng: random.Random, card: int) -> Object:
    mac = ":".join(f"{rng.getrandbits(8):02x}" for _ in range(6))
    return {
        f"{NIC}/alias": string(""),
        f"{NIC}/cloudNetwork": string(f"dra-{card}-vpc"),
        f"{NIC}/encapsulation": string("ether"),
        f"{NIC}/ifName": string(f"gpu{card}rdma0"),
        f"{NIC}/ipv4": string(f"192.0.2.{rng.randint(2, 250)}"),
        f"{NIC}/mac": string(mac),
        f"{NIC}/mtu": integer(8896),
        f"{NIC}/numaNode": integer(card // 5),
        f"{NIC}/pciAddress": string(f"0000:{0xC0 + card:02x}:00.0"),
        f"{NIC}/pciVendor": string("Example Technologies"),
        f"{NIC}/pciDevice": string("EX2910 Family [Connect-7]"),
        f"{NIC}/rdma": YES,
        f"{NIC}/sriov": NO,
        f"{NIC}/ebpf": NO,
        f"{NIC}/state": string("up"),
        f"{NIC}/type": string("device"),
        f"{NIC}/virtual": NO,
        "resource.kubernetes.io/pcieRoot": string(f"pci0000:{0xBF + card:02x}"),
        "cloud.example.com/block": string(objects.suffix(rng, 16)),
        "cloud.example.com/subBlock": string(objects.suffix(rng, 16)),
        "cloud.example.com/host": string(objects.suffix(rng, 16)),
    }


_CPUS: Final = [
    {
        "name": f"cpudevnuma{number:03d}",
        "attributes": {
            "resource.kubernetes.io/numaNode": integer(number),
            f"{CPU}/socketID": integer(number),
            f"{CPU}/smtEnabled": YES,
            f"{CPU}/numCPUs": integer(96),
            f"{NIC}/numaNode": integer(number),
            f"{CPU}/numaNodeID": integer(number),
        },
        "capacity": quantities({f"{CPU}/cpu": "96"}),
        "allowMultipleAllocations": True,
    }
    for number in range(2)
]


def cpu_slices(rng: random.Random, node: _Node, *, generation: int = 1) -> Iterator[Object]:
    """The CPUs of two NUMA nodes, shareable."""
    yield _slice(
        rng,
        node,
        driver=CPU,
        manager="dracpu",
        count=1,
        generation=generation,
        devices=_CPUS,
    )


def allocated_claim(
    rng: random.Random, node: _Node, driver: str, device: str, *, number: int
) -> Object:
    """A claim for one device, made for the pod of a job, that holds it."""
    pod, pod_uid = f"train-{number:06d}-0-{objects.suffix(rng)}", objects.new_uid(rng)
    made = pending_claim(rng, driver, pod=pod, pod_uid=pod_uid, number=number)
    fields = made["metadata"]["managedFields"]
    fields += [_finalizer_fields(), _status_fields(pod_uid)]
    made["metadata"]["finalizers"] = [objects.FINALIZER]
    where = {"key": "metadata.name", "operator": "In", "values": [node.name]}
    result = {"request": "gpu", "driver": driver, "pool": node.name, "device": device}
    made["status"] = {
        "allocation": {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [where]}]},
            "allocationTimestamp": _STAMP,
        },
        "reservedFor": [{"resource": "pods", "name": pod, "uid": pod_uid}],
    }
    return made


def pending_claim(
    rng: random.Random, driver: str, *, pod: str, pod_uid: str, number: int
) -> Object:
    expression = f"device.attributes['{driver}'].productName.lowerAscii().contains('e100')"
    device_request = {
        "name": "gpu",
        "exactly": {
            "deviceClassName": driver,
            "allocationMode": "ExactCount",
            "count": 1,
            "selectors": [{"cel": {"expression": expression}}],
        },
    }
    made = objects.claim(
        namespace=f"team-{number % 40:02d}",
        pod=pod,
        pod_uid=pod_uid,
        name=f"{pod}-gpu-{objects.suffix(rng)}",
        requests=[device_request],
    )
    made["metadata"]["uid"] = objects.new_uid(rng)
    made["metadata"]["managedFields"] = [_claim_fields(pod_uid)]
    return made


def _managed(manager: str, fields: Object, **more: str) -> Object:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": objects.DRA_V1,
        "time": _STAMP,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def _claim_fields(pod_uid: str) -> Object:
    owner = f'k:{{"uid":"{pod_uid}"}}'
    metadata: Object = {
        "f:annotations": {".": {}, "f:resource.kubernetes.io/pod-claim-name": {}},
        "f:generateName": {},
        "f:ownerReferences": {".": {}, owner: {}},
    }
    spec: Object = {"f:devices": {"f:requests": {}}}
    return _managed("kube-controller-manager", {"f:metadata": metadata, "f:spec": spec})


def _finalizer_fields() -> Object:
    held: Object = {".": {}, f'v:"{objects.FINALIZER}"': {}}
    return _managed("kube-scheduler", {"f:metadata": {"f:finalizers": held}})


def _status_fields(pod_uid: str) -> Object:
    pod = f'k:{{"uid":"{pod_uid}"}}'
    status: Object = {
        "f:allocation": {
            ".": {},
            "f:devices": {".": {}, "f:results": {}},
            "f:nodeSelector": {},
            "f:allocationTimestamp": {},
        },
        "f:reservedFor": {
            ".": {},
            pod: {".": {}, "f:name": {}, "f:resource": {}, "f:uid": {}},
        },
    }
    return _managed("kube-scheduler", {"f:status": status}, subresource="status")
