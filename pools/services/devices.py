"""Devices as rows: what their slices say of them, and apart from that the state that claims and rules put them into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dra import shapes
from dra.sharing import capacity_of_device
from dra.tainting import taints_of
from objects.services import versions
from objects.services.staging import Cursor, as_jsonb, as_text
from objects.services.versions import RowsWhere
from pools.services.tables import DEVICE_USES, PUBLISHED_DEVICES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from dra.values import AssessedDevice, AssessedPool
    from objects.services.changes import Wants
    from objects.services.versions import RowChange


@dataclass(frozen=True, slots=True)
class DerivedPool:
    """A pool whose devices are to be written."""

    id: int
    pool: AssessedPool
    object_ids: Mapping[str, int]
    """By uid, the ids of the slices' objects."""


def write_devices(
    cursor: Cursor,
    cluster_id: int,
    derived: Sequence[DerivedPool],
    *,
    known_ids: Collection[int],
    now: datetime,
    wants: Wants,
) -> list[RowChange]:
    """Bring the devices of these pools up to date; of `known_ids`, those that are not found have none any more."""
    changes: list[RowChange] = []
    if known_ids:
        known = [each for each in derived if each.id in known_ids]
        changes += _merge(cursor, cluster_id, known, known_ids=known_ids, now=now, wants=wants)
    new = [each for each in derived if each.id not in known_ids]
    if new:
        changes += _append(cursor, cluster_id, new, now=now, wants=wants)
    return changes


def _merge(
    cursor: Cursor,
    cluster_id: int,
    derived: Sequence[DerivedPool],
    *,
    known_ids: Collection[int],
    now: datetime,
    wants: Wants,
) -> list[RowChange]:
    changes = versions.merge(
        cursor,
        PUBLISHED_DEVICES,
        cluster_id,
        (_published_row(device, each) for each in derived for device in each.pool.devices),
        now=now,
        replaced=RowsWhere("pool_id", list(known_ids)),
        is_wanted=wants(PUBLISHED_DEVICES),
    )
    ids = _device_ids(cursor, cluster_id, known_ids)
    uses = (
        _use_row(ids[each.id, as_text(device.key.device)], device)
        for each in derived
        for device in each.pool.devices
    )
    return changes + versions.merge(
        cursor,
        DEVICE_USES,
        cluster_id,
        uses,
        now=now,
        replaced=RowsWhere("device_id", list(ids.values())),
        is_wanted=wants(DEVICE_USES),
    )


def _append(
    cursor: Cursor,
    cluster_id: int,
    derived: Sequence[DerivedPool],
    *,
    now: datetime,
    wants: Wants,
) -> list[RowChange]:
    """Of pools that are new there is nothing to compare with, so their rows are appended; a merge would cost twice that."""
    places = [(each, device) for each in derived for device in each.pool.devices]
    ids = versions.take_ids(cursor, PUBLISHED_DEVICES, len(places))
    numbered = list(zip(ids, places, strict=True))
    return versions.append(
        cursor,
        PUBLISHED_DEVICES,
        cluster_id,
        ((id_, *_published_row(device, each)) for id_, (each, device) in numbered),
        now=now,
        is_wanted=wants(PUBLISHED_DEVICES),
    ) + versions.append(
        cursor,
        DEVICE_USES,
        cluster_id,
        (_use_row(id_, device) for id_, (_, device) in numbered),
        now=now,
        is_wanted=wants(DEVICE_USES),
    )


def _device_ids(
    cursor: Cursor, cluster_id: int, pool_ids: Collection[int]
) -> dict[tuple[int, str], int]:
    """By pool and name, of those that vanished too."""
    cursor.execute(
        "SELECT pool_id, name, id FROM pools_publisheddevice"
        " WHERE cluster_id = %s AND pool_id = ANY(%s)",
        (cluster_id, list(pool_ids)),
        binary=True,
    )
    return {(pool_id, name): id_ for pool_id, name, id_ in cursor.fetchall()}


def _published_row(device: AssessedDevice, of: DerivedPool) -> tuple[Any, ...]:
    node = device.node.node_name
    capacity = capacity_of_device(device.device, holders=())
    return (
        of.id,
        as_text(device.key.device),
        as_text(device.key.driver),
        as_text(device.key.pool),
        of.object_ids[device.slice_uid],
        None if node is None else as_text(node),
        as_jsonb(shapes.attributes_shape(device)),
        as_jsonb(shapes.capacity_shape(capacity)),
        as_jsonb([shapes.taint_shape(taint) for taint in _published_taints(device)]),
        as_jsonb({use.name: _plain_number(use.total.nanos) for use in capacity}),
    )


def _use_row(device_id: int, device: AssessedDevice) -> tuple[Any, ...]:
    is_free = device.capacity == capacity_of_device(device.device, holders=())
    is_as_published = device.taints == _published_taints(device)
    return (
        device_id,
        device.state,
        device.is_partly_used,
        None if is_free else as_jsonb(shapes.capacity_shape(device.capacity)),
        None
        if is_as_published
        else as_jsonb([shapes.taint_shape(taint) for taint in device.taints]),
        as_jsonb([shapes.statement_shape(problem) for problem in device.problems]),
    )


def _published_taints(device: AssessedDevice) -> tuple[Any, ...]:
    if not device.device.taints:
        return ()
    taints, _ = taints_of(device.key, published=device.device.taints, rules=(), release=None)
    return taints


def _plain_number(nanos: int) -> int | float:
    whole, rest = divmod(nanos, 10**9)
    return nanos / 10**9 if rest else whole
