"""Figures over many pools: what still fits by partition type, and what was available over a day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import F, Func, JSONField, Value

from dra.series import FIGURES
from pools.models import Pool
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PartitionFigures:
    """Over the usable pools of one driver: how many partitions of one type would fit now, if no other type is taken."""

    type: str
    allocatable: int


_PARTITIONS = """
SELECT p.cluster_id, p.driver, part.type, sum(part.allocatable)
FROM pools_pool p, jsonb_to_recordset(p.partitions) AS part(type text, allocatable int)
WHERE p.cluster_id = ANY(%s) AND p.vanished_at IS NULL AND p.partitions <> '[]'
  AND p.is_complete AND p.is_valid AND part.allocatable IS NOT NULL
GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3
"""


def partition_figures(
    snapshot: Snapshot,
    cluster_ids: Sequence[int],
) -> dict[tuple[int, str], list[PartitionFigures]]:
    """What still fits by cluster id and driver, the commonest type first; one query."""
    figures: dict[tuple[int, str], list[PartitionFigures]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS, [list(cluster_ids)])
        for cluster_id, driver, type_, allocatable in cursor.fetchall():
            figures.setdefault((cluster_id, driver), []).append(
                PartitionFigures(type_, allocatable)
            )
    return figures


# What was available from each moment on; None is not known.
Points = list[tuple[datetime, float | None]]
_HOUR = timedelta(hours=1)
# An hour is written so long after its beginning at the latest: once it is over, and upkeep comes by every ten minutes.
_WRITTEN_AFTER = timedelta(hours=1, minutes=15)

# Of old clusters the hours that are over; of young ones, which have none yet, each change since their beginning, summed up.
_AVAILABILITY = f"""
SELECT h.cluster_id, p.driver, h.hour AS at, sum((h.mean->>{FIGURES.index("available")})::float8) AS available
FROM pools_poolhour h JOIN pools_pool p ON p.cluster_id = h.cluster_id AND p.id = h.pool_id
WHERE h.cluster_id = ANY(%(old)s) AND h.hour >= %(start)s AND h.hour < %(end)s
GROUP BY 1, 2, 3
UNION ALL
SELECT cluster_id, driver, at, CASE WHEN sum(sum(known)) OVER until > 0 THEN sum(sum(delta)) OVER until END FROM (
    SELECT s.cluster_id, p.driver, date_bin('1 minute', s.at, %(start)s) AS at,
        coalesce(s.available, 0) - coalesce(lag(s.available) OVER of_pool, 0) AS delta,
        num_nonnulls(s.available) - num_nonnulls(lag(s.available) OVER of_pool) AS known
    FROM pools_poolsample s JOIN pools_pool p ON p.cluster_id = s.cluster_id AND p.id = s.pool_id
    WHERE s.cluster_id = ANY(%(young)s) AND s.at >= %(start)s AND s.at <= %(end)s
    WINDOW of_pool AS (PARTITION BY s.cluster_id, s.pool_id ORDER BY s.at)
) changes GROUP BY 1, 2, 3
WINDOW until AS (PARTITION BY cluster_id, driver ORDER BY at)
ORDER BY 1, 2, 3
"""  # noqa: S608 -- made of constants


def availability(
    snapshot: Snapshot,
    cluster_ids: Sequence[int],
    *,
    young: Sequence[int],
    start: datetime,
    end: datetime,
) -> dict[tuple[int, str], Points]:
    """Devices available over time by cluster id and driver, unknown pools left out, None where no pool knows it; one query.

    `young` are clusters that were not there before `start`.
    """
    ids = {
        "old": [each for each in cluster_ids if each not in young],
        "young": [each for each in cluster_ids if each in young],
    }
    samples: dict[tuple[int, str], Points] = {}
    with connection.cursor() as cursor:
        cursor.execute(_AVAILABILITY, {**ids, "start": start, "end": end})
        for cluster_id, driver, at, available in cursor.fetchall():
            value = None if available is None else float(available)
            samples.setdefault((cluster_id, driver), []).append((at, value))
    return {
        key: points if key[0] in young else _with_missing_hours(points, end=end)
        for key, points in samples.items()
    }


def _with_missing_hours(points: Points, *, end: datetime) -> Points:
    """With a point that is not known where hours are missing: nothing was known in them."""
    following = [*(at for at, _ in points[1:]), end - _WRITTEN_AFTER]
    whole: Points = []
    for (at, value), later in zip(points, following, strict=True):
        whole.append((at, value))
        if later - at > _HOUR:
            whole.append((at + _HOUR, None))
    return whole


def partition_types(snapshot: Snapshot) -> list[str]:
    """Every partition type that some pool has, whether one still fits or not; one query."""
    path = Func(Value("$[*].type"), template="(%(expressions)s)::jsonpath")
    each = Func(F("partitions"), path, function="jsonb_path_query", output_field=JSONField())
    rows = Pool.objects.exclude(partitions=[]).annotate(type=each).values_list("type", flat=True)
    return sorted(name for name in rows.distinct() if isinstance(name, str))
