"""Living ResourceSlices as rows: which pool each belongs to. What is in them is read when the pool is derived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dra.parsing import parse_resource_slice
from dra.values import DriverName, NodeKind, PoolKey, PoolName
from objects.queries import decoded
from objects.services.staging import Cursor, as_jsonb, as_text
from pools.services.object_rows import record_rows
from pools.services.tables import SLICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange


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
    parsed = parse_resource_slice(decoded(content)).value
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
    cursor: Cursor,
    cluster_id: int,
    changed: Sequence[ObjectChange],
    *,
    now: datetime,
    changes: RowChanges,
) -> set[PoolKey]:
    """Bring the rows of these slices up to date; returns the pools that they belonged to or belong to now."""
    return record_rows(
        cursor,
        SLICES,
        cluster_id,
        changed,
        _rows(changed),
        object_column="object_id",
        now=now,
        changes=changes,
    )


def _rows(changed: Sequence[ObjectChange]) -> Iterator[tuple[Any, ...]]:
    for each in changed:
        head = slice_head(each.event.content) if each.after else None
        if head is not None:
            yield _row(each, head)


def _row(changed: ObjectChange, head: SliceHead) -> tuple[Any, ...]:
    event = changed.event
    # As the parser reads it: 0 is valid, and left out by encoders that drop zeroes.
    generation = event.generation if event.generation is not None else 0
    return (
        changed.object_id,
        as_text(event.name),
        as_text(event.api_version),
        head.key.driver,
        head.key.pool,
        generation,
        head.resource_slice_count,
        head.node_kind,
        head.node_name,
        event.digest,
        # What is in it follows when its pool is derived.
        None,
        as_jsonb([]),
    )
