"""The end of rows of what vanished so long ago that nothing which is kept can name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from objects.services.staging import open_cursor
from objects.services.versions import remove_gone
from pools.services.tables import DEVICE_CLASSES, NODES, POOLS, PUBLISHED_DEVICES

if TYPE_CHECKING:
    from datetime import datetime

_POOL_IS_NAMED: Final = """
    EXISTS (SELECT FROM pools_publisheddevice o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_poolsample o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_poolhour o WHERE o.cluster_id = t.cluster_id AND o.pool_id = t.id)
    OR EXISTS (SELECT FROM pools_allocation o WHERE o.cluster_id = t.cluster_id
               AND o.driver = t.driver AND o.pool_name = t.name)
"""
_REMOVE_USES: Final = """
DELETE FROM pools_deviceuse u WHERE cluster_id = %s AND vanished_at < %s AND NOT EXISTS (
    SELECT FROM pools_publisheddevice d WHERE d.cluster_id = u.cluster_id AND d.id = u.device_id)
"""


def remove_vanished(cluster_id: int, *, before: datetime) -> int:
    """Devices, pools, nodes and classes; returns how many rows that were. Devices first, since they name their pool."""
    with transaction.atomic(), open_cursor() as cursor:
        devices = remove_gone(cursor, PUBLISHED_DEVICES, cluster_id, before=before)
        cursor.execute(_REMOVE_USES, (cluster_id, before))
        pools = remove_gone(cursor, POOLS, cluster_id, before=before, unless=_POOL_IS_NAMED)
        nodes = remove_gone(cursor, NODES, cluster_id, before=before)
        classes = remove_gone(cursor, DEVICE_CLASSES, cluster_id, before=before)
        return devices + pools + nodes + classes
