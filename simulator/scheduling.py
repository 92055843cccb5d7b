"""Which devices a claim gets, by the scheduler's rules: the simulated cluster never gives out what it does not have.

Kept apart from `dra.pools` on purpose, so that one can be checked against the other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from dra.quantity import Quantity, parse_quantity
from simulator.fleet import CLASSES, ClassPlan, PoolKey
from simulator.objects import Object

_BLOCKING: Final = frozenset({"NoSchedule", "NoExecute"})


class Key(NamedTuple):
    driver: str
    pool: str
    device: str


@dataclass(frozen=True, slots=True)
class _Device:
    """`uses`: what it draws from shared counters, by set and name."""

    key: Key
    body: Mapping[str, Any]
    taints: Sequence[Mapping[str, Any]]
    uses: Sequence[tuple[tuple[str, str], int]]

    @property
    def is_shareable(self) -> bool:
        return bool(self.body.get("allowMultipleAllocations"))


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool that can give. `nodes`: where its devices can be used; None is anywhere."""

    key: PoolKey
    nodes: frozenset[str] | None
    devices: Mapping[Key, _Device]
    counters: Mapping[tuple[str, str], int]


class Inventory:
    """What is taken of the pools that can give, and what is left."""

    def __init__(self, pools: Sequence[Pool], results: Iterable[Object] = ()) -> None:
        """`results`: of all allocations there are."""
        self._pools = pools
        self._by_key = {pool.key: pool for pool in pools}
        # Of shared counters, by pool, set and name.
        self._left = {
            (pool.key, counter): amount
            for pool in pools
            for counter, amount in pool.counters.items()
        }
        self._holders: Counter[Key] = Counter()
        self._consumed: defaultdict[tuple[Key, str], int] = defaultdict(int)
        self.take(results)

    def allocate(
        self, requests: Sequence[Object], nodes: Iterable[str]
    ) -> tuple[str, list[Object]] | None:
        """The node and the results for a claim, on the first node that has all of it. Nothing is taken yet."""
        for node in nodes:
            results = self._allocate_on(node, requests)
            if results is not None:
                return node, results
        return None

    def gives(self, key: Key) -> bool:
        """Whether a claim for this very device, with nothing else asked, could get it now."""
        pool = self._by_key.get(PoolKey(key.driver, key.pool))
        device = pool.devices.get(key) if pool else None
        if pool is None or device is None:
            return False
        anything = ClassPlan("", key.driver)
        return self._try(pool, device, {"name": "", "exactly": {}}, anything) is not None

    def _allocate_on(self, node: str, requests: Sequence[Object]) -> list[Object] | None:
        given: list[Object] = []
        try:
            for request in requests:
                for _ in range(request["exactly"].get("count", 1)):
                    result = self._next_device(node, request, given)
                    if result is None:
                        return None
                    self._add(result, 1)
                    given.append(result)
            return given
        finally:
            for result in given:
                self._add(result, -1)

    def take(self, results: Iterable[Object]) -> None:
        for result in results:
            self._add(result, 1)

    def _add(self, result: Object, sign: int) -> None:
        """Give a device, or one share of it, away (1) or back (-1). Counters are drawn once for a device."""
        if result.get("adminAccess"):
            return
        key = Key(result["driver"], result["pool"], result["device"])
        before = self._holders[key]
        self._holders[key] += sign
        for name, amount in (result.get("consumedCapacity") or {}).items():
            self._consumed[key, name] += sign * amount_of(amount)
        if (before == 0 and sign > 0) or (before == 1 and sign < 0):
            self._draw(key, sign)

    def _draw(self, key: Key, sign: int) -> None:
        pool = self._by_key.get(PoolKey(key.driver, key.pool))
        device = pool.devices.get(key) if pool else None
        if pool is not None and device is not None:
            for counter, amount in device.uses:
                self._left[pool.key, counter] -= sign * amount

    def _fits(self, pool: Pool, device: _Device) -> bool:
        return all(self._left[pool.key, counter] >= amount for counter, amount in device.uses)

    def _next_device(self, node: str, request: Object, given: Sequence[Object]) -> Object | None:
        plan = CLASSES.get(request["exactly"]["deviceClassName"])
        if plan is None:
            return None
        mine = {(r["driver"], r["pool"], r["device"]) for r in given}
        for pool in self._pools:
            if pool.key.driver != plan.driver or not _reaches(pool, node):
                continue
            for device in pool.devices.values():
                # One claim does not get two shares of a device.
                if device.key not in mine:
                    result = self._try(pool, device, request, plan)
                    if result is not None:
                        return result
        return None

    def _try(self, pool: Pool, device: _Device, request: Object, plan: ClassPlan) -> Object | None:
        exactly = request["exactly"]
        tolerations = exactly.get("tolerations") or ()
        if not _matches(device, plan) or not _tolerates(device, tolerations):
            return None
        held = self._holders[device.key]
        if held and not device.is_shareable:
            return None
        if not held and not self._fits(pool, device):
            return None
        result: Object = {"request": request["name"], **device.key._asdict()}
        if tolerations:
            result["tolerations"] = [dict(toleration) for toleration in tolerations]
        if device.is_shareable:
            asked = (exactly.get("capacity") or {}).get("requests") or {}
            consumed = self._share(device, asked)
            if consumed is None:
                return None
            result["consumedCapacity"] = consumed
        return result

    def _share(self, device: _Device, asked: Mapping[str, str]) -> dict[str, str] | None:
        """What one share consumes of each capacity, None when there is not that much left."""
        consumed = {}
        capacities = device.body.get("capacity") or {}
        if asked.keys() - capacities.keys():
            return None
        for name, capacity in capacities.items():
            amount = share_amount(capacity, asked.get(name))
            if amount is None:
                return None
            left = amount_of(capacity["value"]) - self._consumed[device.key, name]
            if amount_of(amount) > left:
                return None
            consumed[name] = amount
        return consumed


def share_amount(capacity: Mapping[str, Any], asked: str | None) -> str | None:
    """What a share takes: what was asked, rounded up as the policy says; None when the policy has no such amount."""
    policy = capacity.get("requestPolicy")
    if policy is None:
        return asked if asked is not None else str(capacity["value"])
    if asked is None:
        return str(policy["default"])
    wanted = amount_of(asked)
    if values := policy.get("validValues"):
        enough = [str(value) for value in values if amount_of(value) >= wanted]
        return enough[0] if enough else None
    valid = policy.get("validRange") or {}
    low = amount_of(valid["min"]) if "min" in valid else 0
    if wanted <= low:
        return str(valid["min"])
    if "step" in valid:
        step = amount_of(valid["step"])
        wanted = low + math.ceil((wanted - low) / step) * step
    if "max" in valid and wanted > amount_of(valid["max"]):
        return None
    return asked if wanted == amount_of(asked) else _written(wanted, like=asked)


@lru_cache(maxsize=4096)
def amount_of(raw: str | int) -> int:
    """In units of 1e-9, so that sums are exact."""
    quantity = parse_quantity(raw)
    if quantity is None:
        message = f"not a quantity: {raw!r}"
        raise ValueError(message)
    return quantity.nanos


def _written(amount: int, *, like: str) -> str:
    """An amount as the API server would print it, in the format of another."""
    other = parse_quantity(like)
    return str(Quantity(amount, other.format) if other else Quantity(amount))


def results_of(claim: Object) -> list[Object]:
    """What a claim holds; nothing while it is not allocated."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return list((allocation.get("devices") or {}).get("results") or ())


def survey(
    slices: Iterable[Object], rules: Iterable[Object], nodes: Iterable[Object]
) -> list[Pool]:
    """The pools that can give: complete and valid ones; of each, only the newest generation."""
    gathered: defaultdict[PoolKey, list[Object]] = defaultdict(list)
    for obj in slices:
        spec = obj["spec"]
        gathered[PoolKey(spec["driver"], spec["pool"]["name"])].append(obj)
    labels = {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in nodes}
    rules = list(rules)
    pools = []
    for key, members in sorted(gathered.items()):
        newest = max(member["spec"]["pool"].get("generation", 0) for member in members)
        current = sorted(
            (m for m in members if m["spec"]["pool"].get("generation", 0) == newest),
            key=lambda member: str(member["metadata"]["name"]),
        )
        pool = _pool(key, current, rules, labels)
        if pool is not None:
            pools.append(pool)
    return pools


def _pool(
    key: PoolKey,
    slices: list[Object],
    rules: Sequence[Object],
    labels: Mapping[str, Mapping[str, str]],
) -> Pool | None:
    if any(one["spec"]["pool"]["resourceSliceCount"] != len(slices) for one in slices):
        return None
    counters = {
        (counter_set["name"], name): amount_of(counter["value"])
        for one in slices
        for counter_set in one["spec"].get("sharedCounters") or ()
        for name, counter in counter_set["counters"].items()
    }
    devices_there = [
        _device(Key(key.driver, key.pool, body["name"]), body, rules)
        for one in slices
        for body in one["spec"].get("devices") or ()
    ]
    devices = {device.key: device for device in devices_there}
    if len(devices) < len(devices_there):
        return None
    if any(counter not in counters for device in devices_there for counter, _ in device.uses):
        return None
    return Pool(key, _nodes(slices[0]["spec"], labels), devices, counters)


def _device(key: Key, body: Mapping[str, Any], rules: Iterable[Object]) -> _Device:
    taints = [*(body.get("taints") or ()), *_rule_taints(key, rules)]
    uses = [
        ((use["counterSet"], name), amount_of(counter["value"]))
        for use in body.get("consumesCounters") or ()
        for name, counter in use["counters"].items()
    ]
    return _Device(key, body, taints, uses)


def _nodes(
    spec: Mapping[str, Any], labels: Mapping[str, Mapping[str, str]]
) -> frozenset[str] | None:
    if spec.get("nodeName"):
        return frozenset({spec["nodeName"]})
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms")
    if not terms:
        return None
    wanted = terms[0].get("matchExpressions") or ()
    return frozenset(
        name
        for name, own in labels.items()
        if all(own.get(one["key"]) in one.get("values", ()) for one in wanted)
    )


def _rule_taints(key: Key, rules: Iterable[Object]) -> list[Mapping[str, Any]]:
    taints = []
    for rule in rules:
        selector = rule["spec"].get("deviceSelector")
        if selector is not None and all(
            selector.get(part, value) == value for part, value in key._asdict().items()
        ):
            taints.append(rule["spec"]["taint"])
    return taints


def _reaches(pool: Pool, node: str) -> bool:
    return pool.nodes is None or node in pool.nodes


def _matches(device: _Device, plan: ClassPlan) -> bool:
    attributes = device.body.get("attributes") or {}
    return all(
        (attributes.get(name) or {}).get("string") == value
        for name, value in plan.attributes.items()
    )


def _tolerates(device: _Device, tolerations: Iterable[Mapping[str, Any]]) -> bool:
    return all(
        taint["effect"] not in _BLOCKING or any(_covers(one, taint) for one in tolerations)
        for taint in device.taints
    )


def _covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in {None, "", taint["effect"]}:
        return False
    if toleration.get("key") not in {None, "", taint["key"]}:
        return False
    is_any = toleration.get("operator") == "Exists"
    return is_any or toleration.get("value", "") == taint.get("value", "")
