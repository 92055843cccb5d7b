"""Allocation results of living claims as rows, and back as values of the core."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from dra.parsing import parse_resource_claim
from dra.quantity import Quantity, parse_quantity
from dra.values import (
    AllocationResult,
    ClaimRef,
    DeviceKey,
    DeviceName,
    DriverName,
    PoolKey,
    PoolName,
)
from objects import queries
from objects.services.staging import Cursor, as_jsonb, as_text
from pools.services.object_rows import record_rows
from pools.services.tables import ALLOCATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange


def record_claims(
    cursor: Cursor,
    cluster_id: int,
    changed: Sequence[ObjectChange],
    *,
    now: datetime,
    changes: RowChanges,
) -> set[PoolKey]:
    """Bring the allocations of these claims up to date; returns the pools in which one came, went or changed."""
    return record_rows(
        cursor,
        ALLOCATIONS,
        cluster_id,
        changed,
        [row for each in changed if each.after for row in _rows(each)],
        object_column="claim_object_id",
        now=now,
        changes=changes,
    )


def _rows(changed: ObjectChange) -> list[tuple[Any, ...]]:
    event = changed.event
    claim = parse_resource_claim(queries.decoded(event.content)).value
    # A result that is there twice is one row.
    results = {_all_of(result): result for result in (claim.results if claim else ())}
    return [
        (
            changed.object_id,
            as_text(result.key.driver),
            as_text(result.key.pool),
            as_text(result.key.device),
            as_text(result.request),
            as_text(result.share_id or ""),
            result.has_admin_access,
            as_jsonb({name: str(amount) for name, amount in result.consumed_capacity.items()}),
            as_text(event.namespace),
            as_text(event.name),
            event.uid,
        )
        for result in results.values()
    ]


def _all_of(result: AllocationResult) -> tuple[Any, ...]:
    consumed = sorted((name, str(amount)) for name, amount in result.consumed_capacity.items())
    names = [*result.key, result.request, result.share_id or ""]
    return (*map(as_text, names), result.has_admin_access, *consumed)


def allocations_of_pools(
    cursor: Cursor, cluster_id: int, keys: Sequence[PoolKey]
) -> dict[PoolKey, list[AllocationResult]]:
    """What is allocated of each of these pools."""
    cursor.execute(
        "SELECT driver, pool_name, device, claim_namespace, claim_name, claim_uid, request, share_id,"
        " has_admin_access, consumed_capacity::text FROM pools_allocation"
        " JOIN unnest(%s::text[], %s::text[]) AS k (driver, pool_name) USING (driver, pool_name)"
        " WHERE cluster_id = %s ORDER BY id",
        ([key.driver for key in keys], [key.pool for key in keys], cluster_id),
        binary=True,
    )
    results: dict[PoolKey, list[AllocationResult]] = defaultdict(list)
    for row in cursor.fetchall():
        result = _result(*row)
        results[result.key.pool_key].append(result)
    return results


def _result(
    driver: str,
    pool: str,
    device: str,
    namespace: str,
    claim: str,
    uid: UUID,
    request: str,
    share_id: str,
    has_admin_access: bool,  # noqa: FBT001 -- a row of a query
    consumed: str,
) -> AllocationResult:
    return AllocationResult(
        key=DeviceKey(DriverName(driver), PoolName(pool), DeviceName(device)),
        claim=ClaimRef(namespace, claim, str(uid)),
        request=request,
        share_id=share_id or None,
        has_admin_access=has_admin_access,
        consumed_capacity=_quantities(consumed) if consumed != "{}" else {},
    )


def _quantities(text: str) -> dict[str, Quantity]:
    parsed = {name: parse_quantity(value) for name, value in msgspec.json.decode(text).items()}
    return {name: quantity for name, quantity in parsed.items() if quantity is not None}
