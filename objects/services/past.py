"""What migrations make of a table so that it can be read as of a moment: a table of closed versions, and a view in the schema `past`.

A view has the name of its table. A snapshot of a moment puts that schema first and only, and sets `dradash.at`: the same queries then
read what was, and a table without such a view is not found, instead of answering for now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.db.migrations import RunSQL
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
_NEEDED: Final = (
    "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnotnull"
)


class _InDatabase(Operation):
    """Changes the database and not the state of models."""

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
    """A table of closed versions and the view of both, with the columns that the table has now. `change_versions` changes them later."""

    def __init__(self, table: str, *, indexes: Sequence[str] = ()) -> None:
        super().__init__(table)
        self.indexes = tuple(indexes)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        schema_editor.execute(
            f"CREATE TABLE {self.table}_closed (LIKE {self.table}, until timestamptz NOT NULL)"
            " PARTITION BY RANGE (until)"
        )
        for number, index in enumerate(self.indexes, 1):
            schema_editor.execute(
                f"CREATE INDEX {self.table}_closed_{number} ON {self.table}_closed {index}"
            )
        _show_versions(schema_editor, self.table)

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


def change_versions(
    table: str,
    *operations: Operation,
    fill: Mapping[str, str] | None = None,
    indexes: Mapping[str, str] | None = None,
    joined: Sequence[ShowJoined] = (),
) -> list[Operation]:
    """Operations that change a table which keeps versions; its closed versions and its views follow, there and back.

    `fill` has SQL for what a new column was in versions that are closed already; without it that is not known. `indexes` are those that
    closed versions get, by name. `joined` are the views that rest on the table.
    """
    made = [
        RunSQL(
            f"CREATE INDEX {name} ON {table}_closed {columns}", reverse_sql=f"DROP INDEX {name}"
        )
        for name, columns in (indexes or {}).items()
    ]
    bring = BringVersions(table, joined=joined, fill=fill)
    return [HideVersions(table, joined=joined), *operations, bring, *made]


class _Following(_InDatabase):
    """On one side of operations that change a table its views go away; on the other they come back with the columns that it has then."""

    def __init__(
        self, table: str, *, joined: Sequence[ShowJoined], fill: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(table)
        self.joined = tuple(joined)
        self.fill = dict(fill or {})

    def _hide(self, app_label: str, schema_editor: Any, states: Sequence[ProjectState]) -> None:
        for each in self.joined:
            each.database_backwards(app_label, schema_editor, *states)
        schema_editor.execute(f"DROP VIEW {SCHEMA}.{self.table}")

    def _bring(self, app_label: str, schema_editor: Any, states: Sequence[ProjectState]) -> None:
        _bring_closed(schema_editor, self.table)
        for name, value in self.fill.items():
            schema_editor.execute(
                f"UPDATE {self.table}_closed SET {name} = {value} WHERE {name} IS NULL"  # noqa: S608 -- a migration's own names
            )
        _show_versions(schema_editor, self.table)
        for each in self.joined:
            each.database_forwards(app_label, schema_editor, *states)


class HideVersions(_Following):
    """Stands before the operations."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._hide(app_label, schema_editor, (from_state, to_state))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._bring(app_label, schema_editor, (from_state, to_state))

    def describe(self) -> str:
        return f"Take away the views of the past of {self.table}"


class BringVersions(_Following):
    """Stands behind them."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._bring(app_label, schema_editor, (from_state, to_state))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._hide(app_label, schema_editor, (from_state, to_state))

    def describe(self) -> str:
        return f"Bring closed versions of {self.table} to its columns"


def _bring_closed(schema_editor: Any, table: str) -> None:
    """Give closed versions the columns of their table: they take what it takes, and more where they do not know."""
    with schema_editor.connection.cursor() as cursor:
        columns, closed = _columns(cursor, table), _columns(cursor, f"{table}_closed")
        needed = _needed_columns(cursor, table) | {"until"}
        too_strict = _needed_columns(cursor, f"{table}_closed") & columns.keys() - needed
    alter = f"ALTER TABLE {table}_closed"
    for name in closed.keys() - columns.keys() - {"until"}:
        schema_editor.execute(f"{alter} DROP COLUMN {name}")
    for name, type_ in columns.items():
        if name not in closed:
            schema_editor.execute(f"{alter} ADD COLUMN {name} {type_}")
        elif closed[name] != type_:
            schema_editor.execute(
                f"{alter} ALTER COLUMN {name} TYPE {type_} USING {name}::{type_}"
            )
    for name in sorted(too_strict):
        schema_editor.execute(f"{alter} ALTER COLUMN {name} DROP NOT NULL")


def _show_versions(schema_editor: Any, table: str) -> None:
    with schema_editor.connection.cursor() as cursor:
        columns = list(_columns(cursor, table))
    schema_editor.execute(view_of_versions(table, columns))


class ShowJoined(_InDatabase):
    """A view in one schema over tables that keep versions, joined: with all columns that these tables have now.

    `source` is what stands behind FROM, with `{schema}` before tables. `tables` are their names by alias there: of two columns of one
    name the first is shown. `columns` has SQL for those that are made otherwise.
    """

    def __init__(
        self,
        view: str,
        *,
        schema: str,
        source: str,
        tables: Mapping[str, str],
        columns: Mapping[str, str],
    ) -> None:
        super().__init__(view)
        self.schema = schema
        self.source = source
        self.tables = dict(tables)
        self.columns = dict(columns)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        shown = {}
        with schema_editor.connection.cursor() as cursor:
            for alias, table in reversed(self.tables.items()):
                shown.update({name: f"{alias}.{name}" for name in _columns(cursor, table)})
        shown.update(
            {name: f"{sql} AS {name}" for name, sql in self._in_schema(self.columns).items()}
        )
        schema_editor.execute(f"DROP VIEW IF EXISTS {self.schema}.{self.table}")
        schema_editor.execute(
            f"CREATE VIEW {self.schema}.{self.table} AS"  # noqa: S608 -- a migration's own names
            f" SELECT {', '.join(shown.values())} FROM {self.source.format(schema=self.schema)}"
        )

    def _in_schema(self, columns: Mapping[str, str]) -> dict[str, str]:
        return {name: sql.format(schema=self.schema) for name, sql in columns.items()}

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        schema_editor.execute(f"DROP VIEW IF EXISTS {self.schema}.{self.table}")

    def describe(self) -> str:
        return f"Show {self.schema}.{self.table} with the columns of its tables"


class ForgetView(_InDatabase):
    """Take the view away, so that columns of its table can be changed; `ShowPast` puts it back."""

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


def _columns(cursor: Any, table: str, *, schema: str = "public") -> dict[str, str]:
    """Names and types of a table's or view's columns, in their order; empty when there is none."""
    cursor.execute(_COLUMNS, [f"{schema}.{table}"])
    return dict(cursor.fetchall())


def _needed_columns(cursor: Any, table: str) -> set[str]:
    """Names of a table's columns that may not be null."""
    cursor.execute(_NEEDED, [f"public.{table}"])
    return {name for (name,) in cursor.fetchall()}
