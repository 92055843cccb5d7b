"""Living ResourceSlices as rows: which pool each belongs to. What is in them is read when the pool is derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dra.parsing import parse_resource_slice
from dra.values import DriverName, NodeKind, PoolKey, PoolName
from objects.services.staging import Cursor, as_text, stage_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from objects.services.log import Moved

_COLUMNS: Final = {
    "object_id": "int8",
    "name": "text",
    "api_version": "text",
    "driver": "text",
    "pool_name": "text",
    "generation": "int8",
    "resource_slice_count": "int8",
    "node_kind": "text",
    "node_name": "text",
}
_MERGE: Final = """
INSERT INTO pools_resourceslice AS s (
    cluster_id, object_id, name, api_version, driver, pool_name, generation, resource_slice_count,
    node_kind, node_name, device_count, problems, changed_at
)
SELECT %s, object_id, name, api_version, driver, pool_name, generation, resource_slice_count,
    node_kind, node_name, NULL, '[]', %s
FROM pg_temp.staged_slice
ON CONFLICT (cluster_id, object_id) DO UPDATE SET
    name = excluded.name, api_version = excluded.api_version, driver = excluded.driver,
    pool_name = excluded.pool_name, generation = excluded.generation,
    resource_slice_count = excluded.resource_slice_count, node_kind = excluded.node_kind,
    node_name = excluded.node_name, changed_at = excluded.changed_at
"""


class _Pool(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_slice_count: int | None = None


class _Spec(msgspec.Struct, rename="camel"):
    driver: str = ""
    pool: _Pool = msgspec.field(default_factory=_Pool)
    node_name: str | None = None
    node_selector: msgspec.Raw | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None


class _Slice(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_decoder: Final = msgspec.json.Decoder(_Slice)


@dataclass(frozen=True, slots=True)
class SliceHead:
    """Of a slice, what says where it belongs; its devices are not read."""

    key: PoolKey
    resource_slice_count: int | None
    node_kind: NodeKind
    node_name: str | None


def slice_head(content: bytes) -> SliceHead | None:
    """None for a slice that names no driver or no pool."""
    try:
        spec = _decoder.decode(content).spec
    except msgspec.ValidationError:
        return _head_by_parser(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    count = spec.pool.resource_slice_count
    if count is not None and not -(2**63) <= count < 2**63:
        return _head_by_parser(content)
    if not spec.driver or not spec.pool.name:
        return None
    kind, node_name = _node(spec)
    return SliceHead(_key(spec.driver, spec.pool.name), count, kind, node_name)


def _head_by_parser(content: bytes) -> SliceHead | None:
    """Of a slice in which something is of the wrong type, as the parser reads it."""
    parsed = parse_resource_slice(msgspec.json.decode(content)).value
    if parsed is None:
        return None
    node = parsed.node
    key = _key(parsed.driver, parsed.pool)
    return SliceHead(key, parsed.resource_slice_count, node.kind, node.node_name)


def _key(driver: str, pool: str) -> PoolKey:
    return PoolKey(DriverName(as_text(driver)), PoolName(as_text(pool)))


def _node(spec: _Spec) -> tuple[NodeKind, str | None]:
    if spec.node_name:
        return "node", as_text(spec.node_name)
    if spec.node_selector is not None and bytes(spec.node_selector) != b"null":
        return "selector", None
    if spec.all_nodes:
        return "all", None
    return ("per_device", None) if spec.per_device_node_selection else ("none", None)


def record_slices(
    cursor: Cursor, cluster_id: int, moved: Sequence[Moved], *, now: datetime
) -> set[PoolKey]:
    """Bring the rows of these slices up to date; returns the pools that they belonged to or belong to now."""
    ids = [each.object_id for each in moved]
    cursor.execute(
        "SELECT driver, pool_name FROM pools_resourceslice WHERE cluster_id = %s AND object_id = ANY(%s)",
        (cluster_id, ids),
    )
    dirty = {_key(driver, name) for driver, name in cursor.fetchall()}
    rows: list[tuple[Any, ...]] = []
    gone = []
    for each in moved:
        head = slice_head(each.change.content) if each.after else None
        if head is None:
            gone.append(each.object_id)
            continue
        dirty.add(head.key)
        rows.append(_row(each, head))
    if gone:
        cursor.execute(
            "DELETE FROM pools_resourceslice WHERE cluster_id = %s AND object_id = ANY(%s)",
            (cluster_id, gone),
        )
    if rows:
        stage_rows(cursor, "staged_slice", _COLUMNS, rows)
        cursor.execute(_MERGE, (cluster_id, now))
    return dirty


def _row(moved: Moved, head: SliceHead) -> tuple[Any, ...]:
    change = moved.change
    # As the parser reads it: 0 is valid, and left out by encoders that drop zeroes.
    generation = change.generation if change.generation is not None else 0
    return (
        moved.object_id,
        as_text(change.name),
        as_text(change.api_version),
        head.key.driver,
        head.key.pool,
        generation,
        head.resource_slice_count,
        head.node_kind,
        head.node_name,
    )
