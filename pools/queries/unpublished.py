"""Allocations of devices that no pool publishes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from dra.findings import UNPUBLISHED
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class UnpublishedAllocation:
    """An allocation result whose device no pool publishes."""

    claim_namespace: str
    claim_name: str
    driver: str
    pool_name: str
    device: str


# Pools are asked first, since they are far fewer. Only where one is not there, or does not say that it publishes all that is allocated
# of it, devices are looked for: MATERIALIZED and OFFSET 0 have Postgres do so row by row, and not join with all devices.
_ALLOCATIONS: Final = """
WITH suspect AS MATERIALIZED (
    SELECT id, cluster_id, claim_namespace, claim_name, driver, pool_name, device FROM pools_allocation
    WHERE cluster_id = ANY(%(clusters)s) AND (cluster_id, driver, pool_name) NOT IN (
        SELECT cluster_id, driver, name FROM pools_pool
        WHERE cluster_id = ANY(%(clusters)s) AND vanished_at IS NULL AND devices_allocated IS NOT NULL
          AND NOT problem_codes ?| %(codes)s
    )
)
SELECT claim_namespace, claim_name, driver, pool_name, device FROM suspect s
WHERE NOT EXISTS (
    SELECT FROM pools_publisheddevice d
    WHERE d.cluster_id = s.cluster_id AND d.driver = s.driver AND d.pool_name = s.pool_name AND d.name = s.device
      AND d.vanished_at IS NULL
    OFFSET 0
)
ORDER BY driver, pool_name, device, id LIMIT %(limit)s
"""
# With one of these a pool misses devices that are allocated, or its figures may be older than its allocations.
_MAY_MISS: Final = sorted({*UNPUBLISHED, "figures_not_stored"})


def unpublished_allocations(
    snapshot: Snapshot, cluster_ids: Sequence[int], *, limit: int
) -> list[UnpublishedAllocation]:
    """Allocation results whose device no pool publishes, as far as pools are derived; one query."""
    asked: dict[str, Any] = {"clusters": list(cluster_ids), "codes": _MAY_MISS, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_ALLOCATIONS, asked)
        return [UnpublishedAllocation(*row) for row in cursor.fetchall()]
