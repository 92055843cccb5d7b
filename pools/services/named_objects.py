"""Rows of objects that have one name in a whole cluster: a row for each name, which stays when its object goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dra.shapes import statement_shape
from objects.queries import decoded
from objects.services.staging import Cursor, as_jsonb, as_text
from objects.services.versions import RowsWhere, VersionedTable, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dra.parsing import Parsed
    from dra.values import PoolKey
    from objects.services.changes import RowChanges
    from objects.services.log import ObjectChange


def named_table(name: str, own: Mapping[str, str]) -> VersionedTable:
    """A table of such rows: what all of them have, and the kind's own values with their Postgres types."""
    common = {"object_id": "int8", "uid": "text", "created_at": "timestamptz", "problems": "jsonb"}
    return VersionedTable(
        name,
        key={"name": "text"},
        values={**common, **own},
        has_first_seen=True,
        # What it was when it went stays readable.
        gone={},
    )


@dataclass(frozen=True, slots=True)
class NamedObjects:
    """One kind of them: its table, and how a row is made of an object."""

    table: VersionedTable
    parse: Callable[[Any], Parsed[Any]]
    """To a value of the core, or to None where even its name cannot be read."""
    own_values: Callable[[Any], tuple[Any, ...]]
    """Of such a value, the table's own values."""

    def record(
        self,
        cursor: Cursor,
        cluster_id: int,
        changed: Sequence[ObjectChange],
        /,
        *,
        now: datetime,
        changes: RowChanges,
    ) -> frozenset[PoolKey]:
        """Bring the rows of these objects up to date. No figure of a pool rests on them, so no pool is touched."""
        values = [(each.object_id, self._value(each)) for each in changed]
        gone = [object_id for object_id, value in values if value is None]
        # Of an object that was made anew the earlier one is living too, until a full read has come to its end: the later one counts.
        rows = {
            as_text(value.name): (*_common_values(object_id, value), *self.own_values(value))
            for object_id, value in sorted(values, key=lambda each: each[0])
            if value is not None
        }
        replaced = RowsWhere("object_id", gone) if gone else None
        is_wanted = changes.wants(self.table)
        changes.add(
            merge(
                cursor,
                self.table,
                cluster_id,
                rows.values(),
                now=now,
                replaced=replaced,
                is_wanted=is_wanted,
            )
        )
        return frozenset()

    def _value(self, changed: ObjectChange) -> Any:
        return self.parse(decoded(changed.event.content)).value if changed.after else None


def _common_values(object_id: int, value: Any) -> tuple[Any, ...]:
    return (
        as_text(value.name),
        object_id,
        as_text(value.uid),
        _moment(value.created_at),
        as_jsonb([statement_shape(problem) for problem in value.problems]),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None
