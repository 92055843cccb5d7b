"""Rows that keep their past: this module alone writes derived tables, closes what it replaces, and tells what changed.

A table has its current rows. What a row was before stands in `<table>_closed`: the same columns, and `until` when it ended. Both are
written by one statement, so that at each moment an id has one version or none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from clusters.registry import watched_kinds
from objects.services.partitions import Partitioned
from objects.services.staging import Cursor, copy_rows, stage_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

Row = dict[str, Any]
"""Values by column."""


@dataclass(frozen=True, slots=True, eq=False)
class VersionedTable:
    """One derived table; columns are given with their Postgres types."""

    name: str
    key: Mapping[str, str]
    """What names a row within its cluster."""
    values: Mapping[str, str]
    has_id: bool = True
    """Postgres numbers its rows, in a column `id`; else the key is the id."""
    has_first_seen: bool = False
    """A column `first_seen_at` tells when the key was met for the first time."""
    gone: Mapping[str, str] | None = None
    """What a row that is gone is set to, beside `vanished_at`, so that its id survives. None: the row itself goes."""
    is_written_in_parts: bool = False
    """Its rows are written more than once in a transaction: a later write in it belongs to the version that the first one began."""

    @property
    def keeps_gone(self) -> bool:
        return self.gone is not None

    @property
    def closed(self) -> str:
        return f"{self.name}_closed"

    @property
    def partitions(self) -> Partitioned:
        return Partitioned(self.closed)

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them but the cluster."""
        return (
            *(("id",) if self.has_id else ()),
            *self.key,
            *self.values,
            *(("first_seen_at",) if self.has_first_seen else ()),
            "since",
            *(("vanished_at",) if self.keeps_gone else ()),
        )


def versioned_tables() -> tuple[VersionedTable, ...]:
    """All that the declared kinds keep."""
    return tuple(dict.fromkeys(table for kind in watched_kinds() for table in kind.tables))


def closed_versions() -> tuple[Partitioned, ...]:
    """Where the past of each of them is."""
    return tuple(table.partitions for table in versioned_tables())


@dataclass(frozen=True, slots=True)
class RowName:
    """Which row of which table: by its natural key, and by its id if the table has one."""

    table: str
    cluster_id: int
    key: tuple[Any, ...]
    id: int | None


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row before and after. None: there was none, or it is gone."""

    row: RowName
    at: datetime
    """When the new version begins: `now`, or later where the version before began later than that."""
    before: Row | None = field(repr=False)
    after: Row | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class RowsWhere:
    """Rows of the cluster whose column has one of these values."""

    column: str
    values: Sequence[Any]


def merge(
    cursor: Cursor,
    table: VersionedTable,
    cluster_id: int,
    rows: Iterable[Sequence[Any]],
    *,
    now: datetime,
    replaced: RowsWhere | None = None,
    only: Sequence[str] | None = None,
    is_wanted: bool = True,
) -> list[RowChange]:
    """Bring the table to these rows, each key and then values, and close the versions that end; equal rows are left alone.

    Of the rows to be `replaced`, those that are not given are gone. `only` names the values that are given, of rows that are there
    already. Changes come back only if `is_wanted`: to carry them from Postgres costs time.
    """
    values = tuple(table.values if only is None else only)
    columns = {**table.key, **{name: table.values[name] for name in values}}
    staged = f"staged_{table.name}" + ("" if only is None else "_part")
    stage_rows(cursor, staged, columns, rows)
    sql = _merge_sql(
        table, staged, values, replaced.column if replaced else None, is_wanted=is_wanted
    )
    parameters = {
        "cluster": cluster_id,
        "now": now,
        "replaced": list(replaced.values) if replaced else [],
    }
    cursor.execute(sql, parameters, binary=True)
    return [_row_change(table, cluster_id, row) for row in cursor.fetchall()] if is_wanted else []


def append(
    cursor: Cursor,
    table: VersionedTable,
    cluster_id: int,
    rows: Iterable[Sequence[Any]],
    *,
    now: datetime,
    is_wanted: bool = True,
) -> list[RowChange]:
    """Rows of keys that are new, each with its id first if the table has one: half the cost of a merge."""
    if is_wanted:
        rows = list(rows)
    first_seen = {"first_seen_at": "timestamptz"} if table.has_first_seen else {}
    columns = {
        "cluster_id": "int8",
        **({"id": "int8"} if table.has_id else {}),
        **table.key,
        **table.values,
        **first_seen,
        "since": "timestamptz",
    }
    moments = (now,) * (1 + len(first_seen))
    copy_rows(cursor, table.name, columns, ((cluster_id, *row, *moments) for row in rows))
    return [_added(table, cluster_id, (*row, *moments)) for row in rows] if is_wanted else []


def take_ids(cursor: Cursor, table: VersionedTable, count: int) -> list[int]:
    """Ids for rows that are to be appended."""
    cursor.execute(
        "SELECT nextval(%s::regclass) FROM generate_series(1, %s)",
        (f"{table.name}_id_seq", count),
    )
    return [number for (number,) in cursor.fetchall()]


def remove_gone(
    cursor: Cursor,
    table: VersionedTable,
    cluster_id: int,
    *,
    before: datetime,
    unless: str = "false",
) -> int:
    """Delete rows that were gone before a moment and have no closed version left, `unless` a condition on the row `t` holds."""
    named = "c.id = t.id" if table.has_id else _same_key(table, "c", "t")
    cursor.execute(
        f"DELETE FROM {table.name} t WHERE cluster_id = %s AND vanished_at < %s"  # noqa: S608 -- made of constants
        f" AND NOT EXISTS (SELECT FROM {table.closed} c"
        f"  WHERE c.cluster_id = t.cluster_id AND {named}) AND NOT ({unless})",
        (cluster_id, before),
    )
    return cursor.rowcount


def _added(table: VersionedTable, cluster_id: int, row: Sequence[Any]) -> RowChange:
    after = {
        name: getattr(value, "obj", value) for name, value in zip(table.columns, row, strict=False)
    }
    if table.keeps_gone:
        after["vanished_at"] = None
    return RowChange(_row_name(table, cluster_id, after), after["since"], None, after)


def _row_change(table: VersionedTable, cluster_id: int, row: Sequence[Any]) -> RowChange:
    """Of a row of the merge's answer: the old columns, then the new ones, each all None where there is no such version."""
    count = len(table.columns)
    old = dict(zip(table.columns, row[:count], strict=True))
    new = dict(zip(table.columns, row[count:-1], strict=True))
    named = new if new["since"] is not None else old
    return RowChange(
        row=_row_name(table, cluster_id, named),
        at=row[-1],
        before=old if _is_there(old) else None,
        after=new if _is_there(new) else None,
    )


def _is_there(version: Row) -> bool:
    return version["since"] is not None and version.get("vanished_at") is None


def _row_name(table: VersionedTable, cluster_id: int, row: Row) -> RowName:
    key = tuple(row[name] for name in table.key)
    return RowName(table.name, cluster_id, key, row.get("id"))


_TICK: Final = "interval '1 microsecond'"


@cache
def _merge_sql(
    table: VersionedTable,
    staged: str,
    values: tuple[str, ...],
    replaced: str | None,
    *,
    is_wanted: bool,
) -> str:
    """MERGE tells apart rows that are new, differ or are gone, and does not even lock those that are equal.

    A lock is a change of its row's page: of the sixty devices of a pool one changes.
    """
    old = ", ".join(f"old.{name} AS old_{name}" for name in table.columns)
    new = ", ".join(f"new.{name} AS new_{name}" for name in table.columns)
    answer = "count(*)"
    if is_wanted:
        names = [f"{age}_{name}" for age in ("old", "new") for name in table.columns]
        answer = f"{', '.join(names)}, {_begins(table, 'old_since')}"
    closed = ", ".join(table.columns)
    return f"""
WITH merged AS (
    MERGE INTO {table.name} AS t
    USING ({_source_sql(table, staged, values, replaced)}) AS s
    ON t.cluster_id = %(cluster)s AND {_same_key(table, "t", "s")}
    {_cases_sql(table, values)}
    RETURNING {old}, {new}
), closed AS (
    INSERT INTO {table.closed} (cluster_id, {closed}, until)
    SELECT %(cluster)s, {", ".join(f"old_{name}" for name in table.columns)}, {_begins(table, "old_since")}
    FROM merged WHERE old_since < {_begins(table, "old_since")}
)
SELECT {answer} FROM merged
"""  # noqa: S608 -- made of constants


def _source_sql(
    table: VersionedTable, staged: str, values: tuple[str, ...], replaced: str | None
) -> str:
    """What was given, and the keys of what is gone."""
    names = ", ".join((*table.key, *values))
    given = f"SELECT {names}, false AS is_gone FROM pg_temp.{staged}"  # noqa: S608 -- made of constants
    if replaced is None:
        return given
    keys = ", ".join(f"o.{name}" for name in table.key)
    nulls = "".join(f", NULL::{table.values[name]}" for name in values)
    living = " AND o.vanished_at IS NULL" if table.keeps_gone else ""
    return (
        f"{given} UNION ALL SELECT {keys}{nulls}, true FROM {table.name} o"  # noqa: S608 -- made of constants
        f" WHERE o.cluster_id = %(cluster)s AND o.{replaced} = ANY(%(replaced)s){living} AND NOT EXISTS ("
        f" SELECT FROM pg_temp.{staged} g WHERE {_same_key(table, 'o', 'g')})"
    )


def _cases_sql(table: VersionedTable, values: tuple[str, ...]) -> str:
    begins = _begins(table, "t.since")
    if table.gone is None:
        goes = "DELETE"
        returns = ""
    else:
        blanks = "".join(f", {name} = {value}" for name, value in table.gone.items())
        goes = f"UPDATE SET since = {begins}, vanished_at = {begins}{blanks}"
        returns = ", vanished_at = NULL"
    was_gone = " OR t.vanished_at IS NOT NULL" if table.keeps_gone else ""
    differs = (
        f"({', '.join(f't.{name}' for name in values)})"
        f" IS DISTINCT FROM ({', '.join(f's.{name}' for name in values)})"
    )
    assigned = "".join(f"{name} = s.{name}, " for name in values)
    cases = (
        f"WHEN MATCHED AND s.is_gone THEN {goes}\n"
        f"    WHEN MATCHED AND ({differs}{was_gone}) THEN UPDATE SET {assigned}since = {begins}{returns}"
    )
    if set(values) != set(table.values):
        return cases
    names = ", ".join((*table.key, *values))
    given = ", ".join(f"s.{name}" for name in (*table.key, *values))
    first, now = (", first_seen_at", ", %(now)s") if table.has_first_seen else ("", "")
    return (
        f"{cases}\n    WHEN NOT MATCHED THEN INSERT (cluster_id, {names}, since{first})"  # noqa: S608 -- made of constants
        f" VALUES (%(cluster)s, {given}, %(now)s{now})"
    )


def _begins(table: VersionedTable, since: str) -> str:
    """When a version begins that follows one: later than that, whatever the clock says."""
    later = f"greatest(%(now)s::timestamptz, {since} + {_TICK})"
    if not table.is_written_in_parts:
        return later
    return f"CASE WHEN {since} = %(now)s THEN %(now)s::timestamptz ELSE {later} END"


def _same_key(table: VersionedTable, one: str, other: str) -> str:
    return " AND ".join(f"{one}.{name} = {other}.{name}" for name in table.key)
