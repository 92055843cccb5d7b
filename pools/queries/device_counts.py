"""How many devices match, by driver and state.

Of what a filter asks of places and states alone, the figures of pools tell: thousands of rows instead of hundreds of thousands.
"""

from collections import Counter

from django.db import connection
from django.db.models import Count, Q, QuerySet

from pools.choices import DeviceState
from pools.models import Device, Pool, PublishedDevice
from pools.queries.conditions import device_condition, places
from pools.queries.facets import Facet, facets_of
from pools.queries.wanted import DeviceFilter
from ui.snapshot import Snapshot

# By driver and state.
Counts = list[tuple[str, str, int]]


def device_facets(snapshot: Snapshot, wanted: DeviceFilter) -> dict[str, list[Facet]]:
    """Drivers and states among the devices that match, with counts; one query, and one more where pools cannot tell of all."""
    drivers: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for driver, state, n in _counts(wanted):
        drivers[driver] += n
        states[state] += n
    return {"driver": facets_of(drivers), "state": facets_of(states)}


def device_count(snapshot: Snapshot, wanted: DeviceFilter) -> int:
    """How many devices match; one query, which reads no more than it must, and one more where pools cannot tell of all."""
    if _asks_for_places(wanted):
        return sum(n for _, _, n in _counts_by_pools(wanted))
    if _asks_for_use(wanted):
        return Device.known.filter(device_condition(wanted)).count()
    return PublishedDevice.objects.filter(device_condition(wanted)).count()


def _counts(wanted: DeviceFilter) -> Counts:
    """From the pools' figures, where these can tell."""
    if _asks_for_places(wanted):
        return _counts_by_pools(wanted)
    return _counts_of(Device.known.filter(device_condition(wanted)))


def _asks_for_places(wanted: DeviceFilter) -> bool:
    """Whether each pool matches with all of its devices or with none, states apart."""
    asked = DeviceFilter(
        clusters=wanted.clusters,
        drivers=wanted.drivers,
        pools=wanted.pools,
        states=wanted.states,
    )
    return wanted == asked


def _asks_for_use(wanted: DeviceFilter) -> bool:
    """Whether it asks for what claims and rules make of a device, which stands apart from what is published."""
    asked = (wanted.states, wanted.taints, wanted.taint_rules)
    flags = (wanted.is_partly_used, wanted.is_tainted)
    return any(asked) or any(flag is not None for flag in flags)


def _counts_of(rows: QuerySet[Device]) -> Counts:
    return list(rows.order_by().values_list("driver", "state").annotate(n=Count("*")))


# The columns that the statement below reads.
_FIGURES = (
    "driver", "devices_total", "devices_seen", "devices_allocated", "devices_unavailable",
    "devices_blocked", "devices_available",
)  # fmt: skip
# Without claims no state is known, and of a pool that is not whole only those devices that are held.
_BY_POOLS = """
SELECT driver, bool_or(is_unsure),
    coalesce(sum(devices_allocated) FILTER (WHERE NOT is_unsure), 0),
    coalesce(sum(devices_available) FILTER (WHERE is_settled), 0),
    coalesce(sum(devices_blocked) FILTER (WHERE is_settled), 0),
    coalesce(sum(devices_unavailable) FILTER (WHERE is_settled), 0),
    coalesce(sum(devices_seen - coalesce(devices_allocated, 0)) FILTER (WHERE NOT is_settled AND NOT is_unsure), 0)
FROM (
    SELECT *, devices_total IS NOT NULL AND devices_unavailable IS NOT NULL AS is_settled,
        devices_total IS NOT NULL AND devices_unavailable IS NULL AND devices_allocated IS NOT NULL AS is_unsure
    FROM ({rows}) AS found
) AS pools
GROUP BY driver
"""
_STATES = (
    DeviceState.ALLOCATED,
    DeviceState.AVAILABLE,
    DeviceState.BLOCKED,
    DeviceState.UNAVAILABLE,
    DeviceState.UNKNOWN,
)
# Of such pools some devices are in a state that nobody knows, and the figures do not say how many.
_IS_UNSURE = Q(
    devices_total__isnull=False, devices_unavailable__isnull=True, devices_allocated__isnull=False
)


def _counts_by_pools(wanted: DeviceFilter) -> Counts:
    pools = Pool.objects.filter(_pool_condition(wanted), devices_seen__gt=0)
    rows, parameters = pools.values_list(*_FIGURES).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(_BY_POOLS.format(rows=rows), parameters)
        counted = cursor.fetchall()
    states = wanted.states or _STATES
    counts = [
        (driver, str(state), n)
        for driver, _, *numbers in counted
        for state, n in zip(_STATES, numbers, strict=True)
        if n and state in states
    ]
    if any(is_unsure for _, is_unsure, *_ in counted):
        unsure = pools.filter(_IS_UNSURE).values("id")
        counts += _counts_of(Device.objects.filter(pool_id__in=unsure, state__in=states))
    return counts


def _pool_condition(wanted: DeviceFilter) -> Q:
    condition = places(wanted.clusters, wanted.drivers, ())
    return condition & Q(name__in=wanted.pools) if wanted.pools else condition
