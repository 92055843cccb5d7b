"""From values of the core to shapes.

Quantities are canonical text. Attributes keep the names they were published under and are plain JSON: numbers, booleans, text, lists
of them; a version is text, and a type that is not known is the raw object.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import convert

from dra import values
from dra.catalogue import Statement
from dra.compare import Difference
from dra.quantity import Quantity
from dra.shapes import devices, parts, pools, status_requests
from dra.words import figure_words, reason_words, statement_words


def pool_figures(pool: values.AssessedPool) -> pools.PoolFigures:
    """One pool."""
    return pools.PoolFigures(
        driver=pool.key.driver,
        pool=pool.key.pool,
        generation=pool.generation,
        complete=pool.is_complete,
        slices=parts.SliceCounts(seen=pool.slices_seen, expected=pool.slices_expected),
        node=pool.node.node_name,
        node_selection=node_selection_shape(pool.node),
        devices=counts_shape(pool.counts),
        partitions=[partition_shape(item) for item in pool.partitions],
        capacity=capacity_shape(pool.capacity),
        problems=problems_shape(pool.problems),
    )


def device_figures(device: values.AssessedDevice) -> devices.DeviceFigures:
    """One device."""
    return devices.DeviceFigures(
        driver=device.key.driver,
        pool=device.key.pool,
        device=device.key.device,
        node=device.node.node_name,
        generation=device.generation,
        state=device.state,
        partly_used=device.is_partly_used,
        attributes=attributes_shape(device),
        capacity=capacity_shape(device.capacity),
        taints=[taint_shape(taint) for taint in device.taints],
        problems=problems_shape(device.problems),
    )


def counts_shape(counts: values.DeviceCounts) -> parts.DeviceCounts:
    """Devices by state."""
    return convert(counts, parts.DeviceCounts, from_attributes=True)


def node_selection_shape(node: values.NodeSelection) -> parts.NodeSelection:
    """Where devices can be used: kind, and what a person would read for it."""
    return parts.NodeSelection(kind=node.kind, text=node.node_name or node.text)


def partition_shape(partition: values.Partition) -> parts.Partition:
    """One partition type."""
    return parts.Partition(
        attribute=partition.attribute,
        type=partition.type,
        total=partition.total,
        allocatable=partition.allocatable,
    )


def capacity_shape(uses: Iterable[values.CapacityUse]) -> list[parts.Capacity]:
    """Capacity by name."""
    return [
        parts.Capacity(
            name=use.name,
            total=str(use.total),
            consumed=_text_or_null(use.consumed),
            available=_text_or_null(use.available),
        )
        for use in uses
    ]


def counters_shape(counters: Iterable[values.CounterLeft]) -> list[parts.Counter]:
    """Shared counters, and what is left of each."""
    return [
        parts.Counter(
            counter_set=item.counter_set,
            name=item.name,
            total=str(item.total),
            left=_text_or_null(item.left),
        )
        for item in counters
    ]


def _text_or_null(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity)


def attributes_shape(device: values.AssessedDevice) -> dict[str, Any]:
    """Attributes by name, in order of name."""
    return {
        name: attribute_shape(value) for name, value in sorted(device.device.attributes.items())
    }


def attribute_shape(attribute: values.Attribute) -> Any:
    """The value alone."""
    return list(attribute.value) if isinstance(attribute.value, tuple) else attribute.value


def taint_shape(taint: values.Taint) -> parts.Taint:
    """One taint; `rule` names the DeviceTaintRule that sets it."""
    return parts.Taint(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        added_at=taint.added_at,
        rule=taint.rule,
    )


def problems_shape(problems: Iterable[values.Problem]) -> list[parts.Problem]:
    """Problems, in order, with their words in English."""
    return [
        parts.Problem(
            code=each.code, message=statement_words(each), parameters=parameters_shape(each)
        )
        for each in problems
    ]


def statement_shape(statement: Statement) -> dict[str, Any]:
    """What is kept of a statement: code and parameters."""
    return {"code": statement.code, "parameters": parameters_shape(statement)}


def parameters_shape(statement: Statement) -> dict[str, Any]:
    """Parameters by name."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in statement.parameters
    }


def allocation_shape(result: values.AllocationResult) -> devices.Allocation:
    """One allocation result: which claim holds which device."""
    return devices.Allocation(
        driver=result.key.driver,
        pool=result.key.pool,
        device=result.key.device,
        namespace=result.claim.namespace,
        claim=result.claim.name,
        claim_uid=result.claim.uid,
        request=result.request,
        share_id=result.share_id,
        admin_access=result.has_admin_access,
        consumed_capacity={
            name: str(amount) for name, amount in sorted(result.consumed_capacity.items())
        },
    )


def difference_shape(difference: Difference) -> status_requests.Difference:
    """One figure that differs from the server's, its name and its reason in English."""
    return status_requests.Difference(
        field=difference.field,
        parameters=difference.parameters,
        name=figure_words(difference.field, difference.parameters),
        ours=difference.ours,
        server=difference.server,
        reason=reason_words(difference.reasons),
        reasons=difference.reasons,
    )
