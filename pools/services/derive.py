"""Figures from objects: of each dirty pool its slices, allocations and rules are taken together, and what differs is written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psycopg
import structlog
from django.db import transaction

from dra import shapes
from dra.parsing import parse_resource_slice
from dra.pools import assess_pool
from dra.values import (
    AssessedDevice,
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
from objects.services.staging import Cursor, as_jsonb, as_text, copy_rows, stage_rows
from objects.services.versions import Scope
from pools.services.allocations import allocations_of_pools
from pools.services.tables import POOLS, SLICES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from objects.services.changes import Changes
    from objects.services.versions import Change

log = structlog.get_logger()

# Slices that are decoded at once: it bounds memory.
_CHUNK_SLICES: Final = 128
_SEVERITIES: Final = {"info": 1, "warning": 2, "error": 3}

_DEVICE: Final = {
    "pool_id": "int8",
    "driver": "text",
    "pool_name": "text",
    "name": "text",
    "slice_object_id": "int8",
    "node_name": "text",
    "generation": "int8",
    "state": "text",
    "is_partly_used": "bool",
    "attributes": "jsonb",
    "capacity": "jsonb",
    "taints": "jsonb",
    "problems": "jsonb",
    "capacity_numbers": "jsonb",
}


def _merge_sql(
    table: str,
    staged: str,
    columns: Iterable[str],
    key: Sequence[str],
    extra: str,
    where: str = "",
) -> str:
    """INSERT … ON CONFLICT that rewrites a row only where it differs.

    `extra` is a column that also must be as given; `where` leaves out some of the staged rows, which are `s` there.
    """
    names = list(columns)
    values = [name for name in names if name not in key]
    assigned = ", ".join(f"{name} = excluded.{name}" for name in [*values, "since"])
    old = ", ".join(f"t.{name}" for name in values)
    new = ", ".join(f"excluded.{name}" for name in values)
    first = ", first_seen_at" if extra else ""
    return (
        f"INSERT INTO {table} AS t (cluster_id, {', '.join(names)}, since{first})"  # noqa: S608 -- made of constants
        f" SELECT %(cluster)s, {', '.join(names)}, %(now)s{', %(now)s' if extra else ''}"
        f" FROM pg_temp.{staged} s {where} ON CONFLICT (cluster_id, {', '.join(key)})"
        f" DO UPDATE SET {assigned}{', ' + extra + ' = NULL' if extra else ''}"
        f" WHERE ({old}) IS DISTINCT FROM ({new}){f' OR t.{extra} IS NOT NULL' if extra else ''}"
    )


# A row that conflicts is locked, which is a change of its page, even where nothing is to be updated: of the sixty devices of a pool
# one changes. So those that are as they were do not come as far as that.
_SAME_DEVICE: Final = " AND ".join(f"o.{name} IS NOT DISTINCT FROM s.{name}" for name in _DEVICE)
_UNCHANGED_DEVICES: Final = f"""
WHERE NOT EXISTS (SELECT FROM pools_device o WHERE o.cluster_id = %(cluster)s
    AND o.pool_id = ANY(%(pools)s) AND o.pool_id = s.pool_id AND o.name = s.name AND {_SAME_DEVICE})
"""
_MERGE_DEVICES: Final = _merge_sql(
    "pools_device", "staged_device", _DEVICE, ("pool_id", "name"), "", where=_UNCHANGED_DEVICES
)
_DELETE_DEVICES: Final = """
DELETE FROM pools_device d WHERE cluster_id = %s AND pool_id = ANY(%s) AND NOT EXISTS (
    SELECT FROM pg_temp.staged_device s WHERE s.pool_id = d.pool_id AND s.name = d.name)
"""

# A pool with the rows of its slices: object id, digest, generation, API version.
_Dirty = tuple[PoolKey, list[tuple[Any, ...]]]

_REFUSED: Final = (
    psycopg.errors.IntegrityError,
    psycopg.errors.DataError,
    psycopg.errors.ProgramLimitExceeded,
)


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
    found = sorted(keys)
    cursor.execute(
        "INSERT INTO pools_dirtypool (cluster_id, driver, name)"
        " SELECT %s, * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING",
        (cluster_id, [key.driver for key in found], [key.pool for key in found]),
    )


def mark_all_dirty(cursor: Cursor, cluster_id: int) -> None:
    """Every pool that has a slice is to be derived anew."""
    cursor.execute(
        "INSERT INTO pools_dirtypool (cluster_id, driver, name)"
        " SELECT DISTINCT cluster_id, driver, pool_name FROM pools_resourceslice"
        " WHERE cluster_id = %s ON CONFLICT DO NOTHING",
        (cluster_id,),
    )


def derive_dirty(
    cursor: Cursor,
    cluster_id: int,
    knowledge: Knowledge,
    *,
    limit: int,
    now: datetime,
    changes: Changes,
) -> int:
    """Derive up to `limit` of the pools that were marked; returns how many that were."""
    cursor.execute(
        "DELETE FROM pools_dirtypool WHERE ctid = ANY (ARRAY("
        " SELECT ctid FROM pools_dirtypool WHERE cluster_id = %s LIMIT %s FOR UPDATE))"
        " RETURNING driver, name",
        (cluster_id, limit),
    )
    keys = [PoolKey(DriverName(driver), PoolName(name)) for driver, name in cursor.fetchall()]
    derive_pools(cursor, cluster_id, keys, knowledge, now=now, changes=changes)
    return len(keys)


def derive_pools(
    cursor: Cursor,
    cluster_id: int,
    keys: Iterable[PoolKey],
    knowledge: Knowledge,
    *,
    now: datetime,
    changes: Changes,
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
    changes: Changes,
) -> None:
    """One pool that Postgres refuses must not keep the rest of a cluster from being stored."""
    try:
        with transaction.atomic():
            found = _derive_chunk(cursor, cluster_id, chunk, knowledge, now=now)
    except _REFUSED as error:
        if len(chunk) > 1:
            for each in chunk:
                _derive_or_split(cursor, cluster_id, [each], knowledge, now=now, changes=changes)
            return
        log.exception("a pool cannot be stored", cluster=cluster_id, pool=chunk[0][0])
        found = _say_not_stored(cursor, cluster_id, chunk[0][0], why=str(error), now=now)
    changes.add(found)


def _say_not_stored(
    cursor: Cursor, cluster_id: int, key: PoolKey, *, why: str, now: datetime
) -> list[Change]:
    """The figures of before stay, with a problem that says so."""
    first_line = why.partition("\n")[0]
    problem = Problem.of("figures_not_stored", why=first_line)
    problems, codes = as_jsonb(_problems([problem])), as_jsonb([problem.code])
    row = (key.driver, key.pool, problems, codes, 3)
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
    found: dict[PoolKey, list[tuple[Any, ...]]] = defaultdict(list)
    for driver, pool, *rest in cursor.fetchall():
        found[PoolKey(DriverName(driver), PoolName(pool))].append(tuple(rest))
    return found


def _derive_chunk(
    cursor: Cursor,
    cluster_id: int,
    chunk: Sequence[_Dirty],
    knowledge: Knowledge,
    *,
    now: datetime,
) -> list[Change]:
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
        scope=Scope("id", list(known.values())),
    )
    ids = known | {_key_of(change): change.subject.id or 0 for change in changes}
    old = [pool for pool in assessed if pool.key in known]
    new = [pool for pool in assessed if pool.key not in known]
    gone = [id_ for key, id_ in known.items() if key not in stored]
    _write_devices(cursor, cluster_id, old, stored, ids, gone=gone, now=now)
    _copy_devices(cursor, cluster_id, new, stored, ids, now=now)
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


def _key_of(change: Change) -> PoolKey:
    driver, name = change.subject.key
    return PoolKey(driver, name)


def parsed_slices(
    cluster_id: int, rows: Sequence[tuple[Any, ...]]
) -> dict[PoolKey, list[StoredSlice]]:
    contents = queries.bodies(cluster_id, [digest for _, digest, _, _ in rows])
    found: dict[PoolKey, list[StoredSlice]] = defaultdict(list)
    for object_id, digest, generation, api_version in rows:
        content = with_pool_generation(contents[digest], generation)
        parsed = parse_resource_slice(msgspec.json.decode(content), api_version=api_version).value
        if parsed is not None:
            key = PoolKey(DriverName(as_text(parsed.driver)), PoolName(as_text(parsed.pool)))
            found[key].append(StoredSlice(object_id, parsed))
    return found


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
    counts = pool.counts
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
        counts.total,
        counts.seen,
        counts.allocated,
        counts.partly_used,
        counts.unavailable,
        counts.blocked,
        counts.available,
        counts.admin_access,
        as_jsonb([shapes.partition_shape(item) for item in pool.partitions]),
        as_jsonb(shapes.capacity_shape(pool.capacity)),
        as_jsonb(_problems(pool.problems)),
        as_jsonb(sorted({problem.code for problem in pool.problems})),
        max((_SEVERITIES[problem.severity] for problem in pool.problems), default=0),
    )


def _write_devices(
    cursor: Cursor,
    cluster_id: int,
    assessed: Sequence[AssessedPool],
    stored: dict[PoolKey, list[StoredSlice]],
    ids: Mapping[PoolKey, int],
    *,
    gone: Sequence[int],
    now: datetime,
) -> None:
    if not assessed and not gone:
        return
    stage_rows(cursor, "staged_device", _DEVICE, _device_rows(assessed, stored, ids))
    pools = [*gone, *(ids[pool.key] for pool in assessed)]
    cursor.execute(_DELETE_DEVICES, (cluster_id, pools))
    cursor.execute(_MERGE_DEVICES, {"cluster": cluster_id, "now": now, "pools": pools})


def _copy_devices(
    cursor: Cursor,
    cluster_id: int,
    assessed: Sequence[AssessedPool],
    stored: dict[PoolKey, list[StoredSlice]],
    ids: Mapping[PoolKey, int],
    *,
    now: datetime,
) -> None:
    """Of pools that are new there is nothing to compare with, so their devices need no detour, which costs as much again."""
    if assessed:
        columns = {"cluster_id": "int8", "since": "timestamptz", **_DEVICE}
        rows = _device_rows(assessed, stored, ids)
        copy_rows(cursor, "pools_device", columns, ((cluster_id, now, *row) for row in rows))


def _device_rows(
    assessed: Sequence[AssessedPool],
    stored: dict[PoolKey, list[StoredSlice]],
    ids: Mapping[PoolKey, int],
) -> Iterator[tuple[Any, ...]]:
    object_ids = {each.slice.uid: each.object_id for slices in stored.values() for each in slices}
    for pool in assessed:
        pool_id = ids[pool.key]
        for device in pool.devices:
            yield _device_row(device, pool_id=pool_id, object_id=object_ids[device.slice_uid])


def _device_row(device: AssessedDevice, *, pool_id: int, object_id: int) -> tuple[Any, ...]:
    node = device.node.node_name
    return (
        pool_id,
        as_text(device.key.driver),
        as_text(device.key.pool),
        as_text(device.key.device),
        object_id,
        None if node is None else as_text(node),
        device.generation,
        device.state,
        device.is_partly_used,
        as_jsonb(shapes.attributes_shape(device)),
        as_jsonb(shapes.capacity_shape(device.capacity)),
        as_jsonb([shapes.taint_shape(taint) for taint in device.taints]),
        as_jsonb(_problems(device.problems)),
        as_jsonb({use.name: _plain_number(use.total.nanos) for use in device.capacity}),
    )


def _problems(found: Iterable[Problem]) -> list[dict[str, Any]]:
    return [shapes.statement_shape(each) for each in found]


def _plain_number(nanos: int) -> int | float:
    whole, rest = divmod(nanos, 10**9)
    return nanos / 10**9 if rest else whole


def _write_slices(
    cursor: Cursor,
    cluster_id: int,
    stored: Mapping[PoolKey, Sequence[StoredSlice]],
    *,
    now: datetime,
) -> list[Change]:
    rows = [
        (each.object_id, len(each.slice.devices), as_jsonb(_problems(each.slice.problems)))
        for slices in stored.values()
        for each in slices
    ]
    only = ("device_count", "problems")
    return versions.merge(cursor, SLICES, cluster_id, rows, now=now, only=only)
