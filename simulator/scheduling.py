"""Which devices a claim gets, by the scheduler's rules: the simulated cluster never gives out what it does not have.

Kept apart from `dra.pools` on purpose, so that one can be checked against the other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dra.quantity import parse_quantity
from simulator.fleet import CLASSES, ClassPlan, PoolKey
from simulator.objects import Object

_BLOCKING: Final = frozenset({"NoSchedule", "NoExecute"})


class Key(NamedTuple):
    driver: str
    pool: str
    device: str


@dataclass(slots=True)
class _Device:
    key: Key
    body: Mapping[str, Any]
    taints: list[Mapping[str, Any]]

    @property
    def is_shareable(self) -> bool:
        return bool(self.body.get("allowMultipleAllocations"))


@dataclass(slots=True)
class _Pool:
    """`nodes`: where its devices can be used; None is anywhere. `left`: shared counters, by set and name."""

    key: PoolKey
    nodes: frozenset[str] | None
    devices: list[_Device]
    left: dict[tuple[str, str], int]


@dataclass(slots=True)
class Inventory:
    """What is published and what is taken. Built from objects, kept up by `take`."""

    pools: list[_Pool]
    holders: Counter[Key] = field(default_factory=Counter)
    consumed: defaultdict[tuple[Key, str], int] = field(default_factory=lambda: defaultdict(int))

    def allocate(
        self, requests: Sequence[Object], nodes: Iterable[str]
    ) -> tuple[str, list[Object]] | None:
        """The node and the results for a claim, on the first node that has all of it. Nothing is taken yet."""
        for node in nodes:
            results = self._allocate_on(node, requests)
            if results is not None:
                return node, results
        return None

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
        before = self.holders[key]
        self.holders[key] += sign
        for name, amount in (result.get("consumedCapacity") or {}).items():
            self.consumed[key, name] += sign * amount_of(amount)
        if (before == 0 and sign > 0) or (before == 1 and sign < 0):
            for pool in self.pools:
                if pool.key == (key.driver, key.pool):
                    _draw(pool, key, sign)

    def _next_device(self, node: str, request: Object, given: Sequence[Object]) -> Object | None:
        plan = CLASSES.get(request["exactly"]["deviceClassName"])
        if plan is None:
            return None
        mine = {(r["driver"], r["pool"], r["device"]) for r in given}
        for pool in self.pools:
            if pool.key.driver != plan.driver or not _reaches(pool, node):
                continue
            for device in pool.devices:
                # One claim does not get two shares of a device.
                if device.key not in mine:
                    result = self._try(pool, device, request, plan)
                    if result is not None:
                        return result
        return None

    def _try(
        self, pool: _Pool, device: _Device, request: Object, plan: ClassPlan
    ) -> Object | None:
        exactly = request["exactly"]
        tolerations = exactly.get("tolerations") or ()
        if not _matches(device, plan) or not _tolerates(device, tolerations):
            return None
        held = self.holders[device.key]
        if held and not device.is_shareable:
            return None
        if not held and not _fits(pool, device):
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
            left = amount_of(capacity["value"]) - self.consumed[device.key, name]
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
    return asked if wanted == amount_of(asked) else _text(wanted)


def amount_of(raw: Any) -> int:
    """In units of 1e-9, so that sums are exact."""
    quantity = parse_quantity(raw)
    if quantity is None:
        message = f"not a quantity: {raw!r}"
        raise ValueError(message)
    return quantity.nanos


def _text(nanos: int) -> str:
    return str(nanos // 10**9) if nanos % 10**9 == 0 else f"{nanos}n"


def take_inventory(
    slices: Iterable[Object],
    claims: Iterable[Object],
    rules: Iterable[Object],
    nodes: Iterable[Object],
) -> Inventory:
    """Only complete and valid pools have anything to give; of each, only the newest generation."""
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
    inventory = Inventory(pools)
    for claim in claims:
        allocation = (claim.get("status") or {}).get("allocation") or {}
        inventory.take((allocation.get("devices") or {}).get("results") or ())
    return inventory


def _pool(
    key: PoolKey,
    slices: list[Object],
    rules: Sequence[Object],
    labels: Mapping[str, Mapping[str, str]],
) -> _Pool | None:
    if any(one["spec"]["pool"]["resourceSliceCount"] != len(slices) for one in slices):
        return None
    left: dict[tuple[str, str], int] = {}
    devices = []
    for one in slices:
        for counter_set in one["spec"].get("sharedCounters") or ():
            for name, counter in counter_set["counters"].items():
                left[counter_set["name"], name] = amount_of(counter["value"])
        for body in one["spec"].get("devices") or ():
            device_key = Key(key.driver, key.pool, body["name"])
            taints = [*(body.get("taints") or ()), *_rule_taints(device_key, rules)]
            devices.append(_Device(device_key, body, taints))
    if len({device.key for device in devices}) < len(devices):
        return None
    if any(counter not in left for device in devices for counter, _ in _uses(device)):
        return None
    return _Pool(key, _nodes(slices[0]["spec"], labels), devices, left)


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
    found = []
    for rule in rules:
        selector = rule["spec"].get("deviceSelector")
        if selector is not None and all(
            selector.get(part, value) == value for part, value in key._asdict().items()
        ):
            found.append(rule["spec"]["taint"])
    return found


def _uses(device: _Device) -> list[tuple[tuple[str, str], int]]:
    return [
        ((use["counterSet"], name), amount_of(counter["value"]))
        for use in device.body.get("consumesCounters") or ()
        for name, counter in use["counters"].items()
    ]


def _fits(pool: _Pool, device: _Device) -> bool:
    return all(pool.left[counter] >= amount for counter, amount in _uses(device))


def _draw(pool: _Pool, key: Key, sign: int) -> None:
    for device in pool.devices:
        if device.key == key:
            for counter, amount in _uses(device):
                pool.left[counter] -= sign * amount


def _reaches(pool: _Pool, node: str) -> bool:
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
