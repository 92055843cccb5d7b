"""What a list is asked for: filters as frozen values, made from a URL by `pools.listings`, and the words to sort by."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Comparison = Literal["=", "!=", ">=", "<=", ">", "<", "exists"]


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
    pools: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    is_complete: bool | None = None
    # Problem codes; "any" and "none" mean what they say, "serious" is an error or a warning.
    problems: tuple[str, ...] = ()
    # A partition type that still fits, or "device": any device that is available.
    fits: tuple[str, ...] = ()
    text: str = ""
    has_vanished: bool | None = False
    # Beside those that are there, whatever `has_vanished` says.
    includes_vanished: bool | None = False


@dataclass(frozen=True, slots=True)
class DeviceFilter:
    """Which devices; what is empty or None does not restrict."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    is_partly_used: bool | None = None
    is_tainted: bool | None = None
    # Keys of taints, and names of the rules that set them.
    taints: tuple[str, ...] = ()
    taint_rules: tuple[str, ...] = ()
    # Every one must hold, by at least one of its alternatives.
    matches: tuple[tuple[AttributeMatch | CapacityMatch, ...], ...] = ()
    text: str = ""
    has_vanished: bool | None = False
    # Beside those that are there, whatever `has_vanished` says.
    includes_vanished: bool | None = False


@dataclass(frozen=True, slots=True)
class SliceFilter:
    """Which ResourceSlices."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    text: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusFilter:
    """Which pool status requests."""

    clusters: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    is_differing: bool | None = None
    text: str = ""


# Sort columns by the word in the URL. Each ends in what makes it unique; none is null, and all are of one direction, so that a
# page is found by comparing whole rows.
POOL_ORDERS: Mapping[str, tuple[str, ...]] = {
    "problems": ("calm_sort", "driver", "name", "id"),
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
    "state": ("state", "device_id"),
}


SLICE_ORDER = ("driver", "pool_name", "name", "object_id")


STATUS_ORDER = ("-created_at", "-id")
