"""Figures from objects: of each dirty pool its slices, allocations and rules are taken together, and what differs is written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import psycopg
import structlog
from django.db import transaction

from dra import shapes
from dra.parsing import parse_resource_slice
from dra.pools import assess_pool
from dra.values import (
    AssessedPool,
    DriverName,
    PoolKey,
    PoolName,
    Problem,
    Release,
    ResourceSlice,
    TaintRule,
)
from kube.digest import with_pool_generation
from objects import queries
from objects.services import versions
from objects.services.staging import Cursor, as_jsonb, as_text
from objects.services.versions import RowsWhere
from pools.choices import COUNTS, Severity
from pools.services import devices
from pools.services.allocations import allocations_of_pools
from pools.services.devices import DerivedPool
from pools.services.tables import POOLS, SLICES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from objects.services.changes import RowChanges, Wants
    from objects.services.versions import RowChange

log = structlog.get_logger()

# Slices that are decoded at once: it bounds memory.
_CHUNK_SLICES: Final = 128

# A pool with the rows of its slices: object id, digest, generation, API version.
_Dirty = tuple[PoolKey, list[tuple[Any, ...]]]

_REFUSED: Final = (
    psycopg.errors.IntegrityError,
    psycopg.errors.DataError,
    # Two devices whose names are one once they are stored.
    psycopg.errors.CardinalityViolation,
    psycopg.errors.ProgramLimitExceeded,
)


class UnreadableSlice(Exception):
    """Of a slice that is living, what is in it cannot be read."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What figures are derived from beside slices. None: it could not be read, so nothing follows from its absence."""

    are_claims_known: bool
    taint_rules: tuple[TaintRule, ...] | None
    release: Release | None


@dataclass(frozen=True, slots=True)
class StoredSlice:
    """A slice with the id of its object."""

    object_id: int
    slice: ResourceSlice


def mark_dirty(cursor: Cursor, cluster_id: int, keys: Iterable[PoolKey]) -> None:
    """Remember pools that are to be derived later, whatever happens to this process."""
    sorted_keys = sorted(keys)
    cursor.execute(
        "INSERT INTO pools_dirtypool (cluster_id, driver, name)"
        " SELECT %s, * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING",
        (cluster_id, [key.driver for key in sorted_keys], [key.pool for key in sorted_keys]),
    )


def mark_all_dirty(cursor: Cursor, cluster_id: int) -> None:
    """Every pool that has a slice is to be derived anew."""
    cursor.execute(
        "INSERT INTO pools_dirtypool (cluster_id, driver, name)"
        " SELECT DISTINCT cluster_id, driver, pool_name FROM pools_resourceslice"
        " WHERE cluster_id = %s ON CONFLICT DO NOTHING",
        (cluster_id,),
    )


def take_dirty(cursor: Cursor, cluster_id: int, *, limit: int) -> list[PoolKey]:
    """Up to `limit` of the pools that were marked, which are marked no more: they are to be derived in this transaction."""
    cursor.execute(
        "DELETE FROM pools_dirtypool WHERE ctid = ANY (ARRAY("
        " SELECT ctid FROM pools_dirtypool WHERE cluster_id = %s LIMIT %s FOR UPDATE))"
        " RETURNING driver, name",
        (cluster_id, limit),
    )
    return [PoolKey(DriverName(driver), PoolName(name)) for driver, name in cursor.fetchall()]


def derive_pools(
    cursor: Cursor,
    cluster_id: int,
    keys: Iterable[PoolKey],
    knowledge: Knowledge,
    *,
    now: datetime,
    changes: RowChanges,
) -> None:
    """Derive these pools from what is stored, and write what differs: pools, devices and slices."""
    for chunk in _chunks(cursor, cluster_id, sorted(set(keys))):
        _derive_or_split(cursor, cluster_id, chunk, knowledge, now=now, changes=changes)


def _derive_or_split(
    cursor: Cursor,
    cluster_id: int,
    chunk: Sequence[_Dirty],
    knowledge: Knowledge,
    *,
    now: datetime,
    changes: RowChanges,
) -> None:
    """One pool that cannot be read, or that Postgres refuses, must not keep the rest of a cluster from being stored."""
    try:
        with transaction.atomic():
            row_changes = _derive_chunk(
                cursor, cluster_id, chunk, knowledge, now=now, wants=changes.wants
            )
    except (*_REFUSED, UnreadableSlice) as error:
        if len(chunk) > 1:
            for each in chunk:
                _derive_or_split(cursor, cluster_id, [each], knowledge, now=now, changes=changes)
            return
        log.exception("a pool cannot be stored", cluster=cluster_id, pool=chunk[0][0])
        row_changes = _say_not_stored(cursor, cluster_id, chunk[0][0], why=str(error), now=now)
    changes.add(row_changes)


def _say_not_stored(
    cursor: Cursor, cluster_id: int, key: PoolKey, *, why: str, now: datetime
) -> list[RowChange]:
    """The figures of before stay, with a problem that says so."""
    first_line = why.partition("\n")[0]
    problem = Problem.of("figures_not_stored", why=first_line)
    problems, codes = as_jsonb(_problems([problem])), as_jsonb([problem.code])
    row = (key.driver, key.pool, problems, codes, _worst([problem]))
    only = ("problems", "problem_codes", "severity")
    return versions.merge(cursor, POOLS, cluster_id, [row], now=now, only=only)


def _chunks(cursor: Cursor, cluster_id: int, keys: Sequence[PoolKey]) -> Iterator[list[_Dirty]]:
    """Pools with the rows of their slices, so many at a time as bounds memory."""
    step = 4 * _CHUNK_SLICES
    for start in range(0, len(keys), step):
        part = keys[start : start + step]
        rows = slice_rows(cursor, cluster_id, part)
        chunk: list[_Dirty] = []
        size = 0
        for key in part:
            chunk.append((key, rows.get(key, [])))
            size += len(chunk[-1][1])
            if size >= _CHUNK_SLICES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


def slice_rows(
    cursor: Cursor, cluster_id: int, keys: Sequence[PoolKey]
) -> dict[PoolKey, list[tuple[Any, ...]]]:
    cursor.execute(
        "SELECT s.driver, s.pool_name, s.object_id, o.digest, o.generation, s.api_version"
        " FROM pools_resourceslice s"
        " JOIN unnest(%s::text[], %s::text[]) AS k (driver, pool_name) USING (driver, pool_name)"
        " JOIN objects_kubeobject o ON o.cluster_id = s.cluster_id AND o.id = s.object_id"
        " WHERE s.cluster_id = %s ORDER BY s.object_id",
        ([key.driver for key in keys], [key.pool for key in keys], cluster_id),
        binary=True,
    )
    by_pool: dict[PoolKey, list[tuple[Any, ...]]] = defaultdict(list)
    for driver, pool, *rest in cursor.fetchall():
        by_pool[PoolKey(DriverName(driver), PoolName(pool))].append(tuple(rest))
    return by_pool


def _derive_chunk(
    cursor: Cursor,
    cluster_id: int,
    chunk: Sequence[_Dirty],
    knowledge: Knowledge,
    *,
    now: datetime,
    wants: Wants,
) -> list[RowChange]:
    keys = [key for key, _ in chunk]
    stored = parsed_slices(cluster_id, [row for _, rows in chunk for row in rows])
    assessed = _assess(
        cursor, cluster_id, [key for key in keys if key in stored], stored, knowledge
    )
    known = _pool_ids(cursor, cluster_id, keys)
    changes = versions.merge(
        cursor,
        POOLS,
        cluster_id,
        map(_pool_row, assessed),
        now=now,
        replaced=RowsWhere("id", list(known.values())),
    )
    ids = known | {_key_of(change): change.row.id or 0 for change in changes}
    object_ids = {each.slice.uid: each.object_id for slices in stored.values() for each in slices}
    derived = [DerivedPool(ids[pool.key], pool, object_ids) for pool in assessed]
    changes += devices.write_devices(
        cursor, cluster_id, derived, known_ids=known.values(), now=now, wants=wants
    )
    return changes + _write_slices(cursor, cluster_id, stored, now=now)


def _assess(
    cursor: Cursor,
    cluster_id: int,
    keys: Sequence[PoolKey],
    stored: Mapping[PoolKey, Sequence[StoredSlice]],
    knowledge: Knowledge,
) -> list[AssessedPool]:
    allocations = (
        allocations_of_pools(cursor, cluster_id, keys) if knowledge.are_claims_known else None
    )
    return [
        assess_pool(
            key,
            [each.slice for each in stored[key]],
            allocations=None if allocations is None else allocations.get(key, []),
            taint_rules=knowledge.taint_rules,
            release=knowledge.release,
        )
        for key in keys
    ]


def _key_of(change: RowChange) -> PoolKey:
    driver, name = change.row.key
    return PoolKey(driver, name)


def parsed_slices(
    cluster_id: int, rows: Sequence[tuple[Any, ...]]
) -> dict[PoolKey, list[StoredSlice]]:
    """Each by the pool that it names. Raises UnreadableSlice."""
    contents = queries.bodies(cluster_id, [digest for _, digest, _, _ in rows])
    by_pool: dict[PoolKey, list[StoredSlice]] = defaultdict(list)
    for object_id, digest, generation, api_version in rows:
        slice_json = _slice_json(contents, digest, generation)
        parsed = parse_resource_slice(slice_json, api_version=api_version).value
        if parsed is not None:
            key = PoolKey(DriverName(as_text(parsed.driver)), PoolName(as_text(parsed.pool)))
            by_pool[key].append(StoredSlice(object_id, parsed))
    return by_pool


def _slice_json(contents: Mapping[UUID, bytes], digest: UUID, generation: int | None) -> Any:
    if digest not in contents:
        raise UnreadableSlice(f"body {digest}: not stored")
    value = queries.decoded(with_pool_generation(contents[digest], generation))
    if value is None:
        raise UnreadableSlice(f"body {digest}: no JSON")
    return value


def _pool_ids(cursor: Cursor, cluster_id: int, keys: Sequence[PoolKey]) -> dict[PoolKey, int]:
    """Of the pools that are known already, vanished ones among them."""
    cursor.execute(
        "SELECT driver, name, id FROM pools_pool"
        " JOIN unnest(%s::text[], %s::text[]) AS k (driver, name) USING (driver, name)"
        " WHERE cluster_id = %s",
        ([key.driver for key in keys], [key.pool for key in keys], cluster_id),
        binary=True,
    )
    return {
        PoolKey(DriverName(driver), PoolName(name)): id_ for driver, name, id_ in cursor.fetchall()
    }


def _pool_row(pool: AssessedPool) -> tuple[Any, ...]:
    return (
        as_text(pool.key.driver),
        as_text(pool.key.pool),
        pool.generation,
        pool.is_complete,
        pool.is_valid,
        pool.slices_seen,
        pool.slices_expected,
        pool.node.kind,
        None if pool.node.node_name is None else as_text(pool.node.node_name),
        as_text(pool.node.text),
        *(getattr(pool.counts, name) for name in COUNTS),
        as_jsonb([shapes.partition_shape(item) for item in pool.partitions]),
        as_jsonb(shapes.capacity_shape(pool.capacity)),
        as_jsonb(_problems(pool.problems)),
        as_jsonb(sorted({problem.code for problem in pool.problems})),
        _worst(pool.problems),
    )


def _worst(problems: Iterable[Problem]) -> int:
    return max((Severity[each.severity.upper()].value for each in problems), default=0)


def _problems(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [shapes.statement_shape(each) for each in problems]


def _write_slices(
    cursor: Cursor,
    cluster_id: int,
    stored: Mapping[PoolKey, Sequence[StoredSlice]],
    *,
    now: datetime,
) -> list[RowChange]:
    rows = [
        (each.object_id, len(each.slice.devices), as_jsonb(_problems(each.slice.problems)))
        for slices in stored.values()
        for each in slices
    ]
    only = ("device_count", "problems")
    return versions.merge(cursor, SLICES, cluster_id, rows, now=now, only=only)
