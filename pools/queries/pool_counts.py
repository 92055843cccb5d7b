"""How many pools match, and what is known of their devices: by driver, by problem, by what still fits."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from dra.series import FIGURES
from pools.choices import Severity
from pools.models import Pool
from pools.queries.conditions import pool_condition
from pools.queries.facets import Facet, facets_of
from pools.queries.wanted import PoolFilter
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DriverFigures:
    """The figures of one driver in one cluster; a sum is None as soon as one of its pools does not know it.

    `known` leaves such pools out.
    """

    cluster_id: int
    driver: str
    pools: int
    pools_with_unknown_total: int
    pools_with_problems: int
    seen: int
    total: int | None
    allocated: int | None
    partly_used: int | None
    unavailable: int | None
    blocked: int | None
    available: int | None
    # What is known of each figure, pools that do not know it left out.
    known: Mapping[str, int]

    @property
    def known_total(self) -> int:
        return self.known["total"]

    @property
    def known_available(self) -> int:
        return self.known["available"]


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """What a list of pools says of all that match."""

    # Of those that are published.
    drivers: list[DriverFigures]
    # Of all, by parameter of the list.
    facets: Mapping[str, list[Facet]]


# The columns that the statement reads.
_OF_DRIVERS = (
    "cluster_id", "driver", "vanished_at", "severity", "devices_seen", *(f"devices_{name}" for name in FIGURES)
)  # fmt: skip
_OF_FACETS = (*_OF_DRIVERS, "id", "problem_codes", "partitions", "is_complete", "is_valid")
# `sums` and `known` are in the order of FIGURES.
_BY_DRIVER = """
WITH matching AS ({rows})
SELECT by_driver.* {facets}
FROM (
    SELECT cluster_id, driver, vanished_at IS NULL AS is_published, count(*) AS pools,
        count(*) FILTER (WHERE devices_available > 0) AS usable,
        count(*) FILTER (WHERE severity >= %s) AS troubled, coalesce(sum(devices_seen), 0) AS seen,
        ARRAY[{sums}] AS sums, ARRAY[{known}] AS known
    FROM matching GROUP BY cluster_id, driver, is_published
) AS by_driver JOIN clusters_cluster c ON c.id = by_driver.cluster_id
ORDER BY c.name, c.id, by_driver.driver
"""
# Beside each row, the same. Without a problem there is no code: taking nothing apart of most pools makes it ten times faster.
_FACETS = """, (
    SELECT jsonb_object_agg(code, n) FROM (
        SELECT code, count(*) AS n FROM matching, jsonb_array_elements_text(problem_codes) code
        WHERE severity > 0 GROUP BY code
    ) AS by_code
) AS codes, (
    SELECT jsonb_object_agg(type, n) FROM (
        SELECT type #>> '{}' AS type, count(DISTINCT id) AS n
        FROM matching, jsonb_path_query(partitions, '$[*] ? (@.allocatable > 0).type') type
        WHERE is_complete AND is_valid AND partitions <> '[]' AND jsonb_typeof(type) = 'string' GROUP BY 1
    ) AS by_type
) AS types
"""


def driver_figures(snapshot: Snapshot, wanted: PoolFilter) -> list[DriverFigures]:
    """Figures by cluster and driver, over pools that match and are published; one query."""
    rows = _rows(wanted, columns=_OF_DRIVERS, facets="")
    return [_driver_figures(row) for row in rows if row["is_published"]]


def pool_counts(snapshot: Snapshot, wanted: PoolFilter) -> PoolCounts:
    """The same, and drivers, problem codes and what still fits among all that match, with counts; one query."""
    rows = _rows(wanted, columns=_OF_FACETS, facets=_FACETS)
    drivers: Counter[str] = Counter()
    for row in rows:
        drivers[row["driver"]] += row["pools"]
    codes, types = (
        json.loads(rows[0][name] or "{}") if rows else {} for name in ("codes", "types")
    )
    usable = Facet("device", sum(row["usable"] for row in rows))
    return PoolCounts(
        drivers=[_driver_figures(row) for row in rows if row["is_published"]],
        facets={
            "driver": facets_of(drivers),
            "problem": facets_of(codes),
            "fits": [usable, *facets_of(types)],
        },
    )


def _rows(wanted: PoolFilter, *, columns: tuple[str, ...], facets: str) -> list[dict[str, Any]]:
    pools = Pool.objects.filter(pool_condition(wanted)).values_list(*columns)
    matching, parameters = pools.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            _BY_DRIVER.format(
                rows=matching, facets=facets, sums=_of_each("sum"), known=_of_each("count")
            ),
            (*parameters, Severity.WARNING),
        )
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _of_each(aggregate: str) -> str:
    return ", ".join(f"{aggregate}(devices_{name})" for name in FIGURES)


def _driver_figures(row: Mapping[str, Any]) -> DriverFigures:
    pools = row["pools"]
    known = dict(zip(FIGURES, row["known"], strict=True))
    sums = dict(zip(FIGURES, row["sums"], strict=True))
    return DriverFigures(
        cluster_id=row["cluster_id"],
        driver=row["driver"],
        pools=pools,
        pools_with_unknown_total=pools - known["total"],
        pools_with_problems=row["troubled"],
        seen=row["seen"],
        known={name: sums[name] or 0 for name in FIGURES},
        **{name: sums[name] if known[name] == pools else None for name in FIGURES},
    )
