"""Reads about pools, devices, slices and pool status requests, for pages and the API alike.

A filter is a frozen value, made from a URL by `pools.filters`; every list is one query plus its count, whatever its length.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from django.db import connection
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    F,
    Func,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
)
from django.db.models.functions import Coalesce

from clusters import queries as cluster_queries
from clusters.models import Gap
from dra import series
from pools.models import (
    Allocation,
    Device,
    Pool,
    PoolHour,
    PoolSample,
    PoolStatusAnswer,
    PoolStatusRequest,
    ResourceSlice,
)

Comparison = Literal["=", "!=", ">=", "<=", ">", "<", "exists"]

# Above this many hours a history comes from the hourly rollups.
RAW_HISTORY = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class AttributeMatch:
    """A condition on one attribute. `values` are the JSON values that the text may stand for."""

    name: str
    comparison: Comparison
    values: tuple[str | int | bool, ...] = ()


@dataclass(frozen=True, slots=True)
class CapacityMatch:
    """A condition on the total of one capacity, in plain units."""

    name: str
    comparison: Comparison
    number: Decimal


@dataclass(frozen=True, slots=True)
class PoolFilter:
    """Which pools; what is empty or None does not restrict."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    is_complete: bool | None = None
    # Problem codes; "any" and "none" mean what they say.
    problems: tuple[str, ...] = ()
    # A partition type that still fits, or "device": any device that is available.
    fits: tuple[str, ...] = ()
    text: str = ""
    has_vanished: bool | None = False


@dataclass(frozen=True, slots=True)
class DeviceFilter:
    """Which devices; what is empty or None does not restrict."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    is_partly_used: bool | None = None
    is_tainted: bool | None = None
    # Every one must hold, by at least one of its alternatives.
    matches: tuple[tuple[AttributeMatch | CapacityMatch, ...], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class SliceFilter:
    """Which ResourceSlices."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class StatusFilter:
    """Which pool status requests."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    is_differing: bool | None = None


# Sort columns by the word in the URL. Each ends in what makes it unique; none is null.
POOL_ORDERS: Mapping[str, tuple[str, ...]] = {
    "problems": ("-severity", "driver", "name", "id"),
    "name": ("name", "driver", "id"),
    "driver": ("driver", "name", "id"),
    "node": ("node_sort", "driver", "name", "id"),
    "available": ("available_sort", "driver", "name", "id"),
    "allocated": ("allocated_sort", "driver", "name", "id"),
    "total": ("total_sort", "driver", "name", "id"),
}
DEVICE_ORDERS: Mapping[str, tuple[str, ...]] = {
    "name": ("driver", "pool_name", "name", "id"),
    "node": ("node_sort", "driver", "pool_name", "name", "id"),
    "state": ("state", "driver", "pool_name", "name", "id"),
}
SLICE_ORDER = ("driver", "pool_name", "name", "object_id")
STATUS_ORDER = ("-created_at", "-id")


def order_columns(orders: Mapping[str, tuple[str, ...]], word: str) -> tuple[str, ...]:
    """Columns for a word such as `available` or `-available`; the minus turns the first column round."""
    columns = orders[word.lstrip("-")]
    if not word.startswith("-"):
        return columns
    first = columns[0]
    return (first[1:] if first.startswith("-") else f"-{first}", *columns[1:])


def pools(wanted: PoolFilter) -> QuerySet[Pool]:
    """The pools that match, with the columns that POOL_ORDERS sorts by."""
    return Pool.objects.filter(_pool_condition(wanted)).annotate(
        node_sort=Coalesce("node_name", Value(""), output_field=TextField()),
        available_sort=Coalesce("devices_available", Value(-1), output_field=IntegerField()),
        allocated_sort=Coalesce("devices_allocated", Value(-1), output_field=IntegerField()),
        total_sort=Coalesce("devices_total", Value(-1), output_field=IntegerField()),
    )


def _pool_condition(wanted: PoolFilter) -> Q:
    condition = _places(wanted.clusters, wanted.drivers, wanted.nodes)
    if wanted.is_complete is not None:
        condition &= Q(is_complete=wanted.is_complete)
    if wanted.has_vanished is not None:
        condition &= Q(vanished_at__isnull=not wanted.has_vanished)
    if wanted.problems:
        condition &= _any_of([_problem_condition(code) for code in wanted.problems])
    if wanted.fits:
        condition &= _any_of([_fits_condition(what) for what in wanted.fits])
    if wanted.text:
        condition &= (
            Q(name__icontains=wanted.text)
            | Q(driver__icontains=wanted.text)
            | Q(node_name__icontains=wanted.text)
        )
    return condition


def _path_exists(column: str, path: str, variables: Mapping[str, Any]) -> Q:
    """Whether the JSON of a column has something at an SQL/JSON path; a value of another type is no match."""
    return Q(
        Func(
            F(column),
            Func(Value(path), template="(%(expressions)s)::jsonpath"),
            Value(dict(variables), output_field=JSONField()),
            function="jsonb_path_exists",
            output_field=BooleanField(),
        )
    )


def _problem_condition(code: str) -> Q:
    if code == "any":
        return Q(severity__gt=0)
    if code == "none":
        return Q(severity=0)
    return Q(problem_codes__contains=[code])


def _fits_condition(what: str) -> Q:
    if what == "device":
        return Q(devices_available__gt=0)
    path = "$[*] ? (@.type == $type && @.allocatable > 0)"
    return _path_exists("partitions", path, {"type": what})


def _any_of(conditions: Sequence[Q]) -> Q:
    result = Q()
    for condition in conditions:
        result |= condition
    return result


def _places(clusters: Sequence[str], drivers: Sequence[str], nodes: Sequence[str]) -> Q:
    condition = Q()
    if clusters:
        condition &= _any_of([cluster_queries.clusters_named(text) for text in clusters])
    if drivers:
        condition &= Q(driver__in=drivers)
    if nodes:
        condition &= Q(node_name__in=nodes)
    return condition


def pool(pool_id: int) -> Pool:
    """One pool; raises Pool.DoesNotExist."""
    return Pool.objects.get(id=pool_id)


def pools_of_keys(cluster_id: int, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Ids of the pools with these (driver, name) keys, for links; one query."""
    if not keys:
        return {}
    drivers, names = {driver for driver, _ in keys}, {name for _, name in keys}
    rows = Pool.objects.filter(cluster_id=cluster_id, driver__in=drivers, name__in=names)
    return {(row.driver, row.name): row.id for row in rows.only("id", "driver", "name")}


PoolIds = Mapping[tuple[int, str, str], int]


def pool_ids(rows: Sequence[ResourceSlice]) -> PoolIds:
    """Ids of the pools of some slices by cluster id, driver and name, for links; one query."""
    if not rows:
        return {}
    found = Pool.objects.filter(
        cluster_id__in={row.cluster_id for row in rows},
        driver__in={row.driver for row in rows},
        name__in={row.pool_name for row in rows},
    )
    return {
        (row.cluster_id, row.driver, row.name): row.id
        for row in found.only("cluster_id", "id", "driver", "name")
    }


def devices(wanted: DeviceFilter) -> QuerySet[Device]:
    """The devices that match, with the columns that DEVICE_ORDERS sorts by."""
    return Device.objects.filter(_device_condition(wanted)).annotate(
        node_sort=Coalesce("node_name", Value(""), output_field=TextField())
    )


def _device_condition(wanted: DeviceFilter) -> Q:
    condition = _places(wanted.clusters, wanted.drivers, wanted.nodes)
    if wanted.pools:
        condition &= Q(pool_name__in=wanted.pools)
    if wanted.states:
        condition &= Q(state__in=wanted.states)
    if wanted.is_partly_used is not None:
        condition &= Q(is_partly_used=wanted.is_partly_used)
    if wanted.is_tainted is not None:
        condition &= ~Q(taints=[]) if wanted.is_tainted else Q(taints=[])
    for alternatives in wanted.matches:
        condition &= _any_of([_match_condition(match) for match in alternatives])
    if wanted.text:
        condition &= (
            Q(name__icontains=wanted.text)
            | Q(pool_name__icontains=wanted.text)
            | Q(node_name__icontains=wanted.text)
        )
    return condition


def _match_condition(match: AttributeMatch | CapacityMatch) -> Q:
    if isinstance(match, AttributeMatch):
        return _attribute_condition(match)
    return _capacity_condition(match)


def _attribute_condition(match: AttributeMatch) -> Q:
    has_it = Q(attributes__has_key=match.name)
    if match.comparison == "exists":
        return has_it
    equal = _any_of([Q(attributes__contains={match.name: value}) for value in match.values])
    if match.comparison == "=":
        return equal
    if match.comparison == "!=":
        return has_it & ~equal
    return _number_condition("attributes", match.name, match.comparison, Decimal(match.values[0]))


def _capacity_condition(match: CapacityMatch) -> Q:
    if match.comparison == "exists":
        return Q(capacity_numbers__has_key=match.name)
    return _number_condition("capacity_numbers", match.name, match.comparison, match.number)


def _number_condition(column: str, name: str, comparison: Comparison, number: Decimal) -> Q:
    operator = "==" if comparison == "=" else comparison
    # A JSON string is a jsonpath string, so the name cannot end the path.
    path = f"$.{json.dumps(name)} ? (@ {operator} $number)"
    is_whole = number == int(number)
    return _path_exists(column, path, {"number": int(number) if is_whole else float(number)})


def device(device_id: int) -> Device:
    """One device; raises Device.DoesNotExist."""
    return Device.objects.get(id=device_id)


def devices_of_pool(found: Pool) -> QuerySet[Device]:
    """The devices of one pool."""
    return Device.objects.filter(cluster_id=found.cluster_id, pool_id=found.id)


_SAMPLE = """
SELECT d.driver, d.attributes, d.capacity_numbers
FROM unnest(%s::text[]) AS wanted(driver) CROSS JOIN LATERAL (
    SELECT driver, attributes, capacity_numbers FROM pools_device
    WHERE pools_device.driver = wanted.driver ORDER BY driver, pool_name, name, id LIMIT %s
) d
"""
# Last words of attribute names that tell what a device is; they come before the others.
_TELLING = ("productname", "model", "product", "profile", "type")


def attribute_names(drivers: Sequence[str], *, sample: int = 40) -> list[str]:
    """Names of capacities and attributes that the first devices of each driver have; one query.

    What tells what a device is comes first, then what most drivers have, capacities before attributes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLE, [list(drivers), sample])
        rows = cursor.fetchall()
    having: dict[str, set[str]] = {}
    capacities: set[str] = set()
    for driver, attributes, capacity in rows:
        numbers = json.loads(capacity)
        capacities.update(numbers)
        for name in (*numbers, *json.loads(attributes)):
            having.setdefault(name, set()).add(driver)
    return sorted(
        having, key=lambda n: (_telling_rank(n), -len(having[n]), n not in capacities, n)
    )


def _telling_rank(name: str) -> int:
    word = name.rpartition("/")[2].lower()
    return _TELLING.index(word) if word in _TELLING else len(_TELLING)


# Last words of attribute names whose value belongs to one piece of hardware, wherever it is published.
_IDENTITIES = ("uuid", "serial", "serialnumber")
# The same within one node.
_NODE_IDENTITIES = ("pcibusid", "pciaddress", "pci")


def same_hardware(found: Device, *, limit: int) -> list[Device]:
    """Other devices of the cluster that are the same piece of hardware or a part of it, by their attributes; one query."""
    condition = Q()
    for name, value in found.attributes.items():
        word = name.rpartition("/")[2].lower()
        if not isinstance(value, str) or not value:
            continue
        equal = Q(attributes__contains={name: value})
        if word in _IDENTITIES:
            condition |= equal
        elif word in _NODE_IDENTITIES and found.node_name:
            condition |= equal & Q(node_name=found.node_name)
    if not condition:
        return []
    rows = Device.objects.filter(condition, cluster_id=found.cluster_id).exclude(id=found.id)
    return list(rows.order_by("driver", "pool_name", "name", "id")[:limit])


def holders(found: Sequence[Device]) -> dict[int, list[Allocation]]:
    """Allocation results by device id, those with admin access among them; one query."""
    if not found:
        return {}
    by_key = {(d.cluster_id, d.driver, d.pool_name, d.name): d.id for d in found}
    rows = Allocation.objects.filter(
        cluster_id__in={d.cluster_id for d in found},
        driver__in={d.driver for d in found},
        pool_name__in={d.pool_name for d in found},
        device__in={d.name for d in found},
    ).order_by("claim_namespace", "claim_name", "request", "share_id", "id")
    result: dict[int, list[Allocation]] = {}
    for row in rows:
        key = (row.cluster_id, row.driver, row.pool_name, row.device)
        if key in by_key:
            result.setdefault(by_key[key], []).append(row)
    return result


def unpublished_allocations(cluster_ids: Sequence[int]) -> QuerySet[Allocation]:
    """Allocation results whose device no pool publishes now."""
    published = Device.objects.filter(
        cluster_id=OuterRef("cluster_id"),
        driver=OuterRef("driver"),
        pool_name=OuterRef("pool_name"),
        name=OuterRef("device"),
    )
    return (
        Allocation.objects.filter(cluster_id__in=cluster_ids)
        .filter(~Exists(published))
        .order_by("driver", "pool_name", "device", "id")
    )


def slices(wanted: SliceFilter) -> QuerySet[ResourceSlice]:
    """The living ResourceSlices that match."""
    condition = _places(wanted.clusters, wanted.drivers, wanted.nodes)
    if wanted.pools:
        condition &= Q(pool_name__in=wanted.pools)
    if wanted.text:
        condition &= Q(name__icontains=wanted.text) | Q(pool_name__icontains=wanted.text)
    return ResourceSlice.objects.filter(condition)


def resource_slice(object_id: int) -> ResourceSlice:
    """One living ResourceSlice; raises ResourceSlice.DoesNotExist."""
    return ResourceSlice.objects.get(object_id=object_id)


def slice_of_device(found: Device) -> ResourceSlice | None:
    """The living ResourceSlice that publishes a device."""
    return ResourceSlice.objects.filter(
        cluster_id=found.cluster_id, object_id=found.slice_object_id
    ).first()


def slices_of_pool(found: Pool) -> QuerySet[ResourceSlice]:
    """The slices of one pool, newest generation first."""
    return ResourceSlice.objects.filter(
        cluster_id=found.cluster_id, driver=found.driver, pool_name=found.name
    ).order_by(F("generation").desc(nulls_last=True), "name")


def status_requests(wanted: StatusFilter) -> QuerySet[PoolStatusRequest]:
    """Pool status requests that match."""
    condition = _places(wanted.clusters, wanted.drivers, ())
    if wanted.outcomes:
        condition &= Q(outcome__in=wanted.outcomes)
    if wanted.is_differing is not None:
        condition &= Q(pools_differing__gt=0) if wanted.is_differing else Q(pools_differing=0)
    return PoolStatusRequest.objects.filter(condition)


def latest_comparisons(cluster_ids: Sequence[int]) -> list[PoolStatusRequest]:
    """Of each driver the newest request about all its pools whose answer was compared with our figures; one query."""
    rows = PoolStatusRequest.objects.filter(
        cluster_id__in=cluster_ids, pool_name="", pools_differing__isnull=False
    )
    return list(
        rows.order_by("cluster_id", "driver", "-created_at", "-id").distinct(
            "cluster_id", "driver"
        )
    )


def status_request(request_id: int) -> PoolStatusRequest:
    """One pool status request; raises PoolStatusRequest.DoesNotExist."""
    return PoolStatusRequest.objects.get(pk=request_id)


def answers(request_id: int) -> QuerySet[PoolStatusAnswer]:
    """What one request's answer says of each pool, those that differ first."""
    return PoolStatusAnswer.objects.filter(request_id=request_id).order_by(
        Func(
            Coalesce("differences", Value([], JSONField())),
            function="jsonb_array_length",
        ).desc(),
        "driver",
        "pool_name",
        "id",
    )


def latest_answer(found: Pool) -> PoolStatusAnswer | None:
    """The newest answer of the server about one pool, with its request."""
    return (
        PoolStatusAnswer.objects.filter(
            cluster_id=found.cluster_id, driver=found.driver, pool_name=found.name
        )
        .select_related("request")
        .order_by("-observed_at", "-id")
        .first()
    )


def latest_status_request(found: Pool) -> PoolStatusRequest | None:
    """The newest pool status request that covers one pool, answered or not."""
    return (
        PoolStatusRequest.objects.filter(cluster_id=found.cluster_id, driver=found.driver)
        .filter(Q(pool_name="") | Q(pool_name=found.name))
        .order_by("-created_at", "-id")
        .first()
    )


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


def driver_figures(clusters: Sequence[str] = ()) -> list[DriverFigures]:
    """Figures by cluster and driver, over pools that are published; one query."""
    wanted = PoolFilter(clusters=tuple(clusters))
    rows = (
        Pool.objects.filter(_pool_condition(wanted))
        .values("cluster_id", "cluster__name", "driver")
        .annotate(
            pools=Count("id"),
            seen=Sum("devices_seen"),
            troubled=Count("id", filter=Q(severity__gte=2)),
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
    cluster_ids: Sequence[int], *, young: Sequence[int], start: datetime, end: datetime
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


@dataclass(frozen=True, slots=True)
class Facet:
    """One value that a list can be filtered by, and how many rows have it."""

    value: str
    count: int


def pool_facets(wanted: PoolFilter) -> dict[str, list[Facet]]:
    """Drivers, problem codes and what still fits among the pools that match, with counts; three queries."""
    rows = Pool.objects.filter(_pool_condition(wanted))
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


def device_facets(wanted: DeviceFilter) -> dict[str, list[Facet]]:
    """Drivers and states among the devices that match, with counts; one query, which reads the devices once."""
    drivers: Counter[str] = Counter()
    states: Counter[str] = Counter()
    rows = Device.objects.filter(_device_condition(wanted)).order_by()
    for driver, state, n in rows.values_list("driver", "state").annotate(n=Count("*")):
        drivers[driver] += n
        states[state] += n
    return {"driver": _facet(drivers), "state": _facet(states)}


def _facet(counted: Mapping[str, int]) -> list[Facet]:
    found = [Facet(value, n) for value, n in counted.items()]
    return sorted(found, key=lambda facet: (-facet.count, facet.value))


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A pool's figures at a moment of a chart. With a step, `figures` are means, with `least` and `most` beside them."""

    at: datetime
    figures: series.Figures
    generation: int | None = None
    is_complete: bool | None = None
    least: series.Figures | None = None
    most: series.Figures | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A pool's figures over a time; `step` None: every change, exactly."""

    start: datetime
    end: datetime
    step: timedelta | None
    points: tuple[HistoryPoint, ...]
    gaps: tuple[series.Span, ...]
    # The same gaps with their kinds and reasons.
    gap_rows: tuple[Gap, ...] = ()


def pool_history(
    found: Pool, *, start: datetime, end: datetime, step: timedelta | None
) -> History:
    """What a pool was like between start and end, gaps as unknown figures; three queries."""
    rows = tuple(cluster_queries.gaps([found.cluster_id], start=start, end=end))
    gaps = [series.Span(gap.started_at, gap.ended_at) for gap in rows]
    if step is not None and end - start > RAW_HISTORY:
        points = _rolled_up(found, start=start, end=end, step=step)
    else:
        samples = pool_samples(found, start=start, end=end)
        points = _points(samples, gaps, start=start, end=end, step=step)
    return History(start, end, step, tuple(points), tuple(gaps), gap_rows=rows)


def pool_samples(found: Pool, *, start: datetime, end: datetime) -> list[series.Sample]:
    """Samples between start and end, and the one that held at the start; two queries."""
    rows = PoolSample.objects.filter(cluster_id=found.cluster_id, pool_id=found.id)
    earlier = rows.filter(at__lte=start).order_by("-at").first()
    later = rows.filter(at__gt=start, at__lte=end).order_by("at")
    return [_sample(row) for row in ([earlier] if earlier else []) + list(later)]


def has_more_samples(found: Pool, *, start: datetime, end: datetime, limit: int) -> bool:
    """Whether the figures changed more than `limit` times between start and end; reads no more than that."""
    rows = PoolSample.objects.filter(
        cluster_id=found.cluster_id, pool_id=found.id, at__gt=start, at__lte=end
    )
    return rows.order_by("at")[limit : limit + 1].exists()


def _sample(row: PoolSample) -> series.Sample:
    figures = series.Figures(**{name: getattr(row, name) for name in series.FIGURES})
    return series.Sample(row.at, figures, row.generation, row.is_complete, row.has_vanished)


def _points(
    samples: Sequence[series.Sample],
    gaps: Sequence[series.Span],
    *,
    start: datetime,
    end: datetime,
    step: timedelta | None,
) -> list[HistoryPoint]:
    if step is None:
        cut = series.cut_by_gaps(samples, gaps=gaps, start=start, end=end)
        return [HistoryPoint(s.at, s.figures, s.generation, s.is_complete) for s in cut]
    averaged = series.steps(samples, gaps=gaps, start=start, end=end, step=step)
    return [HistoryPoint(s.at, s.mean, least=s.least, most=s.most) for s in averaged]


def _rolled_up(
    found: Pool, *, start: datetime, end: datetime, step: timedelta
) -> list[HistoryPoint]:
    rows = PoolHour.objects.filter(
        cluster_id=found.cluster_id, pool_id=found.id, hour__gte=start, hour__lt=end
    ).order_by("hour")
    hours = [
        series.Step(
            row.hour,
            row.known_seconds,
            series.Figures(*row.mean),
            series.Figures(*row.least),
            series.Figures(*row.most),
        )
        for row in rows
    ]
    joined = series.join_steps(hours, start=start, end=end, step=step)
    return [HistoryPoint(s.at, s.mean, least=s.least, most=s.most) for s in joined]


@dataclass(frozen=True, slots=True)
class GenerationChange:
    """From when a pool had a generation, and whether it was complete at first."""

    at: datetime
    generation: int | None
    is_complete: bool
    has_vanished: bool


def generation_changes(found: Pool, *, start: datetime, end: datetime) -> list[GenerationChange]:
    """When generation or completeness changed, newest first."""
    changes: list[GenerationChange] = []
    for sample in pool_samples(found, start=start, end=end):
        now = (sample.generation, sample.is_complete, sample.has_vanished)
        before = changes[-1] if changes else None
        if before and (before.generation, before.is_complete, before.has_vanished) == now:
            continue
        changes.append(GenerationChange(sample.at, *now))
    changes.reverse()
    return changes


def troubled_pools(clusters: Sequence[str] = (), *, limit: int = 20) -> list[Pool]:
    """The pools with the worst problems, warnings and up; one query."""
    condition = _pool_condition(PoolFilter(clusters=tuple(clusters))) & Q(severity__gte=2)
    return list(Pool.objects.filter(condition).order_by(*POOL_ORDERS["problems"])[:limit])
