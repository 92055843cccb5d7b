"""What one transaction changed, handed before its commit to those who make something of it.

A consumer is a pure function from changes to rows, and one set-based write of those rows. So nobody computes a difference twice, or
after the fact, and what follows from a change is stored with it or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from objects.services.staging import Cursor
    from objects.services.versions import Row, RowChange, VersionedTable


class MakeRows(Protocol):
    """Rows of a consumer from the changes of its tables, each row of a table once."""

    def __call__(self, changes: Sequence[RowChange], /) -> Sequence[Any]: ...


class WriteRows(Protocol):
    """One statement for all rows."""

    def __call__(self, cursor: Cursor, cluster_id: int, rows: Sequence[Any], /) -> None: ...


class Wants(Protocol):
    """Whether anybody would hear of a change of a table."""

    def __call__(self, table: VersionedTable, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Consumer:
    """Somebody who makes rows of what changed in some tables."""

    name: str
    tables: tuple[VersionedTable, ...]
    subject: str | None
    """Whose revision rises when it has written rows: that of the pages that show them. None: no page does."""
    make_rows: MakeRows
    write_rows: WriteRows


_consumers: dict[str, Consumer] = {}


def register(*consumers: Consumer) -> None:
    """Hand all later changes to these too, in this order. Called by `consumers` modules, when Django starts."""
    named = {**_consumers, **{consumer.name: consumer for consumer in consumers}}
    if len(named) != len(_consumers) + len(consumers):
        names = ", ".join(consumer.name for consumer in consumers)
        raise ValueError(f"of {names}, some name is taken")
    _consumers.update(named)


@dataclass(slots=True)
class RowChanges:
    """The changes of one transaction of one cluster."""

    cluster_id: int
    consumers: Sequence[Consumer] = field(default_factory=lambda: tuple(_consumers.values()))
    _by_row: dict[tuple[str, Any], RowChange] = field(default_factory=dict)

    def wants(self, table: VersionedTable) -> bool:
        """Whether anybody would hear of a change of this table."""
        return any(table in consumer.tables for consumer in self.consumers)

    def add(self, changes: Iterable[RowChange]) -> None:
        """Later changes of a row continue the earlier ones: what counts is before the transaction and after it."""
        for change in changes:
            name = change.row
            row = name.table, name.key if name.id is None else name.id
            earlier = self._by_row.get(row)
            self._by_row[row] = change if earlier is None else _continued(earlier, change)

    @property
    def tables(self) -> set[str]:
        """Names of those of which there was a change."""
        return {table for table, _ in self._by_row}

    def hand_over(self, cursor: Cursor) -> set[str]:
        """Give each consumer the changes of its tables. Called once, as the last write of rows of the transaction.

        Returns the subjects of those that have written rows.
        """
        subjects: set[str] = set()
        changes = [each for each in self._by_row.values() if _is_change(each)]
        for consumer in self.consumers:
            names = {table.name for table in consumer.tables}
            rows = consumer.make_rows([each for each in changes if each.row.table in names])
            if rows:
                consumer.write_rows(cursor, self.cluster_id, rows)
                if consumer.subject is not None:
                    subjects.add(consumer.subject)
        return subjects


def _is_change(change: RowChange) -> bool:
    """Not of a row that came and went within the transaction, or is again what it was."""
    return _values(change.before) != _values(change.after)


def _values(row: Row | None) -> Row | None:
    return row and {name: value for name, value in row.items() if name != "since"}


def _continued(earlier: RowChange, later: RowChange) -> RowChange:
    return type(later)(later.row, later.at, earlier.before, later.after)
