"""Removes rows of what vanished so long ago that nothing which is kept can name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from objects.services.staging import open_cursor
from objects.services.versions import VersionedTable, remove_gone, versioned_tables
from pools.services.tables import DEVICE_USES, POOLS, PUBLISHED_DEVICES

if TYPE_CHECKING:
    from datetime import datetime

_IS_NAMED: Final = {
    POOLS.name: """
    EXISTS (SELECT FROM pools_publisheddevice o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_poolsample o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_poolhour o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_allocation o WHERE o.cluster_id = t.cluster_id
               AND o.driver = t.driver AND o.pool_name = t.name)
""",
    DEVICE_USES.name: """
    EXISTS (SELECT FROM pools_publisheddevice o WHERE o.cluster_id = t.cluster_id AND o.id = t.device_id)
""",
}
"""By table, when a row `t` that is gone has to stay for others."""


def remove_vanished(cluster_id: int, *, before: datetime) -> int:
    """Rows of all tables that keep what is gone; returns how many that were."""
    with transaction.atomic(), open_cursor() as cursor:
        return sum(
            remove_gone(
                cursor, table, cluster_id, before=before, unless=_IS_NAMED.get(table.name, "false")
            )
            for table in _tables()
        )


def _tables() -> list[VersionedTable]:
    """Devices before what is kept for them, and before their pools; of the others the order does not matter."""
    tables = [table for table in versioned_tables() if table.keeps_gone]
    return sorted(tables, key=lambda table: table is not PUBLISHED_DEVICES)
