"""Rows that are made of one object each, or several of one object, and that belong to a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dra.values import DriverName, PoolKey, PoolName
from objects.services.versions import RowsWhere, VersionedTable, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange
    from objects.services.staging import Cursor


def record_rows(
    cursor: Cursor,
    table: VersionedTable,
    cluster_id: int,
    changed: Sequence[ObjectChange],
    rows: Iterable[Sequence[Any]],
    *,
    object_column: str,
    now: datetime,
    changes: RowChanges,
) -> set[PoolKey]:
    """Bring the rows of these objects to `rows`; returns the pools in which one came, went or changed."""
    replaced = RowsWhere(object_column, [each.object_id for each in changed])
    row_changes = merge(cursor, table, cluster_id, rows, now=now, replaced=replaced)
    changes.add(row_changes)
    return {
        PoolKey(DriverName(row["driver"]), PoolName(row["pool_name"]))
        for change in row_changes
        for row in (change.before, change.after)
        if row
    }
