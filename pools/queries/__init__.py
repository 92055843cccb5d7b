"""Reads about pools, devices, slices and pool status requests, for pages and the API alike.

Every list is one query plus its count, whatever its length.
"""

from pools.queries.device_counts import device_count, device_facets
from pools.queries.device_rows import (
    attribute_names,
    capacity_of,
    device,
    device_named,
    devices,
    devices_of_pool,
    holders,
    same_hardware,
)
from pools.queries.facets import Facet
from pools.queries.figures import (
    PartitionFigures,
    availability,
    partition_figures,
    partition_types,
)
from pools.queries.history import (
    RAW_HISTORY,
    GenerationChange,
    History,
    HistoryPoint,
    generation_changes,
    has_more_samples,
    pool_history,
    pool_samples,
)
from pools.queries.pool_counts import DriverFigures, PoolCounts, driver_figures, pool_counts
from pools.queries.pool_rows import (
    PoolIds,
    pool,
    pool_ids,
    pool_named,
    pools,
    pools_of_keys,
    troubled_pools,
)
from pools.queries.problem_starts import ProblemStart, ProblemStarts, problem_starts
from pools.queries.slice_rows import resource_slice, slice_of_device, slices, slices_of_pool
from pools.queries.status_rows import (
    Agreement,
    agreement,
    answers,
    latest_answer,
    latest_status_request,
    status_request,
    status_requests,
)
from pools.queries.unavailable import UnavailableDevices, unavailable_reasons
from pools.queries.unpublished import UnpublishedAllocation, unpublished_allocations
from pools.queries.wanted import (
    DEVICE_ORDERS,
    POOL_ORDERS,
    SLICE_ORDER,
    STATUS_ORDER,
    AttributeMatch,
    CapacityMatch,
    Comparison,
    DeviceFilter,
    PoolFilter,
    SliceFilter,
    StatusFilter,
)

__all__ = [
    "DEVICE_ORDERS",
    "POOL_ORDERS",
    "RAW_HISTORY",
    "SLICE_ORDER",
    "STATUS_ORDER",
    "Agreement",
    "AttributeMatch",
    "CapacityMatch",
    "Comparison",
    "DeviceFilter",
    "DriverFigures",
    "Facet",
    "GenerationChange",
    "History",
    "HistoryPoint",
    "PartitionFigures",
    "PoolCounts",
    "PoolFilter",
    "PoolIds",
    "ProblemStart",
    "ProblemStarts",
    "SliceFilter",
    "StatusFilter",
    "UnavailableDevices",
    "UnpublishedAllocation",
    "agreement",
    "answers",
    "attribute_names",
    "availability",
    "capacity_of",
    "device",
    "device_count",
    "device_facets",
    "device_named",
    "devices",
    "devices_of_pool",
    "driver_figures",
    "generation_changes",
    "has_more_samples",
    "holders",
    "latest_answer",
    "latest_status_request",
    "partition_figures",
    "partition_types",
    "pool",
    "pool_counts",
    "pool_history",
    "pool_ids",
    "pool_named",
    "pool_samples",
    "pools",
    "pools_of_keys",
    "problem_starts",
    "resource_slice",
    "same_hardware",
    "slice_of_device",
    "slices",
    "slices_of_pool",
    "status_request",
    "status_requests",
    "troubled_pools",
    "unavailable_reasons",
    "unpublished_allocations",
]
