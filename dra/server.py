"""How the pool status controller of Kubernetes counts, to explain and to predict its answers.

1.36 and 1.37 count differently, and both differ from `dra.pools` on purpose. An answer is written only when no returned
pool is incomplete and none has generation 0; else the request stays without status.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from dra.server_views import PartitionStatus, ShareableStatus, pool_views
from dra.tainting import BLOCKING_EFFECTS
from dra.values import (
    AllocationResult,
    Device,
    DeviceKey,
    PoolKey,
    ResourceSlice,
    TaintRule,
)

DEFAULT_LIMIT: Final = 100
_ERROR_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class StatusRequest:
    """The spec of a ResourcePoolStatusRequest. `default_partition_type_attribute` exists since 1.37."""

    driver: str
    pool: str | None = None
    limit: int = DEFAULT_LIMIT
    default_partition_type_attribute: str | None = None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One pool of an answer; None is what the server leaves out."""

    driver: str
    pool: str
    generation: int | None
    resource_slice_count: int | None = None
    total: int | None = None
    allocated: int | None = None
    available: int | None = None
    unavailable: int | None = None
    node_name: str | None = None
    validation_error: str | None = None
    partitions: tuple[PartitionStatus, ...] | None = None
    shareable: ShareableStatus | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the controller computes for one request."""

    pool_count: int
    """Matching pools before the limit."""
    pools: tuple[PoolStatus, ...]
    """Of the first `limit` pools, in order of name."""
    blocked_by: tuple[PoolKey, ...]
    """Returned pools that keep the whole request from being answered."""
    is_order_dependent: bool
    """The controller reads one slice at random where slices disagree: then the answer may be another one."""

    @property
    def is_written(self) -> bool:
        """Whether the request gets this status, or stays pending until it is deleted."""
        return not self.blocked_by

    @property
    def message(self) -> str:
        """The message of the condition Complete. "Incomplete" counts any validation error."""
        text = f"Calculated status for {len(self.pools)} pools"
        errors = sum(1 for pool in self.pools if pool.validation_error is not None)
        return f"{text} ({errors} incomplete)" if errors else text


@dataclass(frozen=True, slots=True)
class _ServerPool:
    """The newest generation of one pool as the controller gathers it, in the order it met the slices."""

    key: PoolKey
    generation: int
    slices: Sequence[ResourceSlice]
    results: Sequence[AllocationResult]

    @property
    def devices(self) -> list[Device]:
        return [device for item in self.slices for device in item.devices]

    @property
    def expected(self) -> int:
        """Only the slice that is met first is asked."""
        return self.slices[0].resource_slice_count or 0

    @property
    def is_incomplete(self) -> bool:
        """More slices than declared pass for complete."""
        return len(self.slices) < self.expected

    def incomplete_message(self) -> str:
        return (
            f"pool {self.key.driver}/{self.key.pool} is incomplete: "
            f"observed {len(self.slices)}/{self.expected} slices at generation {self.generation}"
        )


def answer_1_36(
    slices: Iterable[ResourceSlice],
    allocations: Iterable[AllocationResult],
    *,
    request: StatusRequest,
) -> Answer:
    """Answer as 1.36: every allocation result counts, taints are not looked at, there are no summaries."""
    return _answer(slices, allocations, request=request, count=_count_1_36)


def answer_1_37(
    slices: Iterable[ResourceSlice],
    allocations: Iterable[AllocationResult],
    *,
    taint_rules: Sequence[TaintRule] = (),
    request: StatusRequest,
) -> Answer:
    """Answer as 1.37: devices count once, tainted ones are unavailable, with summaries."""

    def count(pool: _ServerPool) -> PoolStatus:
        return _count_1_37(pool, taint_rules=taint_rules, request=request)

    return _answer(slices, allocations, request=request, count=count)


def _answer(
    slices: Iterable[ResourceSlice],
    allocations: Iterable[AllocationResult],
    *,
    request: StatusRequest,
    count: Callable[[_ServerPool], PoolStatus],
) -> Answer:
    gathered = _gather(slices, allocations, request=request)
    returned = gathered[: request.limit]
    blocked_by = [pool.key for pool in returned if pool.is_incomplete or pool.generation == 0]
    return Answer(
        pool_count=len(gathered),
        pools=tuple(count(pool) for pool in returned),
        blocked_by=tuple(blocked_by),
        is_order_dependent=any(_depends_on_order(pool) for pool in returned),
    )


def _gather(
    slices: Iterable[ResourceSlice],
    allocations: Iterable[AllocationResult],
    *,
    request: StatusRequest,
) -> list[_ServerPool]:
    by_pool: dict[PoolKey, list[ResourceSlice]] = {}
    for item in slices:
        if item.driver == request.driver and request.pool in {None, item.pool}:
            by_pool.setdefault(item.pool_key, []).append(item)
    results: dict[PoolKey, list[AllocationResult]] = {}
    for result in allocations:
        results.setdefault(result.key.pool_key, []).append(result)
    pools = []
    for key in sorted(by_pool, key=_byte_order):
        generation = max(item.generation or 0 for item in by_pool[key])
        newest = [item for item in by_pool[key] if (item.generation or 0) == generation]
        pools.append(_ServerPool(key, generation, newest, results.get(key, ())))
    return pools


def _byte_order(key: PoolKey) -> tuple[bytes, bytes]:
    return key.driver.encode(errors="replace"), key.pool.encode(errors="replace")


def _depends_on_order(pool: _ServerPool) -> bool:
    """Counts that disagree where it matters, and counter sets of one name, of which the last one wins."""
    verdicts = {len(pool.slices) < (item.resource_slice_count or 0) for item in pool.slices}
    names = Counter(cs.name for item in pool.slices for cs in item.counter_sets)
    return len(verdicts) > 1 or any(times > 1 for times in names.values())


def _count_1_36(pool: _ServerPool) -> PoolStatus:
    if pool.is_incomplete:
        return _incomplete(pool, pool.incomplete_message())
    total, allocated = len(pool.devices), len(pool.results)
    return PoolStatus(
        driver=pool.key.driver,
        pool=pool.key.pool,
        generation=pool.generation,
        resource_slice_count=len(pool.slices),
        total=total,
        allocated=allocated,
        available=max(0, total - allocated),
        unavailable=0,
        node_name=_node_name(pool),
    )


def _count_1_37(
    pool: _ServerPool, *, taint_rules: Sequence[TaintRule], request: StatusRequest
) -> PoolStatus:
    if pool.is_incomplete:
        return _incomplete(pool, f"PoolIncomplete: {pool.incomplete_message()}")
    holding = [result for result in pool.results if not result.has_admin_access]
    in_use = {result.key.device for result in holding}
    devices = pool.devices
    unavailable = sum(1 for device in devices if _is_unavailable(pool.key, device, taint_rules))
    views = pool_views(
        pool.slices,
        holding=holding,
        default_attribute=request.default_partition_type_attribute,
    )
    return PoolStatus(
        driver=pool.key.driver,
        pool=pool.key.pool,
        generation=pool.generation,
        resource_slice_count=len(pool.slices),
        total=len(devices),
        allocated=len(in_use),
        # A device that is allocated and tainted is subtracted twice.
        available=max(0, len(devices) - len(in_use) - unavailable),
        unavailable=unavailable,
        node_name=_node_name(pool),
        validation_error=_cut(views.error),
        partitions=views.partitions,
        shareable=views.shareable,
    )


def _incomplete(pool: _ServerPool, message: str) -> PoolStatus:
    return PoolStatus(
        driver=pool.key.driver,
        pool=pool.key.pool,
        generation=pool.generation,
        node_name=_node_name(pool),
        validation_error=_cut(message),
    )


def _cut(message: str | None) -> str | None:
    """The API takes 256 bytes."""
    if message is None:
        return None
    return message.encode(errors="replace")[:_ERROR_BYTES].decode(errors="ignore")


def _node_name(pool: _ServerPool) -> str | None:
    names = {item.node.node_name for item in pool.slices}
    return next(iter(names)) if len(names) == 1 else None


def _is_unavailable(pool: PoolKey, device: Device, rules: Iterable[TaintRule]) -> bool:
    if any(taint.effect in BLOCKING_EFFECTS for taint in device.taints):
        return True
    key = DeviceKey(pool.driver, pool.pool, device.name)
    return any(rule.taint.effect in BLOCKING_EFFECTS and _selects(rule, key=key) for rule in rules)


def _selects(rule: TaintRule, *, key: DeviceKey) -> bool:
    """A rule without selector selects nothing, one with an empty selector everything."""
    selector = rule.selector
    if selector is None:
        return False
    wanted = (selector.driver, selector.pool, selector.device)
    return all(want in {None, name} for want, name in zip(wanted, key, strict=True))
