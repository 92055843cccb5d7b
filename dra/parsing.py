"""From the JSON of the API, of any served version, to the values of the core.

Nothing here raises on cluster data. What cannot be read is left out and named in a problem; what is not known yet is kept raw.
v1alpha3 and v1beta1 wrap a device in `basic`; v1beta2 and v1 do not. Each form is taken wherever it is met. All parsers share one
signature, so that a caller may choose by kind; only slices differ by version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

from dra.fields import Fields
from dra.quantity import Quantity, parse_quantity
from dra.values import (
    AllocationResult,
    Attribute,
    AttributeKind,
    Capacity,
    ClaimRef,
    ConsumerReference,
    CounterSet,
    CounterUse,
    Device,
    DeviceKey,
    DeviceName,
    DeviceSelector,
    DriverName,
    NodeSelection,
    PoolName,
    Problem,
    RequestPolicy,
    ResourceClaim,
    ResourceSlice,
    Taint,
    TaintRule,
)

T = TypeVar("T")

_SCALARS: Final[Mapping[str, type]] = {"int": int, "bool": bool, "string": str, "version": str}
_LISTS: Final[Mapping[str, type]] = {"ints": int, "bools": bool, "strings": str, "versions": str}
_DEVICE_FIELDS: Final = frozenset({
    "name", "basic", "attributes", "capacity", "consumesCounters", "nodeName", "nodeSelector", "allNodes", "taints",
    "bindsToNode", "bindingConditions", "bindingFailureConditions", "allowMultipleAllocations",
})  # fmt: skip
_SELECTOR_FIELDS: Final = frozenset({"driver", "pool", "device"})
_ALL_NODES: Final = NodeSelection("all")
_PER_DEVICE: Final = NodeSelection("per_device")
_NO_NODES: Final = NodeSelection("none")
_OPERATORS: Final = {"NotIn": "notin", "Gt": ">", "Lt": "<"}


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """What could be read of one object, None when it cannot be told what it is, and every problem found in it."""

    value: T | None
    problems: tuple[Problem, ...] = ()


def parse_resource_slice(obj: Any, *, api_version: str = "") -> Parsed[ResourceSlice]:
    """Read a ResourceSlice; `api_version` helps where the object, as an item of a list, does not name its own."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, spec = fields.child("metadata"), fields.child("spec")
    pool = spec.child("pool")
    driver, pool_name = spec.text("driver"), pool.text("name")
    if not driver or not pool_name:
        missing = "spec.driver" if not driver else "spec.pool.name"
        return unidentified(problems, kind="ResourceSlice", missing=missing)
    version = fields.text("apiVersion") or api_version
    generation, count = pool.integer("generation"), pool.integer("resourceSliceCount")
    node = _node_selection(spec, has_per_device=True)
    counter_sets = tuple(_counter_set(item) for item in spec.children("sharedCounters"))
    devices = tuple(_devices(spec, is_flat=version.endswith(("/v1", "/v1beta2"))))
    # Generation 0 is valid and left out by encoders that drop zeroes, so only a wrong type makes it unknown.
    if generation is None and not pool.has("generation"):
        generation = 0
    own = tuple(problems)
    parsed = ResourceSlice(
        name=metadata.text("name") or "",
        uid=metadata.text("uid") or "",
        driver=DriverName(driver),
        pool=PoolName(pool_name),
        generation=generation,
        resource_slice_count=count,
        node=node,
        devices=devices,
        counter_sets=counter_sets,
        partition_type_attribute=spec.text("partitionTypeAttribute") or None,
        resource_version=metadata.text("resourceVersion") or "",
        problems=own,
    )
    return Parsed(parsed, (*problems, *(p for device in devices for p in device.problems)))


def parse_resource_claim(obj: Any, *, api_version: str = "") -> Parsed[ResourceClaim]:
    """Read a ResourceClaim. An empty allocation is an allocation."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, status = fields.child("metadata"), fields.child("status")
    name = metadata.text("name")
    if not name:
        return unidentified(problems, kind="ResourceClaim", missing="metadata.name")
    ref = ClaimRef(metadata.text("namespace") or "", name, metadata.text("uid") or "")
    devices = status.child("allocation").child("devices")
    results = tuple(_allocation_results(devices, claim=ref))
    claim = ResourceClaim(
        ref=ref,
        is_allocated=status.has("allocation"),
        results=results,
        reserved_for=tuple(_consumer(item) for item in status.children("reservedFor")),
        deletion_timestamp=metadata.text("deletionTimestamp"),
        resource_version=metadata.text("resourceVersion") or "",
        problems=tuple(problems),
    )
    return Parsed(claim, tuple(problems))


def parse_taint_rule(obj: Any, *, api_version: str = "") -> Parsed[TaintRule]:
    """Read a DeviceTaintRule. A selector that is absent and one that is empty stay apart."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, spec = fields.child("metadata"), fields.child("spec")
    name = metadata.text("name")
    if not name:
        return unidentified(problems, kind="DeviceTaintRule", missing="metadata.name")
    selector, selected = spec.child("deviceSelector"), spec.raw.get("deviceSelector")
    rule = TaintRule(
        name=name,
        uid=metadata.text("uid") or "",
        selector=_device_selector(selector) if isinstance(selected, dict) else None,
        taint=read_taint(spec.child("taint"), rule=name),
        has_unknown_selector_fields=not _SELECTOR_FIELDS.issuperset(selector.raw),
        resource_version=metadata.text("resourceVersion") or "",
        problems=tuple(problems),
    )
    return Parsed(rule, tuple(problems))


def unidentified(problems: Sequence[Problem], *, kind: str, missing: str) -> Parsed[Any]:
    """What could be read of an object that lacks its name."""
    problem = Problem.of("unidentified_object", kind=kind, missing=missing)
    return Parsed(None, (*problems, problem))


def _devices(spec: Fields, *, is_flat: bool) -> list[Device]:
    devices = []
    for item in spec.children("devices"):
        # Problems of one device stay with that device.
        fields = Fields(item.raw, path=item.path, problems=[])
        device = _device(fields, is_flat=is_flat)
        if device is not None:
            devices.append(device)
            continue
        spec.problems.append(Problem.of("unidentified_device", field=item.path))
    return devices


def _device(fields: Fields, *, is_flat: bool) -> Device | None:
    name = fields.text("name")
    if not name:
        return None
    body = fields
    if fields.has("basic"):
        body = fields.child("basic")
        if is_flat:
            fields.problems.append(Problem.of("basic_in_flat_version", device=name))
    raw = body.raw
    return Device(
        name=DeviceName(name),
        attributes=_attributes(body) if "attributes" in raw else {},
        capacity=_capacities(body) if "capacity" in raw else {},
        consumes_counters=tuple(_counter_use(item) for item in body.children("consumesCounters")),
        taints=tuple(read_taint(item) for item in body.children("taints")),
        node=_device_node(body),
        allows_multiple_allocations=body.flag("allowMultipleAllocations"),
        binds_to_node=body.flag("bindsToNode"),
        binding_conditions=body.texts("bindingConditions"),
        binding_failure_conditions=body.texts("bindingFailureConditions"),
        extra={key: raw[key] for key in raw if key not in _DEVICE_FIELDS},
        problems=tuple(fields.problems),
    )


def _device_node(body: Fields) -> NodeSelection | None:
    node = _node_selection(body, has_per_device=False)
    return None if node.kind == "none" else node


def _attributes(body: Fields) -> dict[str, Attribute]:
    return {name: _attribute(body, name, raw) for name, raw in body.members("attributes")}


def _attribute(body: Fields, name: str, raw: Any) -> Attribute:
    if isinstance(raw, dict) and len(raw) == 1:
        ((kind, value),) = raw.items()
        if type(value) is _SCALARS.get(kind):
            return _scalar(kind, value)
        member = _LISTS.get(kind)
        if member and isinstance(value, list) and all(type(item) is member for item in value):
            return Attribute(kind, tuple(value))
    body.problems.append(Problem.of("unknown_attribute_type", attribute=name))
    return Attribute("unknown", raw)


@lru_cache(maxsize=1 << 16)
def _scalar(kind: AttributeKind, value: Any) -> Attribute:
    """The same attribute for the same value: fleets repeat a few values on every device."""
    return Attribute(kind, value)


def _capacities(body: Fields) -> dict[str, Capacity]:
    capacities = {}
    for name, raw in body.members("capacity"):
        capacity = _capacity(body, name, raw)
        if capacity is not None:
            capacities[name] = capacity
    return capacities


def _capacity(body: Fields, name: str, raw: Any) -> Capacity | None:
    """Since v1beta1 capacity is an object around its value; v1alpha3 had the value alone."""
    fields = raw if isinstance(raw, dict) else {"value": raw}
    quantity = parse_quantity(fields.get("value"))
    if quantity is None:
        place = f"{body.path}.capacity.{name}"
        body.complain(place, expected="quantity", found=fields.get("value"))
        return None
    if fields.get("requestPolicy") is None:
        return _plain_capacity(str(quantity), quantity)
    path = f"{body.path}.capacity.{name}"
    policy = Fields(raw, path=path, problems=body.problems).child("requestPolicy")
    return Capacity(quantity, _request_policy(policy))


@lru_cache(maxsize=1 << 14)
def _plain_capacity(_text: str, quantity: Quantity) -> Capacity:
    """The same value for the same amount. The text keeps `1Gi` and `1073741824`, which are equal, apart."""
    return Capacity(quantity)


def _request_policy(policy: Fields) -> RequestPolicy:
    valid_range = policy.child("validRange")
    return RequestPolicy(
        default=policy.quantity("default"),
        valid_values=policy.quantities("validValues"),
        minimum=valid_range.quantity("min"),
        maximum=valid_range.quantity("max"),
        step=valid_range.quantity("step"),
    )


def _counter_set(fields: Fields) -> CounterSet:
    return CounterSet(fields.text("name") or "", _counters(fields))


def _counter_use(fields: Fields) -> CounterUse:
    return CounterUse(fields.text("counterSet") or "", _counters(fields))


def _counters(fields: Fields) -> dict[str, Quantity]:
    counters = {}
    for name, raw in fields.members("counters"):
        value = raw.get("value") if isinstance(raw, dict) else None
        quantity = parse_quantity(value)
        if quantity is None:
            place = f"{fields.path}.counters.{name}"
            fields.complain(place, expected="quantity", found=value)
        else:
            counters[name] = quantity
    return counters


def read_taint(fields: Fields, *, rule: str | None = None) -> Taint:
    """A taint of a device, or of a node, which has the same fields."""
    return Taint(
        key=fields.text("key") or "",
        value=fields.text("value") or "",
        effect=fields.text("effect") or "",
        added_at=fields.text("timeAdded"),
        rule=rule,
    )


def _node_selection(fields: Fields, *, has_per_device: bool) -> NodeSelection:
    node_name = fields.text("nodeName")
    if node_name:
        return NodeSelection("node", node_name)
    if fields.has("nodeSelector"):
        return NodeSelection("selector", text=_selector_words(fields.child("nodeSelector")))
    if fields.flag("allNodes"):
        return _ALL_NODES
    if has_per_device and fields.flag("perDeviceNodeSelection"):
        return _PER_DEVICE
    return _NO_NODES


def _selector_words(selector: Fields) -> str:
    terms = []
    for term in selector.children("nodeSelectorTerms"):
        expressions = [*term.children("matchExpressions"), *term.children("matchFields")]
        terms.append(" and ".join(_expression_words(item) for item in expressions))
    return " or ".join(terms)


def _expression_words(expression: Fields) -> str:
    key, operator = expression.text("key") or "", expression.text("operator") or ""
    values = expression.texts("values")
    if operator == "Exists":
        return key
    if operator == "DoesNotExist":
        return f"!{key}"
    if operator == "In":
        return f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({', '.join(values)})"
    listed = f"({', '.join(values)})" if operator == "NotIn" else ", ".join(values)
    return f"{key} {_OPERATORS.get(operator, operator)} {listed}"


def _allocation_results(devices: Fields, *, claim: ClaimRef) -> list[AllocationResult]:
    results = []
    for item in devices.children("results"):
        driver, pool, device = item.text("driver"), item.text("pool"), item.text("device")
        if not driver or not pool or not device:
            item.complain(item.path, expected="device", found=item.raw)
            continue
        result = AllocationResult(
            key=DeviceKey(DriverName(driver), PoolName(pool), DeviceName(device)),
            claim=claim,
            request=item.text("request") or "",
            share_id=item.text("shareID") or None,
            has_admin_access=item.flag("adminAccess"),
            consumed_capacity=_consumed_capacity(item),
        )
        results.append(result)
    return results


def _consumed_capacity(item: Fields) -> dict[str, Quantity]:
    consumed = {}
    for name, raw in item.members("consumedCapacity"):
        quantity = parse_quantity(raw)
        if quantity is None:
            item.complain(f"{item.path}.consumedCapacity.{name}", expected="quantity", found=raw)
        else:
            consumed[name] = quantity
    return consumed


def _consumer(fields: Fields) -> ConsumerReference:
    return ConsumerReference(
        api_group=fields.text("apiGroup") or "",
        resource=fields.text("resource") or "",
        name=fields.text("name") or "",
        uid=fields.text("uid") or "",
    )


def _device_selector(fields: Fields) -> DeviceSelector:
    return DeviceSelector(fields.text("driver"), fields.text("pool"), fields.text("device"))
