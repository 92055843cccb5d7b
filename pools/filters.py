"""Filters of the lists by their names; what each list takes is in `pools.listings`."""

from typing import Any, TypeVar

from pools.listings import DEVICES, POOLS, SLICES, STATUS_REQUESTS
from pools.queries import DeviceFilter, PoolFilter, SliceFilter, StatusFilter
from ui.listing import Listing, Read
from ui.parameters import Params
from ui.parameters import Refusal as FilterProblem
from ui.snapshot import Snapshot

__all__ = [
    "DEVICE_PARAMS",
    "POOL_PARAMS",
    "SLICE_PARAMS",
    "STATUS_PARAMS",
    "FilterProblem",
    "Params",
    "Read",
    "read_device_filter",
    "read_pool_filter",
    "read_slice_filter",
    "read_status_filter",
]

W = TypeVar("W")

POOL_PARAMS = POOLS.names
DEVICE_PARAMS = DEVICES.names
SLICE_PARAMS = SLICES.names
STATUS_PARAMS = STATUS_REQUESTS.names


def read_pool_filter(snapshot: Snapshot, params: Params) -> Read[PoolFilter]:
    return _checked(snapshot, POOLS, params)


def read_device_filter(snapshot: Snapshot, params: Params) -> Read[DeviceFilter]:
    return _checked(snapshot, DEVICES, params)


def read_slice_filter(snapshot: Snapshot, params: Params) -> Read[SliceFilter]:
    return _checked(snapshot, SLICES, params)


def read_status_filter(snapshot: Snapshot, params: Params) -> Read[StatusFilter]:
    return _checked(snapshot, STATUS_REQUESTS, params)


def _checked(snapshot: Snapshot, listing: Listing[Any, W], params: Params) -> Read[W]:
    read = listing.read(params)
    return Read(read.wanted, (*read.problems, *listing.absent(snapshot, read.wanted)))
