"""What migrations make of a table so that it can be read as of a moment: a table of closed versions, and a view in the schema `past`.

A view has the name of its table. A snapshot of a moment puts that schema first and only, and sets `dradash.at`: the same queries then
read what was, and a table without such a view is not found, instead of answering for now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.db.migrations.operations.base import Operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import ProjectState

SCHEMA: Final = "past"

MAKE_SCHEMA: Final = f"""
CREATE SCHEMA {SCHEMA};
CREATE FUNCTION {SCHEMA}.moment() RETURNS timestamptz STABLE PARALLEL SAFE LANGUAGE sql
    RETURN current_setting('dradash.at')::timestamptz;
"""
"""`moment()` is replaced by what it says when a query is planned; it fails where no moment was set.

A later migration calls it immutable, which it is for as long as a plan lives: each statement is planned when it runs, since our
connections prepare none (`postgres_settings`). So Postgres plans for the partitions that can have rows of the moment alone.
"""

_COLUMNS: Final = """
SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


class _InDatabase(Operation):
    """Changes the database and nothing that models know of."""

    reduces_to_sql = False

    def __init__(self, table: str) -> None:
        self.table = table

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        schema_editor.execute(f"DROP VIEW IF EXISTS {SCHEMA}.{self.table}")


class KeepVersions(_InDatabase):
    """A table of closed versions and the view of both, with the columns that the table has now.

    Given again after the table's columns changed, it brings closed table and view to the same columns; before a column is dropped or
    gets another type, `ForgetView` must stand. `fill` has SQL for what a new column was in versions that are closed already.
    """

    def __init__(
        self,
        table: str,
        *,
        indexes: Sequence[str] = (),
        fill: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(table)
        self.indexes = tuple(indexes)
        self.fill = dict(fill or {})

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return (
            self.__class__.__qualname__,
            [self.table],
            {"indexes": self.indexes, "fill": self.fill},
        )

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        with schema_editor.connection.cursor() as cursor:
            columns = _columns(cursor, self.table)
            closed = _columns(cursor, f"{self.table}_closed")
        schema_editor.execute(f"DROP VIEW IF EXISTS {SCHEMA}.{self.table}")
        if not closed:
            schema_editor.execute(
                f"CREATE TABLE {self.table}_closed (LIKE {self.table}, until timestamptz NOT NULL)"
                " PARTITION BY RANGE (until)"
            )
        else:
            self._bring_to(schema_editor, columns, closed)
        for number, index in enumerate(self.indexes, 1):
            schema_editor.execute(
                f"CREATE INDEX IF NOT EXISTS {self.table}_closed_{number} ON {self.table}_closed {index}"
            )
        schema_editor.execute(view_of_versions(self.table, list(columns)))

    def _bring_to(
        self,
        schema_editor: BaseDatabaseSchemaEditor,
        columns: Mapping[str, str],
        closed: Mapping[str, str],
    ) -> None:
        alter = f"ALTER TABLE {self.table}_closed"
        for name in closed.keys() - columns.keys() - {"until"}:
            schema_editor.execute(f"{alter} DROP COLUMN {name}")
        for name, type_ in columns.items():
            if name not in closed:
                # What a closed version had there is not known, unless the migration says.
                schema_editor.execute(f"{alter} ADD COLUMN {name} {type_}")
            elif closed[name] != type_:
                schema_editor.execute(
                    f"{alter} ALTER COLUMN {name} TYPE {type_} USING {name}::{type_}"
                )
        for name, value in self.fill.items():
            schema_editor.execute(
                f"UPDATE {self.table}_closed SET {name} = {value} WHERE {name} IS NULL"  # noqa: S608 -- a migration's own names
            )

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        schema_editor.execute(f"DROP VIEW IF EXISTS {SCHEMA}.{self.table}")
        schema_editor.execute(f"DROP TABLE IF EXISTS {self.table}_closed")

    def describe(self) -> str:
        return f"Keep the versions of {self.table}"


class ForgetView(_InDatabase):
    """Take the view away, so that columns of its table can be changed; `KeepVersions` or `ShowPast` puts it back."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        schema_editor.execute(f"DROP VIEW IF EXISTS {SCHEMA}.{self.table}")

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """The view is put back by the migration before, or not at all."""

    def describe(self) -> str:
        return f"Take away the view of the past of {self.table}"


class ShowPast(_InDatabase):
    """A view of a table that has no closed versions: its rows that were there at the moment, with all its columns.

    `where` says which rows those are; `columns` has SQL for a column that was another then than now.
    """

    def __init__(
        self, table: str, *, where: str = "true", columns: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(table)
        self.where = where
        self.columns = dict(columns or {})

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return (
            self.__class__.__qualname__,
            [self.table],
            {"where": self.where, "columns": self.columns},
        )

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        with schema_editor.connection.cursor() as cursor:
            columns = _columns(cursor, self.table)
        shown = ", ".join(
            f"({self.columns[name]})::{type_} AS {name}" if name in self.columns else f"t.{name}"
            for name, type_ in columns.items()
        )
        schema_editor.execute(f"DROP VIEW IF EXISTS {SCHEMA}.{self.table}")
        schema_editor.execute(
            f"CREATE VIEW {SCHEMA}.{self.table} AS"  # noqa: S608 -- a migration's own names
            f" SELECT {shown} FROM public.{self.table} t WHERE {self.where}"
        )

    def describe(self) -> str:
        return f"Show {self.table} as of a moment"


def view_of_versions(table: str, columns: Sequence[str]) -> str:
    """The rows that were current at the moment.

    The condition stands around the union, not in its parts: only so does Postgres merge their indexes into one order, and leave out
    the partitions that ended before.
    """
    names = ", ".join(columns)
    return f"""
CREATE VIEW {SCHEMA}.{table} AS
SELECT {names} FROM (
    SELECT {names}, 'infinity'::timestamptz AS until FROM public.{table}
    UNION ALL SELECT {names}, until FROM public.{table}_closed
) versions WHERE since <= {SCHEMA}.moment() AND until > {SCHEMA}.moment()
"""  # noqa: S608 -- a migration's own names


def _columns(cursor: Any, table: str) -> dict[str, str]:
    """Names and types of a table's columns; empty when there is no such table."""
    cursor.execute(_COLUMNS, [f"public.{table}"])
    return dict(cursor.fetchall())
