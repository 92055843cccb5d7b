"""From filters to conditions on rows."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import (
    BooleanField,
    F,
    Func,
    JSONField,
    Q,
    TextField,
    Value,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import In

from clusters import queries as cluster_queries
from pools.choices import Severity
from pools.models import DeviceUse, PublishedDevice
from pools.queries.wanted import (
    AttributeMatch,
    CapacityMatch,
    Comparison,
    DeviceFilter,
    PoolFilter,
)


def pool_condition(wanted: PoolFilter) -> Q:
    condition = places(wanted.clusters, wanted.drivers, wanted.nodes)
    if wanted.is_complete is not None:
        condition &= Q(is_complete=wanted.is_complete)
    if wanted.pools:
        condition &= Q(name__in=wanted.pools)
    if wanted.has_vanished is not None and not wanted.includes_vanished:
        condition &= Q(vanished_at__isnull=not wanted.has_vanished)
    if wanted.problems:
        condition &= any_of([_problem_condition(code) for code in wanted.problems])
    if wanted.fits:
        condition &= any_of([_fits_condition(what) for what in wanted.fits])
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
    if code == "serious":
        return Q(severity__gte=Severity.WARNING)
    if code == "none":
        return Q(severity=0)
    return Q(problem_codes__contains=[code])


def _fits_condition(what: str) -> Q:
    if what == "device":
        return Q(devices_available__gt=0)
    path = "$[*] ? (@.type == $type && @.allocatable > 0)"
    return _path_exists("partitions", path, {"type": what})


def any_of(conditions: Sequence[Q]) -> Q:
    result = Q()
    for condition in conditions:
        result |= condition
    return result


def places(clusters: Sequence[str], drivers: Sequence[str], nodes: Sequence[str]) -> Q:
    condition = Q()
    if clusters:
        condition &= any_of([cluster_queries.clusters_named(text) for text in clusters])
    if drivers:
        condition &= Q(driver__in=drivers)
    if nodes:
        condition &= Q(node_name__in=nodes)
    return condition


def device_condition(wanted: DeviceFilter) -> Q:
    condition = places(wanted.clusters, wanted.drivers, ())
    if wanted.nodes:
        condition &= on_nodes(wanted.nodes)
    if wanted.pools:
        condition &= Q(pool_name__in=wanted.pools)
    if wanted.devices:
        condition &= Q(name__in=wanted.devices)
    if wanted.has_vanished is not None and not wanted.includes_vanished:
        condition &= Q(vanished_at__isnull=not wanted.has_vanished)
    condition &= _use_condition(wanted)
    for alternatives in wanted.matches:
        condition &= any_of([_match_condition(match) for match in alternatives])
    if wanted.text:
        columns = ("name", "pool_name", "node_name")
        condition &= any_of([_has_text(column, wanted.text) for column in columns])
    return condition


def on_nodes(names: Sequence[str]) -> Q:
    """Devices of nodes, as the index has these by which devices are sorted."""
    return Q(In(Coalesce("node_name", Value(""), output_field=TextField()), names))


def _has_text(column: str, text: str) -> Q:
    """Whether a name has the text in it, which may be in upper case: names of devices, pools and nodes cannot.

    To fold 150,000 of them as well takes twice as long.
    """
    return any_of([Q(**{f"{column}__contains": each}) for each in sorted({text, text.lower()})])


def _use_condition(wanted: DeviceFilter) -> Q:
    """What is asked of the state that claims and taint rules put a device into."""
    condition = Q()
    if wanted.states:
        condition &= Q(state__in=wanted.states)
    if wanted.is_partly_used is not None:
        condition &= Q(is_partly_used=wanted.is_partly_used)
    if wanted.is_tainted is not None:
        condition &= _is_tainted() if wanted.is_tainted else Q(taints=[])
    if wanted.taints:
        condition &= any_of([Q(taints__contains=[{"key": key}]) for key in wanted.taints])
    if wanted.taint_rules:
        condition &= any_of([Q(taints__contains=[{"rule": name}]) for name in wanted.taint_rules])
    return condition


def _is_tainted() -> Q:
    """Of the few that have a taint in either table: of both together Postgres knows nothing, and would look through a whole list."""
    by_slice = PublishedDevice.objects.exclude(taints=[]).values("id")
    by_rule = DeviceUse.objects.filter(taints__isnull=False).exclude(taints=[])
    few = by_slice.union(by_rule.values("device_id"), all=True)
    return Q(id__in=few) & ~Q(taints=[])


def _match_condition(match: AttributeMatch | CapacityMatch) -> Q:
    if isinstance(match, AttributeMatch):
        return _attribute_condition(match)
    return _capacity_condition(match)


def _attribute_condition(match: AttributeMatch) -> Q:
    has_it = Q(attributes__has_key=match.name)
    if match.comparison == "exists":
        return has_it
    equal = any_of([Q(attributes__contains={match.name: value}) for value in match.values])
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
