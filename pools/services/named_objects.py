"""Rows of objects that have one name in a whole cluster: a row for each name, which stays when its object goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from objects.services.staging import Cursor, as_jsonb, as_text, stage_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dra.parsing import Parsed
    from dra.values import PoolKey
    from objects.services.log import Moved


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table of such rows: beside what each of them has, `columns` by name and type, filled from a value of the core."""

    name: str
    columns: Mapping[str, str]
    parse: Callable[[Any], Parsed[Any]]
    row: Callable[[Any], tuple[Any, ...]]


_COMMON: Final = {
    "object_id": "int8",
    "name": "text",
    "uid": "text",
    "created_at": "timestamptz",
    "problems": "jsonb",
}


def record_named(
    table: NamedTable, cursor: Cursor, cluster_id: int, moved: Sequence[Moved], /, *, now: datetime
) -> frozenset[PoolKey]:
    """Bring the rows of these objects up to date. No figure of a pool rests on them, so no pool is touched."""
    values = [(each.object_id, _value(table, each)) for each in moved]
    gone = [object_id for object_id, value in values if value is None]
    if gone:
        cursor.execute(
            f"UPDATE {table.name} SET vanished_at = %s, changed_at = %s"  # noqa: S608 -- made of constants
            " WHERE cluster_id = %s AND object_id = ANY(%s) AND vanished_at IS NULL",
            (now, now, cluster_id, gone),
        )
    living = [(object_id, value) for object_id, value in values if value is not None]
    if living:
        staged = f"staged_{table.name}"
        stage_rows(
            cursor,
            staged,
            {**_COMMON, **table.columns},
            ((*_common(object_id, value), *table.row(value)) for object_id, value in living),
        )
        cursor.execute(_merge(table, staged), {"cluster": cluster_id, "now": now})
    return frozenset()


def _value(table: NamedTable, moved: Moved) -> Any:
    if moved.after is None:
        return None
    try:
        return table.parse(msgspec.json.decode(moved.change.content)).value
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _common(object_id: int, value: Any) -> tuple[Any, ...]:
    problems = [
        {"code": each.code, "message": each.message, "severity": each.severity}
        for each in value.problems
    ]
    return (
        object_id,
        as_text(value.name),
        as_text(value.uid),
        _moment(value.created_at),
        as_jsonb(problems),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _merge(table: NamedTable, staged: str) -> str:
    """Rows that say the same already are not touched."""
    columns = [*_COMMON, *table.columns]
    listed = ", ".join(columns)
    new = ", ".join(f"excluded.{column}" for column in columns)
    old = ", ".join(f"t.{column}" for column in columns)
    return (
        f"INSERT INTO {table.name} AS t (cluster_id, {listed}, first_seen_at, changed_at)"  # noqa: S608 -- made of constants
        f" SELECT %(cluster)s, {listed}, %(now)s, %(now)s FROM pg_temp.{staged}"
        f" ON CONFLICT (cluster_id, name) DO UPDATE SET ({listed}) = ROW ({new}),"
        " changed_at = excluded.changed_at, vanished_at = NULL"
        f" WHERE (t.vanished_at, {old}) IS DISTINCT FROM (NULL, {new})"
    )
