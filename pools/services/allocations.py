"""Allocation results of living claims as rows, and back as values of the core."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

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
from objects.services.staging import Cursor, as_jsonb, as_text, stage_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from objects.services.log import Moved

_COLUMNS: Final = {
    "claim_object_id": "int8",
    "claim_namespace": "text",
    "claim_name": "text",
    "claim_uid": "uuid",
    "driver": "text",
    "pool_name": "text",
    "device": "text",
    "request": "text",
    "share_id": "text",
    "has_admin_access": "bool",
    "consumed_capacity": "jsonb",
}
_SAME: Final = """
    s.claim_object_id = a.claim_object_id AND s.driver = a.driver AND s.pool_name = a.pool_name
    AND s.device = a.device AND s.request = a.request AND s.share_id = a.share_id
    AND s.has_admin_access = a.has_admin_access AND s.consumed_capacity = a.consumed_capacity
"""
_DELETE: Final = f"""
DELETE FROM pools_allocation a WHERE cluster_id = %s AND claim_object_id = ANY(%s)
  AND NOT EXISTS (SELECT FROM pg_temp.staged_allocation s WHERE {_SAME})
RETURNING driver, pool_name
"""  # noqa: S608 -- made of constants
_INSERT: Final = f"""
INSERT INTO pools_allocation (
    cluster_id, claim_object_id, claim_namespace, claim_name, claim_uid, driver, pool_name, device,
    request, share_id, has_admin_access, consumed_capacity, changed_at
)
SELECT DISTINCT %s::int8, s.*, %s::timestamptz FROM pg_temp.staged_allocation s
WHERE NOT EXISTS (SELECT FROM pools_allocation a WHERE a.cluster_id = %s AND {_SAME})
RETURNING driver, pool_name
"""  # noqa: S608 -- made of constants


def record_claims(
    cursor: Cursor, cluster_id: int, moved: Sequence[Moved], *, now: datetime
) -> set[PoolKey]:
    """Bring the allocations of these claims up to date; returns the pools in which one came, went or changed."""
    rows = [row for each in moved if each.after for row in _rows(each)]
    stage_rows(cursor, "staged_allocation", _COLUMNS, rows)
    cursor.execute(_DELETE, (cluster_id, [each.object_id for each in moved]))
    touched = cursor.fetchall()
    cursor.execute(_INSERT, (cluster_id, now, cluster_id))
    touched += cursor.fetchall()
    return {PoolKey(DriverName(driver), PoolName(name)) for driver, name in touched}


def _rows(moved: Moved) -> list[tuple[Any, ...]]:
    change = moved.change
    try:
        claim = parse_resource_claim(msgspec.json.decode(change.content)).value
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return [
        (
            moved.object_id,
            as_text(change.namespace),
            as_text(change.name),
            change.uid,
            as_text(result.key.driver),
            as_text(result.key.pool),
            as_text(result.key.device),
            as_text(result.request),
            as_text(result.share_id or ""),
            result.has_admin_access,
            as_jsonb({name: str(amount) for name, amount in result.consumed_capacity.items()}),
        )
        for result in (claim.results if claim else ())
    ]


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
    found: dict[PoolKey, list[AllocationResult]] = defaultdict(list)
    for row in cursor.fetchall():
        result = _result(*row)
        found[result.key.pool_key].append(result)
    return found


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
