"""Values for tests of the core, with only what a test is about to be written out."""

from collections.abc import Mapping, Sequence
from typing import Any

from dra.pools import assess_pool
from dra.quantity import Quantity, parse_quantity
from dra.values import (
    AllocationResult,
    AssessedPool,
    Attribute,
    Capacity,
    ClaimRef,
    CounterSet,
    CounterUse,
    Device,
    DeviceKey,
    DeviceName,
    DeviceSelector,
    DriverName,
    NodeSelection,
    PoolKey,
    PoolName,
    Problem,
    Release,
    RequestPolicy,
    ResourceSlice,
    Taint,
    TaintRule,
)
from dra.words import statement_words

DRIVER = DriverName("gpu.example.com")
KEY = PoolKey(DRIVER, PoolName("node-a"))
NEWEST = Release(1, 37)


def quantity(text: str) -> Quantity:
    found = parse_quantity(text)
    assert found is not None
    return found


def amounts(texts: Mapping[str, str]) -> dict[str, Quantity]:
    return {name: quantity(text) for name, text in texts.items()}


def device(
    name: str,
    *,
    attributes: Mapping[str, str] | None = None,
    capacity: Mapping[str, str] | None = None,
    share: Mapping[str, str] | None = None,
    draws: Mapping[str, Mapping[str, str]] | None = None,
    taints: Sequence[str] = (),
    **fields: Any,
) -> Device:
    """`share` gives default amounts of one share; `draws` counters by set; `taints` effects."""
    policies = {key: RequestPolicy(quantity(text)) for key, text in (share or {}).items()}
    return Device(
        name=DeviceName(name),
        attributes={key: Attribute("string", text) for key, text in (attributes or {}).items()},
        capacity={
            key: Capacity(quantity(text), policies.get(key))
            for key, text in (capacity or {}).items()
        },
        consumes_counters=tuple(
            CounterUse(name, amounts(counters)) for name, counters in (draws or {}).items()
        ),
        taints=tuple(Taint("example.com/key", "", effect) for effect in taints),
        **fields,
    )


def resource_slice(
    name: str,
    *devices: Device,
    counters: Mapping[str, Mapping[str, str]] | None = None,
    node: str | None = "node-a",
    generation: int | None = 1,
    count: int | None = 1,
    key: PoolKey = KEY,
    **fields: Any,
) -> ResourceSlice:
    return ResourceSlice(
        name=name,
        uid=f"uid-{name}",
        driver=key.driver,
        pool=key.pool,
        generation=generation,
        resource_slice_count=count,
        node=NodeSelection("node", node) if node else NodeSelection("all"),
        devices=devices,
        counter_sets=tuple(
            CounterSet(set_name, amounts(values)) for set_name, values in (counters or {}).items()
        ),
        **fields,
    )


def allocation(
    device_name: str,
    *,
    claim: str = "claim",
    share: str | None = None,
    consumed: Mapping[str, str] | None = None,
    admin: bool = False,
    key: PoolKey = KEY,
) -> AllocationResult:
    return AllocationResult(
        key=DeviceKey(key.driver, key.pool, DeviceName(device_name)),
        claim=ClaimRef("default", claim, f"uid-{claim}"),
        request="request",
        share_id=share,
        has_admin_access=admin,
        consumed_capacity=amounts(consumed or {}),
    )


def taint_rule(
    *,
    selector: DeviceSelector | None,
    effect: str = "NoSchedule",
    name: str = "rule",
    has_unknown_selector_fields: bool = False,
) -> TaintRule:
    return TaintRule(
        name=name,
        uid=f"uid-{name}",
        selector=selector,
        taint=Taint("example.com/key", "", effect, rule=name),
        has_unknown_selector_fields=has_unknown_selector_fields,
    )


def assess(
    *slices: ResourceSlice,
    allocations: Sequence[AllocationResult] | None = (),
    rules: Sequence[TaintRule] | None = (),
    release: Release | None = NEWEST,
) -> AssessedPool:
    return assess_pool(KEY, slices, allocations=allocations, taint_rules=rules, release=release)


def told(problems: Sequence[Problem]) -> list[tuple[str, str, str]]:
    """Problems as people read them: code, words in English, severity."""
    return [(each.code, statement_words(each), each.severity) for each in problems]
