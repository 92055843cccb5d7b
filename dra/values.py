"""The values of the core: what slices, claims and taint rules say, once read. Frozen, and without behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NewType

from dra.catalogue import Severity, Statement
from dra.problems import severity_of
from dra.quantity import Quantity

DriverName = NewType("DriverName", str)
PoolName = NewType("PoolName", str)
DeviceName = NewType("DeviceName", str)


class Release(NamedTuple):
    """A minor release of Kubernetes, for behaviour that changed between them."""

    major: int
    minor: int


class PoolKey(NamedTuple):
    """A pool is named by its driver and its name; the same name under two drivers is two pools."""

    driver: DriverName
    pool: PoolName


class DeviceKey(NamedTuple):
    """A device is named by all three; names repeat across pools."""

    driver: DriverName
    pool: PoolName
    device: DeviceName

    @property
    def pool_key(self) -> PoolKey:
        """The pool that this device belongs to."""
        return PoolKey(self.driver, self.pool)


@dataclass(frozen=True, slots=True)
class Problem(Statement):
    """Something a person should know about an object: a code of `dra.problems`, with its parameters."""

    @property
    def severity(self) -> Severity:
        """How bad it is, which is a matter of the code alone."""
        return severity_of(self.code)


AttributeKind = Literal[
    "int", "bool", "string", "version", "ints", "bools", "strings", "versions", "unknown"
]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute; `value` is int, bool, str or a tuple of them. Of an unknown kind it is the raw JSON."""

    kind: AttributeKind
    value: Any


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """Which amounts of a shareable device's capacity one share may take."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    minimum: Quantity | None = None
    maximum: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much of one thing a device has."""

    value: Quantity
    policy: RequestPolicy | None = None


@dataclass(frozen=True, slots=True)
class CounterSet:
    """Counters that devices of the pool draw from together."""

    name: str
    counters: Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class CounterUse:
    """What one device draws from one counter set when it is allocated."""

    counter_set: str
    counters: Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a device or of a node; `rule` names the DeviceTaintRule that sets it, None when the slice carries it."""

    key: str
    value: str
    effect: str
    added_at: str | None = None
    rule: str | None = None


NodeKind = Literal["node", "selector", "all", "per_device", "mixed", "none"]


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """Where devices can be used: `node_name` for kind node, `text` for a selector, and of mixed ones all that is said."""

    kind: NodeKind
    node_name: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Device:
    """A device as one slice publishes it."""

    name: DeviceName
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    capacity: Mapping[str, Capacity] = field(default_factory=dict)
    consumes_counters: tuple[CounterUse, ...] = ()
    taints: tuple[Taint, ...] = ()
    node: NodeSelection | None = None
    """Only set under per-device node selection."""
    allows_multiple_allocations: bool = False
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields that this release of the core does not know, as raw JSON."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceSlice:
    """A ResourceSlice of any served version. Numbers are None when they were missing or unreadable."""

    name: str
    uid: str
    driver: DriverName
    pool: PoolName
    generation: int | None
    resource_slice_count: int | None
    node: NodeSelection
    devices: tuple[Device, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()
    partition_type_attribute: str | None = None
    resource_version: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def pool_key(self) -> PoolKey:
        """The pool that this slice is a part of."""
        return PoolKey(self.driver, self.pool)


@dataclass(frozen=True, slots=True)
class ClaimRef:
    """Names a ResourceClaim."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class AllocationResult:
    """One result of one claim's allocation: a device, or with `share_id` one share of it."""

    key: DeviceKey
    claim: ClaimRef
    request: str
    share_id: str | None = None
    has_admin_access: bool = False
    consumed_capacity: Mapping[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConsumerReference:
    """An entry of `reservedFor`; not always a pod."""

    api_group: str
    resource: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ResourceClaim:
    """A ResourceClaim, as far as devices are concerned. `is_allocated` holds for an empty allocation as well."""

    ref: ClaimRef
    is_allocated: bool
    results: tuple[AllocationResult, ...] = ()
    reserved_for: tuple[ConsumerReference, ...] = ()
    deletion_timestamp: str | None = None
    resource_version: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceSelector:
    """What a taint rule selects; what is None matches everything."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class TaintRule:
    """A DeviceTaintRule. A missing selector and an empty one are opposites in 1.37, and differ by release."""

    name: str
    uid: str
    selector: DeviceSelector | None
    taint: Taint
    has_unknown_selector_fields: bool = False
    resource_version: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class CounterLeft:
    """One shared counter of a pool: `left` after what allocated devices draw, never below zero. None is unknown."""

    counter_set: str
    name: str
    total: Quantity
    left: Quantity | None


DeviceState = Literal["allocated", "unavailable", "blocked", "available", "unknown"]


@dataclass(frozen=True, slots=True)
class CapacityUse:
    """One capacity key: `available` = total - consumed, never below zero. None is unknown."""

    name: str
    total: Quantity
    consumed: Quantity | None
    available: Quantity | None


@dataclass(frozen=True, slots=True)
class AssessedDevice:
    """A device of the newest generation of its pool, and what holds for it now."""

    key: DeviceKey
    device: Device
    slice_name: str
    slice_uid: str
    generation: int | None
    node: NodeSelection
    state: DeviceState
    is_partly_used: bool | None
    """Allocated, allows multiple allocations, and has room for another share; None is unknown."""
    taints: tuple[Taint, ...] = ()
    """Of the slice and of taint rules, each once."""
    holders: tuple[AllocationResult, ...] = ()
    """Allocation results for it, those with admin access among them."""
    capacity: tuple[CapacityUse, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceCounts:
    """Devices of one pool by state. None is unknown. Known totals add up: allocated + unavailable + blocked + available."""

    total: int | None
    seen: int
    allocated: int | None
    partly_used: int | None
    unavailable: int | None
    blocked: int | None
    available: int | None
    admin_access: int | None
    """Devices that are named by a result with admin access; whether held otherwise or not."""


@dataclass(frozen=True, slots=True)
class Partition:
    """How many devices of one partition type there are, and how many of this type alone could still be allocated.

    Alternatives against one set of counters: never to be added up. `allocatable` leaves out tainted devices, which a claim
    without tolerations cannot get (the server counts them).
    """

    attribute: str
    type: str
    total: int
    allocatable: int | None


@dataclass(frozen=True, slots=True)
class AssessedPool:
    """A pool: what its newest generation offers, and who holds it."""

    key: PoolKey
    generation: int | None
    is_complete: bool
    is_valid: bool
    slices_seen: int
    slices_expected: int | None
    """What the newest slices declare; None when they disagree or do not say."""
    node: NodeSelection
    counts: DeviceCounts
    partitions: tuple[Partition, ...] = ()
    capacity: tuple[CapacityUse, ...] = ()
    """Over the shareable devices of the pool; empty when there is none."""
    counters: tuple[CounterLeft, ...] = ()
    devices: tuple[AssessedDevice, ...] = ()
    problems: tuple[Problem, ...] = ()
    older_generations: tuple[int, ...] = ()
    """Generations that are still published and ignored."""
    unpublished: tuple[AllocationResult, ...] = ()
    """Allocations of this pool's devices that its newest generation does not publish; counted nowhere."""
    device_entries: int = 0
    """Device entries in the newest slices; more than there are devices when a name is published twice."""
