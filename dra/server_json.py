"""Pool status answers from and to the JSON of the API."""

from typing import TYPE_CHECKING, Any

from dra.fields import Fields
from dra.parsing import Parsed, unidentified
from dra.quantity import ZERO
from dra.server import DEFAULT_LIMIT, PoolStatus, StatusRequest
from dra.server_views import CapacityStatus, PartitionStatus, ShareableStatus

if TYPE_CHECKING:
    from dra.values import Problem

Json = dict[str, Any]


def parse_status_request(spec: Any) -> Parsed[StatusRequest]:
    """Read the spec of a ResourcePoolStatusRequest."""
    problems: list[Problem] = []
    fields = Fields(spec, path="spec", problems=problems)
    driver = fields.text("driver")
    if not driver:
        return unidentified(problems, kind="ResourcePoolStatusRequest", missing="spec.driver")
    limit = fields.integer("limit")
    request = StatusRequest(
        driver=driver,
        pool=fields.text("poolName"),
        limit=DEFAULT_LIMIT if limit is None else limit,
        default_partition_type_attribute=fields.text("defaultPartitionTypeAttribute"),
    )
    return Parsed(request, tuple(problems))


def parse_pool_statuses(status: Any) -> Parsed[tuple[PoolStatus, ...]]:
    """Read `status.pools` of an answered request."""
    problems: list[Problem] = []
    fields = Fields(status, path="status", problems=problems)
    pools = tuple(_pool_status(item) for item in fields.children("pools"))
    return Parsed(pools, tuple(problems))


def _pool_status(fields: Fields) -> PoolStatus:
    partitions = None
    if fields.has("partitionSummary"):
        partitions = tuple(_partition(item) for item in fields.children("partitionSummary"))
    shareable = None
    if fields.has("shareableSummary"):
        shareable = _shareable(fields.child("shareableSummary"))
    return PoolStatus(
        driver=fields.text("driver") or "",
        pool=fields.text("poolName") or "",
        generation=fields.integer("generation"),
        resource_slice_count=fields.integer("resourceSliceCount"),
        total=fields.integer("totalDevices"),
        allocated=fields.integer("allocatedDevices"),
        available=fields.integer("availableDevices"),
        unavailable=fields.integer("unavailableDevices"),
        node_name=fields.text("nodeName"),
        validation_error=fields.text("validationError"),
        partitions=partitions,
        shareable=shareable,
    )


def _partition(fields: Fields) -> PartitionStatus:
    return PartitionStatus(
        attribute=fields.text("attribute") or "",
        type=fields.text("type") or "",
        total=fields.integer("total") or 0,
        allocatable=fields.integer("allocatable") or 0,
    )


def _shareable(fields: Fields) -> ShareableStatus:
    return ShareableStatus(
        fully_available=fields.integer("fullyAvailableDevices") or 0,
        partially_available=fields.integer("partiallyAvailableDevices") or 0,
        capacity=tuple(_capacity(item) for item in fields.children("capacity")),
    )


def _capacity(fields: Fields) -> CapacityStatus:
    return CapacityStatus(
        name=fields.text("name") or "",
        total=fields.quantity("total") or ZERO,
        consumed=fields.quantity("consumed") or ZERO,
        available=fields.quantity("available") or ZERO,
    )


def pool_status_json(status: PoolStatus) -> Json:
    """As the API server writes it: what is None is left out."""
    named: Json = {
        "driver": status.driver,
        "poolName": status.pool,
        "generation": status.generation,
        "resourceSliceCount": status.resource_slice_count,
        "totalDevices": status.total,
        "allocatedDevices": status.allocated,
        "availableDevices": status.available,
        "unavailableDevices": status.unavailable,
        "nodeName": status.node_name,
        "validationError": status.validation_error,
        "partitionSummary": _partitions_json(status.partitions),
        "shareableSummary": _shareable_json(status.shareable),
    }
    return {name: value for name, value in named.items() if value is not None}


def _partitions_json(partitions: tuple[PartitionStatus, ...] | None) -> list[Json] | None:
    """An empty list is left out."""
    if not partitions:
        return None
    return [
        {
            "attribute": item.attribute,
            "type": item.type,
            "total": item.total,
            "allocatable": item.allocatable,
        }
        for item in partitions
    ]


def _shareable_json(shareable: ShareableStatus | None) -> Json | None:
    if shareable is None:
        return None
    written: Json = {
        "fullyAvailableDevices": shareable.fully_available,
        "partiallyAvailableDevices": shareable.partially_available,
    }
    if shareable.capacity:
        written["capacity"] = [
            {
                "name": item.name,
                "total": str(item.total),
                "consumed": str(item.consumed),
                "available": str(item.available),
            }
            for item in shareable.capacity
        ]
    return written
