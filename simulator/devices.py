"""The five drivers of the simulated fleet: what each publishes for one node."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulator.objects import (
    YES,
    Object,
    integer,
    new_uid,
    quantities,
    string,
    version,
)

GPU: Final = "gpu.example.com"
MIG: Final = "mig.example.com"
NIC: Final = "nic.example.com"
CPU: Final = "cpu.example.com"
FPGA: Final = "fpga.example.com"

PARTITION_ATTRIBUTE: Final = f"{MIG}/profile"

# Profile: memory, multiprocessors, how many there are room for on one GPU.
_PROFILES: Final = {
    "1g.10gb": ("10Gi", 16, 7),
    "2g.20gb": ("20Gi", 32, 3),
    "3g.40gb": ("40Gi", 60, 2),
    "7g.80gb": ("80Gi", 132, 1),
}


@dataclass(frozen=True, slots=True)
class Driver:
    """`publish` makes the contents of a pool's slices, in their order: the same for the same random numbers."""

    name: str
    first_version: str
    next_version: str
    publish: Callable[[random.Random, int, str], list[Object]]


def _pci(number: int) -> Object:
    return {
        "resource.kubernetes.io/pciBusID": string(f"0000:{0x10 + 8 * number:02x}:00.0"),
        "resource.kubernetes.io/pcieRoot": string(f"pci0000:{0x0F + 8 * number:02x}"),
        "resource.kubernetes.io/numaNode": integer(number // 4),
    }


def _gpus(rng: random.Random, count: int, driver_version: str) -> list[Object]:
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {
                "type": string("gpu"),
                "productName": string("Example A80 80GB"),
                "architecture": string("alder"),
                "driverVersion": version(driver_version),
                "uuid": string(f"GPU-{new_uid(rng)}"),
                **_pci(number),
            },
            "capacity": quantities({"memory": "80Gi"}),
        }
        for number in range(count)
    ]
    return [{"devices": devices}]


def _mig(rng: random.Random, count: int, driver_version: str) -> list[Object]:
    """One slice with the counters of all GPUs, then one slice of partitions for each."""
    totals = quantities({"memory": "80Gi", "multiprocessors": "132"})
    counters = [{"name": f"gpu-{number}-counters", "counters": totals} for number in range(count)]
    slices: list[Object] = [{"sharedCounters": counters}]
    for number in range(count):
        parent = f"GPU-{new_uid(rng)}"
        devices = [
            _partition(number, profile, place, parent, driver_version)
            for profile, (_, _, places) in _PROFILES.items()
            for place in range(places)
        ]
        slices.append({"partitionTypeAttribute": PARTITION_ATTRIBUTE, "devices": devices})
    return slices


def _partition(number: int, profile: str, place: int, parent: str, driver_version: str) -> Object:
    memory, multiprocessors, _ = _PROFILES[profile]
    amounts = quantities({"memory": memory, "multiprocessors": str(multiprocessors)})
    return {
        "name": f"gpu-{number}-{profile.replace('.', '-')}-{place}",
        "attributes": {
            "type": string("mig"),
            "profile": string(profile),
            "parentUUID": string(parent),
            "productName": string("Example H80 80GB"),
            "driverVersion": version(driver_version),
            **_pci(number),
        },
        "capacity": amounts,
        "consumesCounters": [{"counterSet": f"gpu-{number}-counters", "counters": amounts}],
    }


def _nics(rng: random.Random, count: int, driver_version: str) -> list[Object]:
    policy = {
        "default": "1G",
        "validRange": {"min": "1G", "step": "1G", "max": "100G"},
    }
    one_each = {"default": "1", "validValues": ["1"]}
    devices = [
        {
            "name": f"nic-{number}",
            "attributes": {
                "type": string("rdma"),
                "ifName": string(f"eth{number + 1}"),
                "mac": string(":".join(f"{rng.getrandbits(8):02x}" for _ in range(6))),
                "mtu": integer(9000),
                "rdma": YES,
                "driverVersion": version(driver_version),
                **_pci(8 + number),
            },
            "capacity": {
                "bandwidth": {"value": "100G", "requestPolicy": policy},
                "virtualFunctions": {"value": "32", "requestPolicy": one_each},
            },
            "allowMultipleAllocations": True,
        }
        for number in range(count)
    ]
    return [{"devices": devices}]


def _cpus(_: random.Random, count: int, driver_version: str) -> list[Object]:
    """One device for each NUMA node, its CPUs as capacity."""
    policy = {"default": "1", "validRange": {"min": "1", "step": "1"}}
    devices = [
        {
            "name": f"numa-{number}",
            "attributes": {
                "type": string("cpus"),
                "resource.kubernetes.io/numaNode": integer(number),
                "smtEnabled": YES,
                "driverVersion": version(driver_version),
            },
            "capacity": {"cpu": {"value": "48", "requestPolicy": policy}},
            "allowMultipleAllocations": True,
        }
        for number in range(count)
    ]
    return [{"devices": devices}]


def _fpgas(rng: random.Random, count: int, driver_version: str) -> list[Object]:
    """Two cards to a slice, so that a pool of more than two can be seen half."""
    devices = [
        {
            "name": f"fpga-{number}",
            "attributes": {
                "type": string("fpga"),
                "bitstream": string(rng.choice(["video-transcode", "genome-align"])),
                "serial": string(f"FX{rng.getrandbits(24):06X}"),
                "driverVersion": version(driver_version),
                **_pci(number),
            },
            "capacity": quantities({"logicCells": "1800k", "memory": "32Gi"}),
        }
        for number in range(count)
    ]
    return [{"devices": devices[start : start + 2]} for start in range(0, count, 2)]


DRIVERS: Final[dict[str, Driver]] = {
    driver.name: driver
    for driver in (
        Driver(GPU, "580.65.6", "580.82.7", _gpus),
        Driver(MIG, "580.65.6", "580.82.7", _mig),
        Driver(NIC, "1.4.0", "1.5.1", _nics),
        Driver(CPU, "0.3.2", "0.4.0", _cpus),
        Driver(FPGA, "2.1.0", "2.1.1", _fpgas),
    )
}


def contents(
    driver: str, *, seed: object, count: int, driver_version: str
) -> list[dict[str, Any]]:
    """What a driver publishes for one pool. The same seed gives the same cards, whatever the driver's version."""
    rng = random.Random(f"{driver} {seed}")  # noqa: S311 -- repeatable, not secret
    return DRIVERS[driver].publish(rng, count, driver_version)
