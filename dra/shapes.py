"""Values of the core as JSON: the very shapes of the REST API, shared by the API, `dradash inspect` and JSON columns.

Quantities are canonical text. Attributes keep the names they were published under and are plain JSON: numbers, booleans, text, lists
of them; a version is text, and a type that is not known is the raw object. What is not known is null, never 0.
"""

from collections.abc import Iterable
from typing import Any

from dra.catalogue import Statement
from dra.quantity import Quantity
from dra.values import (
    AllocationResult,
    AssessedDevice,
    AssessedPool,
    Attribute,
    CapacityUse,
    CounterLeft,
    DeviceCounts,
    NodeSelection,
    Partition,
    Problem,
    Taint,
)
from dra.words import statement_words

Json = dict[str, Any]


def pool_shape(
    pool: AssessedPool,
    *,
    id: str | None = None,
    cluster: str | None = None,
    observed_at: str | None = None,
    source: str | None = None,
) -> Json:
    """One pool. What the core cannot know (id, cluster, when and from where) is given by the caller."""
    return {
        "id": id,
        "cluster": cluster,
        "driver": pool.key.driver,
        "pool": pool.key.pool,
        "generation": pool.generation,
        "complete": pool.is_complete,
        "slices": {"seen": pool.slices_seen, "expected": pool.slices_expected},
        "node": pool.node.node_name,
        "node_selection": node_selection_shape(pool.node),
        "devices": counts_shape(pool.counts),
        "partitions": [partition_shape(item) for item in pool.partitions],
        "capacity": capacity_shape(pool.capacity),
        "problems": problems_shape(pool.problems),
        "observed_at": observed_at,
        "source": source,
    }


def device_shape(
    device: AssessedDevice,
    *,
    id: str | None = None,
    cluster: str | None = None,
    observed_at: str | None = None,
) -> Json:
    """One device."""
    return {
        "id": id,
        "cluster": cluster,
        "driver": device.key.driver,
        "pool": device.key.pool,
        "device": device.key.device,
        "node": device.node.node_name,
        "generation": device.generation,
        "state": device.state,
        "partly_used": device.is_partly_used,
        "attributes": attributes_shape(device),
        "capacity": capacity_shape(device.capacity),
        "taints": [taint_shape(taint) for taint in device.taints],
        "problems": problems_shape(device.problems),
        "observed_at": observed_at,
    }


def counts_shape(counts: DeviceCounts) -> Json:
    """Devices by state."""
    return {
        "total": counts.total,
        "seen": counts.seen,
        "allocated": counts.allocated,
        "partly_used": counts.partly_used,
        "unavailable": counts.unavailable,
        "blocked": counts.blocked,
        "available": counts.available,
        "admin_access": counts.admin_access,
    }


def node_selection_shape(node: NodeSelection) -> Json:
    """Where devices can be used: kind, and what a person would read for it."""
    return {"kind": node.kind, "text": node.node_name or node.text}


def partition_shape(partition: Partition) -> Json:
    """One partition type."""
    return {
        "attribute": partition.attribute,
        "type": partition.type,
        "total": partition.total,
        "allocatable": partition.allocatable,
    }


def capacity_shape(uses: Iterable[CapacityUse]) -> list[Json]:
    """Capacity by name."""
    return [
        {
            "name": use.name,
            "total": str(use.total),
            "consumed": _text_or_null(use.consumed),
            "available": _text_or_null(use.available),
        }
        for use in uses
    ]


def counters_shape(counters: Iterable[CounterLeft]) -> list[Json]:
    """Shared counters, and what is left of each."""
    return [
        {
            "counter_set": item.counter_set,
            "name": item.name,
            "total": str(item.total),
            "left": _text_or_null(item.left),
        }
        for item in counters
    ]


def _text_or_null(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)


def attributes_shape(device: AssessedDevice) -> Json:
    """Attributes by name, in order of name."""
    return {
        name: attribute_shape(value) for name, value in sorted(device.device.attributes.items())
    }


def attribute_shape(attribute: Attribute) -> Any:
    """The value alone."""
    return list(attribute.value) if isinstance(attribute.value, tuple) else attribute.value


def taint_shape(taint: Taint) -> Json:
    """One taint; `rule` names the DeviceTaintRule that sets it."""
    return {
        "key": taint.key,
        "value": taint.value,
        "effect": taint.effect,
        "added_at": taint.added_at,
        "rule": taint.rule,
    }


def problems_shape(problems: Iterable[Problem]) -> list[Json]:
    """Problems, in order, with their words in English."""
    return [
        {"code": each.code, "message": statement_words(each), "parameters": parameters_shape(each)}
        for each in problems
    ]


def statement_shape(statement: Statement) -> Json:
    """What is kept of a statement: code and parameters."""
    return {"code": statement.code, "parameters": parameters_shape(statement)}


def parameters_shape(statement: Statement) -> Json:
    """Parameters by name."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in statement.parameters
    }


def allocation_shape(result: AllocationResult) -> Json:
    """One allocation result: which claim holds which device."""
    return {
        "driver": result.key.driver,
        "pool": result.key.pool,
        "device": result.key.device,
        "namespace": result.claim.namespace,
        "claim": result.claim.name,
        "claim_uid": result.claim.uid,
        "request": result.request,
        "share_id": result.share_id,
        "admin_access": result.has_admin_access,
        "consumed_capacity": {
            name: str(amount) for name, amount in sorted(result.consumed_capacity.items())
        },
    }
