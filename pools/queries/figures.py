"""Figures over many pools: by driver, by partition type, over a day, and by what a list can be filtered by."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import (
    Case,
    Count,
    F,
    Func,
    JSONField,
    Q,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from pools.choices import DeviceState, Severity
from pools.models import (
    Device,
    Pool,
    PublishedDevice,
)
from pools.queries.conditions import device_condition, places, pool_condition
from pools.queries.wanted import DeviceFilter, PoolFilter
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DriverFigures:
    """The figures of one driver in one cluster; a sum is None as soon as one of its pools does not know it.

    `known` leaves such pools out.
    """

    cluster_id: int
    cluster_name: str
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


_SUMS = ("total", "allocated", "partly_used", "unavailable", "blocked", "available")


def driver_figures(snapshot: Snapshot, wanted: PoolFilter) -> list[DriverFigures]:
    """Figures by cluster and driver, over pools that match and are published; one query."""
    rows = (
        Pool.objects.filter(pool_condition(wanted), vanished_at__isnull=True)
        .values("cluster_id", "cluster__name", "driver")
        .annotate(
            pools=Count("id"),
            seen=Sum("devices_seen"),
            troubled=Count("id", filter=Q(severity__gte=Severity.WARNING)),
            **{f"sum_{name}": Sum(f"devices_{name}") for name in _SUMS},
            **{f"count_{name}": Count(f"devices_{name}") for name in _SUMS},
        )
        .order_by("cluster__name", "driver")
    )
    return [_driver_figures(row) for row in rows]


def _driver_figures(row: Mapping[str, Any]) -> DriverFigures:
    count = row["pools"]
    sums = {n: row[f"sum_{n}"] if row[f"count_{n}"] == count else None for n in _SUMS}
    return DriverFigures(
        cluster_id=row["cluster_id"],
        cluster_name=row["cluster__name"],
        driver=row["driver"],
        pools=count,
        pools_with_unknown_total=count - row["count_total"],
        pools_with_problems=row["troubled"],
        seen=row["seen"] or 0,
        known={name: row[f"sum_{name}"] or 0 for name in _SUMS},
        **sums,
    )


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
    found: dict[tuple[int, str], list[PartitionFigures]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_PARTITIONS, [list(cluster_ids)])
        for cluster_id, driver, type_, allocatable in cursor.fetchall():
            found.setdefault((cluster_id, driver), []).append(PartitionFigures(type_, allocatable))
    return found


# Of old clusters the hours that are over; of young ones, which have none yet, each change since their beginning, summed up.
_AVAILABILITY = """
SELECT h.cluster_id, p.driver, h.hour AS at, sum((h.mean->>5)::float8) AS available
FROM pools_poolhour h JOIN pools_pool p ON p.cluster_id = h.cluster_id AND p.id = h.pool_id
WHERE h.cluster_id = ANY(%(old)s) AND h.hour >= %(start)s AND h.hour < %(end)s
GROUP BY 1, 2, 3
UNION ALL
SELECT cluster_id, driver, at, sum(sum(delta)) OVER (PARTITION BY cluster_id, driver ORDER BY at) FROM (
    SELECT s.cluster_id, p.driver, date_bin('1 minute', s.at, %(start)s) AS at,
        coalesce(s.available, 0) - coalesce(lag(s.available) OVER (PARTITION BY s.cluster_id, s.pool_id ORDER BY s.at), 0) AS delta
    FROM pools_poolsample s JOIN pools_pool p ON p.cluster_id = s.cluster_id AND p.id = s.pool_id
    WHERE s.cluster_id = ANY(%(young)s) AND s.at >= %(start)s AND s.at <= %(end)s
) changes GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
"""


def availability(
    snapshot: Snapshot,
    cluster_ids: Sequence[int],
    *,
    young: Sequence[int],
    start: datetime,
    end: datetime,
) -> dict[tuple[int, str], list[tuple[datetime, float | None]]]:
    """Devices available over time by cluster id and driver, unknown pools left out; one query.

    `young` are clusters that were not there before `start`.
    """
    ids = {
        "old": [each for each in cluster_ids if each not in young],
        "young": [each for each in cluster_ids if each in young],
    }
    found: dict[tuple[int, str], list[tuple[datetime, float | None]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_AVAILABILITY, {**ids, "start": start, "end": end})
        for cluster_id, driver, at, available in cursor.fetchall():
            value = None if available is None else float(available)
            found.setdefault((cluster_id, driver), []).append((at, value))
    return found


def partition_types(snapshot: Snapshot) -> list[str]:
    """Every partition type that some pool has, whether one still fits or not; one query."""
    path = Func(Value("$[*].type"), template="(%(expressions)s)::jsonpath")
    each = Func(F("partitions"), path, function="jsonb_path_query", output_field=JSONField())
    rows = Pool.objects.exclude(partitions=[]).annotate(type=each).values_list("type", flat=True)
    return sorted(found for found in rows.distinct() if isinstance(found, str))


@dataclass(frozen=True, slots=True)
class Facet:
    """One value that a list can be filtered by, and how many rows have it."""

    value: str
    count: int


def pool_facets(snapshot: Snapshot, wanted: PoolFilter) -> dict[str, list[Facet]]:
    """Drivers, problem codes and what still fits among the pools that match, with counts; three queries."""
    rows = Pool.objects.filter(pool_condition(wanted))
    path = Func(Value("$[*] ? (@.allocatable > 0).type"), template="(%(expressions)s)::jsonpath")
    types = (
        rows.filter(is_complete=True, is_valid=True)
        .exclude(partitions=[])
        .annotate(
            type=Func(F("partitions"), path, function="jsonb_path_query", output_field=JSONField())
        )
        .values_list("type")
        .annotate(n=Count("id", distinct=True))
        .order_by("-n", "type")
    )
    # Without a problem there is no code: taking nothing apart of most pools makes it ten times faster.
    codes = (
        rows.filter(severity__gt=0)
        .annotate(code=Func("problem_codes", function="jsonb_array_elements_text"))
        .values_list("code")
        .annotate(n=Count("id"))
        .order_by("-n", "code")
    )
    drivers = (
        rows.values_list("driver")
        .annotate(n=Count("*"), usable=Count("id", filter=Q(devices_available__gt=0)))
        .order_by("-n", "driver")
    )
    found = list(drivers)
    return {
        "driver": [Facet(value, n) for value, n, _ in found],
        "problem": [Facet(value, n) for value, n in codes],
        "fits": [
            Facet("device", sum(usable for _, _, usable in found)),
            *(Facet(value, n) for value, n in types if isinstance(value, str)),
        ],
    }


def device_facets(snapshot: Snapshot, wanted: DeviceFilter) -> dict[str, list[Facet]]:
    """Drivers and states among the devices that match, with counts; one query."""
    drivers: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for driver, state, n in _counted(wanted):
        drivers[driver] += n
        states[state] += n
    return {"driver": _facet(drivers), "state": _facet(states)}


def device_count(snapshot: Snapshot, wanted: DeviceFilter) -> int:
    """How many devices match; one query, which reads no more than it must."""
    if _asks_for_places(wanted):
        return sum(n for _, _, n in _counted(wanted))
    if _asks_for_use(wanted):
        return Device.known.filter(device_condition(wanted)).count()
    return PublishedDevice.objects.filter(device_condition(wanted)).count()


def _asks_for_use(wanted: DeviceFilter) -> bool:
    """Whether it asks for what claims and rules make of a device, which stands apart from what is published."""
    asked = (wanted.states, wanted.taints, wanted.taint_rules)
    flags = (wanted.is_partly_used, wanted.is_tainted)
    return any(asked) or any(flag is not None for flag in flags)


def _counted(wanted: DeviceFilter) -> list[tuple[str, str, int]]:
    """By driver and state how many devices match: from the pools' figures, where these can tell."""
    if _asks_for_places(wanted):
        return _counted_by_pools(wanted)
    rows = Device.known.filter(device_condition(wanted)).order_by()
    return list(rows.values_list("driver", "state").annotate(n=Count("*")))


def _asks_for_places(wanted: DeviceFilter) -> bool:
    """Whether each pool matches with all of its devices or with none, states apart."""
    asked = DeviceFilter(
        clusters=wanted.clusters,
        drivers=wanted.drivers,
        pools=wanted.pools,
        states=wanted.states,
    )
    return wanted == asked


_IS_SETTLED = Q(devices_total__isnull=False, devices_unavailable__isnull=False)
# Of such pools some devices are in a state that nobody knows, and the figures do not say how many.
_IS_UNSURE = Q(devices_total__isnull=False, devices_unavailable__isnull=True) & Q(
    devices_allocated__isnull=False
)
_BY_STATE = {
    DeviceState.ALLOCATED: Coalesce("devices_allocated", 0),
    DeviceState.AVAILABLE: Case(When(_IS_SETTLED, then="devices_available"), default=0),
    DeviceState.BLOCKED: Case(When(_IS_SETTLED, then="devices_blocked"), default=0),
    DeviceState.UNAVAILABLE: Case(When(_IS_SETTLED, then="devices_unavailable"), default=0),
    # Without claims none is known, and of a pool that is not whole only those that are held.
    DeviceState.UNKNOWN: Case(
        When(_IS_SETTLED, then=0), default=F("devices_seen") - Coalesce("devices_allocated", 0)
    ),
}


def _counted_by_pools(wanted: DeviceFilter) -> list[tuple[str, str, int]]:
    condition = places(wanted.clusters, wanted.drivers, ())
    if wanted.pools:
        condition &= Q(name__in=wanted.pools)
    found = Pool.objects.filter(condition, devices_seen__gt=0)
    sure = found.exclude(_IS_UNSURE).order_by().values_list("driver")
    unsure = Device.objects.filter(pool_id__in=found.filter(_IS_UNSURE).values("id")).order_by()
    rows = sure.annotate(**{f"n_{state}": Sum(n) for state, n in _BY_STATE.items()}).union(
        unsure.values_list("driver").annotate(
            **{f"n_{state}": Count("device_id", filter=Q(state=state)) for state in _BY_STATE}
        ),
        all=True,
    )
    states = wanted.states or tuple(_BY_STATE)
    return [
        (driver, str(state), n)
        for driver, *counts in rows
        for state, n in zip(_BY_STATE, counts, strict=True)
        if n and state in states
    ]


def _facet(counted: Mapping[str, int]) -> list[Facet]:
    found = [Facet(value, n) for value, n in counted.items()]
    return sorted(found, key=lambda facet: (-facet.count, facet.value))
