"""A life for the simulated fleet: claims come and go, nodes reboot, drivers roll out, devices fall ill and recover.

What happens is decided by one seeded source of chance and by simulated time, so that a run can be repeated.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from simulator import claims, objects
from simulator.clock import Schedule
from simulator.devices import CPU, FPGA, GPU, MIG, NIC
from simulator.fleet import INCOMPLETE_POOL, INVALID_POOL, Fleet, PoolKey, PoolPlan
from simulator.objects import Object
from simulator.scheduling import Inventory, Key, Pool, results_of, survey
from simulator.store import Store

_ARRIVAL_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 15.0
# A kubelet deletes the slices of a driver that has been gone for so long.
_WIPE_SECONDS: Final = 30.0
# After so long without a sign of life a node counts as lost.
_LOST_SECONDS: Final = 40.0


class Life:
    def __init__(self, store: Store, schedule: Schedule, fleet: Fleet, *, seed: int) -> None:
        self._store = store
        self._schedule = schedule
        self._fleet = fleet
        self._random = random.Random(f"life {seed}")  # noqa: S311 -- repeatable, not secret
        # Pools that something is being done to already.
        self._busy: set[PoolKey] = set()
        self._known_pools: list[Pool] = []
        self._surveyed: list[int] = []
        # By key of the claim: the version that was read, and what it holds.
        self._known_results: dict[str, tuple[int, list[Object]]] = {}

    def begin(self) -> None:
        """Plan what happens next; the rest follows from it."""
        for claim in self._objects("ResourceClaim"):
            if claims.is_of_a_pod(claim):
                self._follow_up(claim)
        self._repeat(2.0, _ARRIVAL_SECONDS, self._arrive)
        self._repeat(20.0, 240.0, self._fall_ill)
        self._repeat(120.0, 900.0, self._reboot)
        self._repeat(240.0, 1800.0, self._roll_out)
        self._repeat(60.0, 1200.0, self._maintain)
        self._repeat(420.0, 900.0, self._publish_half)
        self._after(90.0, self._complete_first_pool)

    def _after(self, seconds: float, action: Callable[[], None]) -> None:
        self._schedule.after(seconds, action)

    def _repeat(self, first: float, mean: float, action: Callable[[], None]) -> None:
        """Again and again, at random intervals with this mean, none shorter than a third of it."""

        def again() -> None:
            action()
            self._after(mean / 3 + self._random.expovariate(1.5 / mean), again)

        self._after(first, again)

    def _objects(self, kind: str) -> list[Object]:
        return [{"kind": kind, **stored.decoded()} for stored in self._store.items(kind)]

    def _get(self, kind: str, key: str) -> Object | None:
        stored = self._store.get(kind, key)
        return None if stored is None else {"kind": kind, **stored.decoded()}

    def _put(self, obj: Object) -> None:
        self._store.put(obj)

    # Claims

    def _arrive(self) -> None:
        demand = claims.choose(self._random)
        claim = claims.pending(demand, self._random)
        self._put(claim)
        key = _key(claim)
        duration = self._random.expovariate(1 / demand.mean_seconds)
        self._after(0.3, partial(self._place, key, duration, patience=8))

    def _follow_up(self, claim: Object) -> None:
        key = _key(claim)
        duration = self._random.expovariate(1 / 600.0)
        if results_of(claim):
            self._after(duration, partial(self._end, key))
        else:
            self._after(1.0, partial(self._place, key, duration, patience=8))

    def _inventory(self) -> Inventory:
        return Inventory(self._pools(), self._results())

    def _results(self) -> Iterator[Object]:
        """Of all allocations. Claims that have not changed since the last time are not read again."""
        known = self._known_results
        self._known_results = {}
        for stored in self._store.items("ResourceClaim"):
            held = known.get(stored.key)
            if held is None or held[0] != stored.resource_version:
                held = (stored.resource_version, results_of(stored.decoded()))
            self._known_results[stored.key] = held
            yield from held[1]

    def _pools(self) -> list[Pool]:
        """Looked over again only after something was published, tainted or labelled."""
        kinds = ("ResourceSlice", "DeviceTaintRule", "Node")
        versions = [self._store.last_change(kind) for kind in kinds]
        if versions != self._surveyed:
            slices, rules, nodes = (self._objects(kind) for kind in kinds)
            self._known_pools = survey(slices, rules, nodes)
            self._surveyed = versions
        return self._known_pools

    def _ready_nodes(self) -> list[str]:
        return [
            node["metadata"]["name"]
            for node in self._objects("Node")
            if node["status"]["conditions"][0]["status"] == "True"
        ]

    def _place(self, key: str, duration: float, *, patience: int) -> None:
        """What the scheduler does: devices for the claim now, or another try later. Pods give up at last."""
        claim = self._get("ResourceClaim", key)
        if claim is None or results_of(claim):
            return
        nodes = self._ready_nodes()
        self._random.shuffle(nodes)
        requests = claim["spec"]["devices"]["requests"]
        placed = self._inventory().allocate(requests, nodes)
        if placed is None:
            if patience:
                again = patience - 1
                self._after(_RETRY_SECONDS, partial(self._place, key, duration, patience=again))
            else:
                self._store.delete("ResourceClaim", key)
            return
        node, given = placed
        self._put(claims.with_finalizer(claim))
        stamp = self._schedule.stamp()
        self._put(claims.allocated(claim, node=node, given=given, rng=self._random, stamp=stamp))
        if any(result["driver"] == NIC for result in given):
            self._after(1.5, partial(self._report, key))
        self._after(duration, partial(self._end, key))

    def _report(self, key: str) -> None:
        claim = self._get("ResourceClaim", key)
        if claim is not None and results_of(claim):
            stamp = self._schedule.stamp()
            self._put(claims.with_device_status(claim, self._random, stamp=stamp))

    def _end(self, key: str) -> None:
        """The pod ended: its reservation goes, then the devices, then the claim."""
        claim = self._get("ResourceClaim", key)
        if claim is None or not results_of(claim):
            return
        self._put(claims.unreserved(claim))
        self._after(0.2, partial(self._free, key))

    def _free(self, key: str) -> None:
        claim = self._get("ResourceClaim", key)
        if claim is not None:
            self._put(claims.deallocated(claim))
            self._store.delete("ResourceClaim", key)

    # Devices

    def _fall_ill(self) -> None:
        candidates = [
            slice_
            for slice_ in self._objects("ResourceSlice")
            if slice_["spec"]["driver"] in {GPU, MIG, NIC, FPGA} and slice_["spec"].get("devices")
        ]
        if not candidates:
            return
        slice_ = self._random.choice(candidates)
        driver = slice_["spec"]["driver"]
        number = self._random.randrange(len(slice_["spec"]["devices"]))
        effect = self._random.choice(["NoSchedule", "NoSchedule", "NoExecute"])
        taint_key = f"{driver}/unhealthy"
        stamp = self._schedule.stamp()
        device = slice_["spec"]["devices"][number]
        taints = [*(device.get("taints") or ()), _taint(taint_key, effect, stamp)]
        device["taints"] = taints
        self._put(slice_)
        if effect == "NoExecute":
            pool = slice_["spec"]["pool"]["name"]
            self._evict(Key(driver, pool, device["name"]))
        name, ill = slice_["metadata"]["name"], device["name"]
        self._after(
            self._random.uniform(90.0, 300.0), partial(self._recover, name, ill, taint_key)
        )

    def _evict(self, device: Key) -> None:
        """Pods on a device that must not run on end, unless they tolerate it."""
        for claim in self._objects("ResourceClaim"):
            if not claims.is_of_a_pod(claim):
                continue
            if any(
                (result["driver"], result["pool"], result["device"]) == device
                and not result.get("tolerations")
                for result in results_of(claim)
            ):
                key = _key(claim)
                self._after(2.0, partial(self._end, key))

    def _recover(self, slice_name: str, device_name: str, taint_key: str) -> None:
        slice_ = self._get("ResourceSlice", slice_name)
        if slice_ is None:
            return
        for device in slice_["spec"].get("devices") or ():
            if device["name"] == device_name and "taints" in device:
                device["taints"] = [t for t in device["taints"] if t["key"] != taint_key]
                if not device["taints"]:
                    del device["taints"]
        self._put(slice_)

    def _maintain(self) -> None:
        """An admin takes the GPUs of one node out of scheduling for some minutes."""
        plan = self._random.choice(self._fleet.of_driver(GPU))
        name = f"{plan.key.pool}-planned"
        rule = objects.taint_rule(
            name,
            selector={"driver": GPU, "pool": plan.key.pool},
            key="maintenance.example.com/planned",
            value="cabling",
            effect="NoSchedule",
            stamp=self._schedule.stamp(),
        )
        self._put(rule)
        self._after(300.0, partial(self._forget_rule, name))

    def _forget_rule(self, name: str) -> None:
        self._store.delete("DeviceTaintRule", name)

    # Pools

    def _reboot(self) -> None:
        """A node goes away and comes back. Its slices outlive it for a while; its claims keep their devices."""
        idle = [
            name
            for name in sorted(self._fleet.nodes)
            if not self._busy.intersection(plan.key for plan in self._fleet.of_node(name))
            and INVALID_POOL != name != INCOMPLETE_POOL
        ]
        if not idle:
            return
        node = self._random.choice(idle)
        keys = {plan.key for plan in self._fleet.of_node(node)}
        self._busy |= keys
        back = self._random.uniform(60.0, 120.0)
        self._after(_WIPE_SECONDS, partial(self._wipe, node))
        self._after(_LOST_SECONDS, partial(self._set_ready, node, "Unknown"))
        self._after(back, partial(self._set_ready, node, "True"))
        for number, plan in enumerate(self._fleet.of_node(node), 1):
            self._after(
                back + 3.0 * number,
                partial(self._publish_anew, plan),
            )

    def _wipe(self, node: str) -> None:
        for slice_ in self._objects("ResourceSlice"):
            if slice_["spec"].get("nodeName") == node:
                self._store.delete("ResourceSlice", slice_["metadata"]["name"])

    def _set_ready(self, node: str, status: str) -> None:
        obj = self._get("Node", node)
        if obj is not None:
            ready = objects.ready_condition(status, stamp=self._schedule.stamp())
            obj["status"]["conditions"] = [ready]
            self._put(obj)

    def _publish_anew(self, plan: PoolPlan) -> None:
        """A driver that finds nothing of its own starts at generation 1, with new names."""
        current = self._fleet.plans[plan.key]
        for slice_ in current.slices(1, self._random):
            self._put(slice_)
        self._busy.discard(plan.key)

    def _roll_out(self) -> None:
        """A driver is updated on one node after the other; each publishes its pool anew."""
        driver = self._random.choice([GPU, MIG, NIC, CPU, FPGA])
        plans = [
            plan
            for plan in self._fleet.of_driver(driver)
            if plan.key not in self._busy and plan.key.pool != INVALID_POOL
        ]
        for number, plan in enumerate(plans):
            self._busy.add(plan.key)
            self._after(3.0 * number, partial(self._upgrade, plan.key))

    def _upgrade(self, key: PoolKey) -> None:
        self._republish(self._fleet.upgrade(self._fleet.plans[key]), pause=0.5)

    def _publish_half(self) -> None:
        """A pool of two slices stays at one for minutes."""
        plans = [
            plan
            for plan in self._fleet.of_driver(FPGA)
            if plan.count > 2 and plan.key not in self._busy and plan.key.pool != INVALID_POOL
        ]
        if plans:
            plan = self._random.choice(plans)
            self._busy.add(plan.key)
            self._republish(plan, pause=self._random.uniform(60.0, 180.0))

    def _complete_first_pool(self) -> None:
        """What was missing when the cluster began appears, in the generation that is there."""
        plan = self._fleet.plans[PoolKey(FPGA, INCOMPLETE_POOL)]
        present = self._slices_of(plan.key)
        if len(present) == 1 and plan.key not in self._busy:
            generation = present[0]["spec"]["pool"]["generation"]
            self._put(plan.slices(generation, self._random)[1])

    def _slices_of(self, key: PoolKey) -> list[Object]:
        return [
            slice_
            for slice_ in self._objects("ResourceSlice")
            if (slice_["spec"]["driver"], slice_["spec"]["pool"]["name"]) == key
        ]

    def _republish(self, plan: PoolPlan, *, pause: float) -> None:
        """The next generation, slice by slice. Slices that are there are reused, what is left over is deleted."""
        present = self._slices_of(plan.key)
        newest = max((s["spec"]["pool"]["generation"] for s in present), default=0)
        coming = plan.slices(newest + 1, self._random)
        for made, old in zip(coming, present, strict=False):
            made["metadata"]["name"] = old["metadata"]["name"]
        for number, slice_ in enumerate(coming):
            self._after(pause * number, partial(self._put, slice_))
        left_over = [old["metadata"]["name"] for old in present[len(coming) :]]
        self._after(pause * len(coming), partial(self._finish, plan.key, left_over))

    def _finish(self, key: PoolKey, left_over: list[str]) -> None:
        for name in left_over:
            self._store.delete("ResourceSlice", name)
        self._busy.discard(key)


def _key(claim: Object) -> str:
    metadata: dict[str, Any] = claim["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


def _taint(key: str, effect: str, stamp: str) -> Object:
    return {"key": key, "value": "true", "effect": effect, "timeAdded": stamp}
