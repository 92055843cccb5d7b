"""Rows to Postgres in bulk: binary COPY into a table, or into a temporary one that a merge then reads."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psycopg
from django.db import connection
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Cursor = psycopg.Cursor[tuple[Any, ...]]

_NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def open_cursor() -> Cursor:
    """A cursor of psycopg itself on Django's connection: binary, and with parameters bound by the server."""
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


@contextmanager
def as_long_as_it_takes() -> Iterator[None]:
    """Within the block statements of this connection have no time limit.

    That limit is for pages; a longer upkeep would be begun again and again. Waiting for a lock still ends.
    """
    with open_cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("RESET statement_timeout")


def copy_rows(
    cursor: Cursor, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]
) -> int:
    """Append `rows` to `table`; `columns` are their names and Postgres types. Returns how many there were."""
    count = 0
    names = ", ".join(columns)
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)
            count += 1
    return count


def stage_rows(
    cursor: Cursor, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]
) -> int:
    """Fill a temporary table, made when first used by this connection and empty again after the transaction."""
    fields = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    # Asked first: IF NOT EXISTS alone sends a notice each time.
    cursor.execute("SELECT to_regclass('pg_temp.' || %s)", (table,))
    if cursor.fetchone() == (None,):
        cursor.execute(f"CREATE TEMP TABLE {table} ({fields}) ON COMMIT DELETE ROWS")
    else:
        cursor.execute(f"DELETE FROM pg_temp.{table}")  # noqa: S608 -- made of constants
    return copy_rows(cursor, f"pg_temp.{table}", columns, rows)


def as_jsonb(value: Any) -> Jsonb:
    """A value of a jsonb column. Postgres has no NUL in text, so it becomes U+FFFD."""
    return Jsonb(value, dumps=_encode_json)


def storable(value: Any) -> Any:
    """The same JSON as `as_jsonb` writes it, for rows that Django writes."""
    return msgspec.json.decode(_encode_json(value))


def as_text(value: str) -> str:
    """Text as Postgres can keep it."""
    return value.replace("\x00", "\ufffd") if "\x00" in value else value


def _encode_json(value: Any) -> bytes:
    encoded = msgspec.json.encode(value)
    if b"\\u0000" in encoded:
        return _NUL.sub(rb"\1\\ufffd", encoded)
    return encoded
