"""Devices: where is a device like this?"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from clusters.views.kubectl import get_resource_slices
from clusters.views.list_page import Asked, Content, list_page
from pools import queries
from pools.listings import DEVICES
from pools.models import Allocation, Device
from pools.queries import DeviceFilter
from pools.views.shared import ShownProblem, facet_counts, problems_of
from ui.formatting import Reading, number, quantity
from ui.frame import Entry
from ui.lists import Column

# Attribute and capacity columns shown unless the URL chooses some.
DEFAULT_COLUMNS = 4
MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of one attribute or capacity; None: this device does not have it."""

    label: str
    reading: Reading | None


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """One device in the list."""

    device: Device
    cluster: str
    cells: tuple[Cell, ...]
    holders: tuple[Allocation, ...]
    problems: tuple[ShownProblem, ...]


@dataclass(frozen=True, slots=True)
class ColumnChooser:
    """All names a column could be made of, and those that are columns now."""

    names: tuple[str, ...]
    chosen: tuple[str, ...]


def _content(asked: Asked[Device, DeviceFilter]) -> Content:
    scope, wanted = asked.scope, asked.wanted
    facets = facet_counts(queries.device_facets(scope.snapshot, wanted))
    chooser = _chooser(asked, drivers=list(facets["driver"]))
    return Content(
        answer=_answer(facets["state"]),
        lines=_lines(asked, labels(chooser.chosen)),
        count=sum(facets["driver"].values()),
        facets=facets,
        columns=_columns(labels(chooser.chosen), has_driver=len(wanted.drivers) != 1),
        kubectl=get_resource_slices(scope.only, drivers=wanted.drivers, nodes=wanted.nodes),
        above="pools/_columns.html" if chooser.names else "",
        more=chooser,
    )


device_list = list_page(DEVICES, _content, entry=Entry(gettext_lazy("Devices"), "devices", "d"))


def _chooser(asked: Asked[Device, DeviceFilter], *, drivers: Sequence[str]) -> ColumnChooser:
    names = queries.attribute_names(asked.scope.snapshot, drivers)
    wished = dict.fromkeys(name for name in asked.query.getlist("column") if name)
    chosen = tuple(wished)[:MOST_COLUMNS] or _default_columns(names, asked.wanted)
    return ColumnChooser(tuple(dict.fromkeys([*names, *chosen])), chosen)


def _lines(
    asked: Asked[Device, DeviceFilter], columns: Mapping[str, str]
) -> tuple[DeviceLine, ...]:
    holders = queries.holders(asked.scope.snapshot, asked.rows)
    return tuple(
        DeviceLine(
            device=row,
            cluster=asked.scope.name_of(row.cluster_id),
            cells=tuple(cell_of(row, name, label=label) for name, label in columns.items()),
            holders=tuple(holders.get(row.id, ())),
            problems=problems_of(row),
        )
        for row in asked.rows
    )


def _default_columns(names: Sequence[str], wanted: queries.DeviceFilter) -> tuple[str, ...]:
    """What is filtered by first, then what most devices have."""
    filtered = [match.name for alternatives in wanted.matches for match in alternatives]
    known = set(names)
    ordered = dict.fromkeys([*(name for name in filtered if name in known), *names])
    return tuple(ordered)[:DEFAULT_COLUMNS]


def labels(names: Sequence[str]) -> dict[str, str]:
    """Short heads of columns by name: without the domain, where that leaves them different."""
    short = Counter(name.rpartition("/")[2] for name in names)
    cut = {name: name.rpartition("/")[2] for name in names}
    return {name: cut[name] if short[cut[name]] == 1 else name for name in names}


def cell_of(device: Device, name: str, *, label: str) -> Cell:
    """The capacity or attribute called `name`, as a person reads it."""
    for use in device.capacity:
        if use["name"] == name:
            return Cell(label, quantity(use["total"], name=name))
    if name in device.attributes:
        return Cell(label, attribute_reading(device.attributes[name]))
    return Cell(label, None)


def attribute_reading(value: Any) -> Reading:
    """An attribute's value as text, and as a filter takes it: "" where no filter says the same."""
    if isinstance(value, bool):
        return Reading(str(value).lower(), str(value).lower())
    if isinstance(value, list):
        return Reading(", ".join(str(each) for each in value), "")
    if value == "":
        return Reading(_("(empty)"), "")
    return Reading(str(value), str(value))


def _columns(chosen: Mapping[str, str], *, has_driver: bool) -> list[Column]:
    """Attributes and capacities stand last, as there may be many; the driver, where there may be several."""
    shown = [column for column in DEVICES.columns if has_driver or column.key != "driver"]
    more = [Column(f"column:{name}", label, note=name) for name, label in chosen.items()]
    return [*shown, *more]


def _answer(states: Mapping[str, int]) -> str:
    total = sum(states.values())
    if not total:
        return ""
    words = [
        ngettext("%(n)s device", "%(n)s devices", total) % {"n": number(total)},
        _("%(n)s free") % {"n": number(states.get("available", 0))},
    ]
    if states.get("unknown"):
        words.append(_("%(n)s unknown") % {"n": number(states["unknown"])})
    return ", ".join(words) + "."
