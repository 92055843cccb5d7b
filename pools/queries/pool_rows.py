"""Reads of pools."""

from collections.abc import Mapping, Sequence

from django.db.models import (
    F,
    IntegerField,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.functions import Coalesce

from pools.models import (
    Pool,
    ResourceSlice,
)
from pools.queries.conditions import pool_condition
from pools.queries.wanted import POOL_ORDERS, PoolFilter
from ui.snapshot import Snapshot


def pools(snapshot: Snapshot, wanted: PoolFilter) -> QuerySet[Pool]:
    """The pools that match, with the columns that POOL_ORDERS sorts by."""
    return Pool.objects.filter(pool_condition(wanted)).annotate(
        # Negated, so that the worst come first in an ascending order, as the names beside it need.
        calm_sort=F("severity") * -1,
        node_sort=Coalesce("node_name", Value(""), output_field=TextField()),
        available_sort=Coalesce("devices_available", Value(-1), output_field=IntegerField()),
        allocated_sort=Coalesce("devices_allocated", Value(-1), output_field=IntegerField()),
        total_sort=Coalesce("devices_total", Value(-1), output_field=IntegerField()),
    )


def pool(snapshot: Snapshot, pool_id: int) -> Pool:
    """One pool; raises Pool.DoesNotExist."""
    return Pool.objects.get(id=pool_id)


def pool_named(snapshot: Snapshot, cluster_id: int, *, driver: str, name: str) -> Pool:
    """One pool by its names in Kubernetes; raises Pool.DoesNotExist."""
    return Pool.objects.get(cluster_id=cluster_id, driver=driver, name=name)


def pools_of_keys(
    snapshot: Snapshot, cluster_id: int, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Ids of the pools with these (driver, name) keys, for links; one query."""
    if not keys:
        return {}
    drivers, names = {driver for driver, _ in keys}, {name for _, name in keys}
    rows = Pool.objects.filter(cluster_id=cluster_id, driver__in=drivers, name__in=names)
    return {(row.driver, row.name): row.id for row in rows.only("id", "driver", "name")}


PoolIds = Mapping[tuple[int, str, str], int]


def pool_ids(snapshot: Snapshot, rows: Sequence[ResourceSlice]) -> PoolIds:
    """Ids of the pools of some slices by cluster id, driver and name, for links; one query."""
    if not rows:
        return {}
    matching = Pool.objects.filter(
        cluster_id__in={row.cluster_id for row in rows},
        driver__in={row.driver for row in rows},
        name__in={row.pool_name for row in rows},
    )
    return {
        (row.cluster_id, row.driver, row.name): row.id
        for row in matching.only("cluster_id", "id", "driver", "name")
    }


def troubled_pools(
    snapshot: Snapshot, clusters: Sequence[str] = (), *, limit: int = 20
) -> list[Pool]:
    """The pools with the worst problems, warnings and up; one query."""
    rows = pools(snapshot, PoolFilter(clusters=tuple(clusters), problems=("serious",)))
    return list(rows.order_by(*POOL_ORDERS["problems"])[:limit])
