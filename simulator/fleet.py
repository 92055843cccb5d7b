"""A believable fleet: 40 nodes, five drivers, and troubles of the kinds that real clusters have."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from simulator import objects
from simulator.devices import CPU, DRIVERS, FPGA, GPU, MIG, NIC, contents
from simulator.objects import Object

ZONES: Final = ("east", "west")
FABRIC_POOL: Final = "fabric/east"
# Of this pool one slice is missing at first.
INCOMPLETE_POOL: Final = "fpga-03"
INVALID_POOL: Final = "fpga-04"

_NODES: Final = (
    # Prefix, how many, what each node publishes: driver and number of cards.
    ("gpu", 14, ((GPU, 8), (NIC, 4), (CPU, 2))),
    ("mig", 8, ((MIG, 4), (NIC, 2), (CPU, 2))),
    ("cpu", 12, ((NIC, 1), (CPU, 2))),
    ("fpga", 6, ((FPGA, 4), (CPU, 2))),
)

_NAMESPACES: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("default", {}),
    ("data-eng", {}),
    ("fpga-lab", {}),
    ("ml-inference", {}),
    ("ml-training", {}),
    ("net-test", {}),
    ("monitoring", {"resource.kubernetes.io/admin-access": "true"}),
)


class PoolKey(NamedTuple):
    driver: str
    pool: str


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """What a driver publishes as one pool. `owner_uid` is the node's, None for a pool of no node."""

    key: PoolKey
    count: int
    where: Mapping[str, Any]
    owner_uid: str | None
    driver_version: str

    @property
    def node(self) -> str | None:
        return self.where.get("nodeName")

    def slices(self, generation: int, rng: random.Random) -> list[Object]:
        """With new names, as a driver that starts makes them."""
        made = contents(
            self.key.driver,
            seed=self.key.pool,
            count=self.count,
            driver_version=self.driver_version,
        )
        short = self.node or self.key.pool.replace("/", "-")
        return [
            objects.resource_slice(
                f"{number:05x}-{self.key.driver}-{short}-{objects.suffix(rng)}",
                driver=self.key.driver,
                pool=self.key.pool,
                generation=generation,
                count=len(made),
                where=self.where,
                owner_uid=self.owner_uid,
                content=content,
            )
            for number, content in enumerate(made)
        ]


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """A device class, and what its expression means: a driver, and attributes that must be equal."""

    name: str
    driver: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    extended_resource_name: str | None = None

    @property
    def expression(self) -> str:
        tests = [f'device.driver == "{self.driver}"']
        tests += [
            f'device.attributes["{self.driver}"].{name} == "{value}"'
            for name, value in self.attributes.items()
        ]
        return " && ".join(tests)


CLASSES: Final = {
    plan.name: plan
    for plan in (
        ClassPlan("gpu.example.com", GPU, extended_resource_name="example.com/gpu"),
        ClassPlan("mig-1g", MIG, {"profile": "1g.10gb"}),
        ClassPlan("mig-2g", MIG, {"profile": "2g.20gb"}),
        ClassPlan("mig-3g", MIG, {"profile": "3g.40gb"}),
        ClassPlan("mig-full", MIG, {"profile": "7g.80gb"}),
        ClassPlan("rdma-nic", NIC, {"type": "rdma"}),
        ClassPlan("cpus", CPU, {"type": "cpus"}),
        ClassPlan("fpga", FPGA, {"type": "fpga"}),
        ClassPlan("fpga-video", FPGA, {"bitstream": "video-transcode"}),
    )
}


@dataclass(slots=True)
class Fleet:
    """The plan of all pools. Drivers are rolled out by changing it; what is published is in the cluster."""

    nodes: dict[str, Object]
    plans: dict[PoolKey, PoolPlan]

    def of_driver(self, driver: str) -> list[PoolPlan]:
        return [plan for key, plan in sorted(self.plans.items()) if key.driver == driver]

    def of_node(self, node: str) -> list[PoolPlan]:
        return [plan for _, plan in sorted(self.plans.items()) if plan.node == node]

    def upgrade(self, plan: PoolPlan) -> PoolPlan:
        """The same pool under the driver's other version."""
        driver = DRIVERS[plan.key.driver]
        is_old = plan.driver_version == driver.first_version
        changed = replace(
            plan, driver_version=driver.next_version if is_old else driver.first_version
        )
        self.plans[plan.key] = changed
        return changed


def plan_fleet(rng: random.Random, *, stamp: str) -> Fleet:
    nodes: dict[str, Object] = {}
    plans: dict[PoolKey, PoolPlan] = {}
    for prefix, how_many, published in _NODES:
        for number in range(1, how_many + 1):
            name = f"{prefix}-{number:02d}"
            uid = objects.new_uid(rng)
            labels = {
                "topology.kubernetes.io/zone": ZONES[number % 2],
                "node.example.com/group": prefix,
            }
            nodes[name] = objects.node(name, uid=uid, labels=labels, stamp=stamp)
            for driver, count in published:
                plan = _node_plan(driver, name, uid, count)
                plans[plan.key] = plan
    fabric = _fabric_plan()
    plans[fabric.key] = fabric
    return Fleet(nodes, plans)


def _node_plan(driver: str, node: str, uid: str, count: int) -> PoolPlan:
    return PoolPlan(
        PoolKey(driver, node), count, {"nodeName": node}, uid, DRIVERS[driver].first_version
    )


def _fabric_plan() -> PoolPlan:
    """Cards that any node of one zone can reach: a pool of no node, with a slash in its name."""
    zone = {
        "key": "topology.kubernetes.io/zone",
        "operator": "In",
        "values": ["east"],
    }
    where = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    return PoolPlan(PoolKey(FPGA, FABRIC_POOL), 2, where, None, DRIVERS[FPGA].first_version)


def fleet_objects(fleet: Fleet, rng: random.Random, *, stamp: str) -> Iterator[Object]:
    """Everything but claims, in an order in which it could have been made."""
    for name, labels in _NAMESPACES:
        yield objects.namespace(name, labels=labels)
    yield from fleet.nodes.values()
    for plan in CLASSES.values():
        yield objects.device_class(
            plan.name,
            expression=plan.expression,
            extended_resource_name=plan.extended_resource_name,
        )
    for _, pool in sorted(fleet.plans.items()):
        yield from _first_slices(pool, rng, stamp=stamp)
    yield objects.taint_rule(
        "gpu-07-maintenance",
        selector={"driver": GPU, "pool": "gpu-07"},
        key="maintenance.example.com/planned",
        value="firmware",
        effect="NoSchedule",
        stamp=stamp,
    )
    yield objects.taint_rule(
        "mig-burn-in",
        selector={"driver": MIG, "pool": "mig-08"},
        key="burn-in.example.com/running",
        value="",
        effect="None",
        stamp=stamp,
    )


def _first_slices(plan: PoolPlan, rng: random.Random, *, stamp: str) -> Iterable[Object]:
    slices = plan.slices(1, rng)
    if plan.key.driver != FPGA:
        return slices
    return _troubled(plan, slices, rng, stamp=stamp)


def _troubled(
    plan: PoolPlan, slices: list[Object], rng: random.Random, *, stamp: str
) -> list[Object]:
    """The FPGA driver's pools: most have something."""
    if plan.key.pool == "fpga-02":
        taint(slices[0], 1, key="fpga.example.com/overheated", effect="NoExecute", stamp=stamp)
    elif plan.key.pool == INCOMPLETE_POOL:
        return slices[:1]
    elif plan.key.pool == INVALID_POOL:
        slices[1]["spec"]["devices"][0]["name"] = "fpga-0"
    elif plan.key.pool == "fpga-05":
        left_over = plan.slices(1, rng)[1]
        newer = plan.slices(2, rng)
        taint(newer[1], 0, key="fpga.example.com/slow-link", effect="None", stamp=stamp)
        return [left_over, *newer]
    return slices


def taint(slice_: Object, device: int, *, key: str, effect: str, stamp: str) -> None:
    """Add a taint to a device of a slice, in place."""
    taints = slice_["spec"]["devices"][device].setdefault("taints", [])
    taints.append({"key": key, "value": "true", "effect": effect, "timeAdded": stamp})
