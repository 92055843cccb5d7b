"""Partitions by day or month: made ahead of time, packed when their time is over, and dropped when all of one is too old."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from django.db import transaction
from psycopg.errors import LockNotAvailable, ObjectNotInPrerequisiteState

from objects.services.staging import Cursor, open_cursor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DAYS_AHEAD: Final = 7
# One number of Postgres' advisory locks, so that two workers never make the same partition at once.
_LOCK: Final = 0x6F62_7061
# The last transactions of a day may end after it.
_SETTLED: Final = timedelta(hours=1)
_PACKED: Final = "packed"
_NAME: Final = re.compile(r"_p(\d{4})(\d{2})(\d{2})?$")


@dataclass(frozen=True, slots=True)
class Partitioned:
    """A table that is partitioned by a moment."""

    table: str
    by: Literal["day", "month"] = "day"


LOG: Final = (Partitioned("objects_objectevent"), Partitioned("objects_checkpoint"))


def ensure_partitions(tables: Sequence[Partitioned], *, now: datetime) -> list[str]:
    """Make what is missing from yesterday to seven days ahead; returns the names of those made. One query when none is.

    Each is made by itself and attached then, which neither waits for those who read the table nor makes anybody wait.
    """
    wanted = {
        _name(table, start): (table, start) for table in tables for start in _starts(table, now)
    }
    with open_cursor() as cursor:
        missing = set(wanted) - _existing(cursor, list(wanted))
        if not missing:
            return []
        with transaction.atomic():
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            missing -= _existing(cursor, list(wanted))
            for name in sorted(missing):
                table, start = wanted[name]
                cursor.execute(f"CREATE TABLE {name} (LIKE {table.table} INCLUDING ALL)")
                cursor.execute(
                    f"ALTER TABLE {table.table} ATTACH PARTITION {name}"
                    f" FOR VALUES FROM ('{start.isoformat()}') TO ('{_end(table, start).isoformat()}')"
                )
    return sorted(missing)


def drop_partitions(tables: Sequence[Partitioned], *, before: datetime) -> list[str]:
    """Drop partitions of which everything is earlier than `before`; returns their names. Not inside of a transaction.

    Each is detached first, which waits for those who read it instead of making everybody wait for them. What a stop in between left
    is found again by its name. One that is read for long is left for the next time, and with it those that follow it in its table: Postgres
    detaches one at a time.
    """
    dropped = []
    with open_cursor() as cursor:
        for table in tables:
            for name, state in _partitions(cursor, table).items():
                start = _start_of(name)
                if start is None or _end(table, start) > before:
                    continue
                with suppress(LockNotAvailable, ObjectNotInPrerequisiteState):
                    _drop(cursor, table, name, state)
                    dropped.append(name)
    return dropped


def _drop(cursor: Cursor, table: Partitioned, name: str, state: str) -> None:
    if state != "detached":
        how = "FINALIZE" if state == "detaching" else "CONCURRENTLY"
        cursor.execute(f"ALTER TABLE {table.table} DETACH PARTITION {name} {how}")
    cursor.execute(f"DROP TABLE {name}")


def pack_partitions(tables: Sequence[Partitioned], *, now: datetime) -> list[str]:
    """Pack each partition whose time has been over for an hour, once; returns their names. Not inside of a transaction.

    Rows that came in no order leave the pages of an index half empty, and for as long as the partition is kept nothing more comes.
    Postgres waits for whoever reads. A partition that is read for long is left for the next time.
    """
    packed = []
    with open_cursor() as cursor:
        for table in tables:
            for name in _loose(cursor, table):
                start = _start_of(name)
                if start is None or _end(table, start) > now - _SETTLED:
                    continue
                with suppress(LockNotAvailable):
                    pack_partition(cursor, name)
                    packed.append(name)
    return packed


def pack_partition(cursor: Cursor, name: str) -> None:
    """Write the indexes of a partition anew, without holes, and spare all later readers the look at who wrote its rows.

    Readers are not made to wait. An index that a stop in between left invalid is taken away by the next try. Trees alone, one by one:
    the table as a whole has an index of long values too, which is in order as it is, and where nobody would look for what a stop left.
    """
    cursor.execute(
        "SELECT indexrelid::regclass::text, indisvalid FROM pg_index"
        " JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam"
        " WHERE indrelid = %s::regclass AND amname = 'btree' ORDER BY indisvalid, indexrelid",
        (name,),
    )
    for index, is_valid in cursor.fetchall():
        if is_valid:
            cursor.execute(f"ALTER INDEX {index} SET (fillfactor = 100)")
            cursor.execute(f"REINDEX INDEX CONCURRENTLY {index}")
        else:
            cursor.execute(f"DROP INDEX CONCURRENTLY {index}")
    cursor.execute(f"VACUUM (FREEZE, ANALYZE) {name}")
    cursor.execute(f"COMMENT ON TABLE {name} IS '{_PACKED}'")


def _loose(cursor: Cursor, table: Partitioned) -> list[str]:
    """The partitions of a table that are not packed, in order of time."""
    cursor.execute(
        "SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
        " WHERE inhparent = %s::regclass AND obj_description(pg_class.oid, 'pg_class') IS DISTINCT FROM %s"
        " ORDER BY relname",
        (table.table, _PACKED),
    )
    return [name for (name,) in cursor.fetchall()]


def _partitions(cursor: Cursor, table: Partitioned) -> dict[str, str]:
    """What has the name of a partition of the table, in order of time: attached, detaching or detached."""
    cursor.execute(
        "SELECT relname::text, CASE WHEN inhdetachpending THEN 'detaching'"
        " WHEN inhrelid IS NULL THEN 'detached' ELSE 'attached' END"
        " FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid"
        " WHERE relkind = 'r' AND relnamespace = current_schema::regnamespace AND relname ~ %s"
        " ORDER BY relname",
        (rf"^{table.table}_p\d+$",),
    )
    return dict(cursor.fetchall())


def _existing(cursor: Cursor, names: list[str]) -> set[str]:
    cursor.execute("SELECT relname::text FROM pg_class WHERE relname = ANY(%s)", (names,))
    return {name for (name,) in cursor.fetchall()}


def _starts(table: Partitioned, now: datetime) -> Iterator[datetime]:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    # Yesterday as well: a clock that is set back must find its partition.
    start = midnight - timedelta(days=1)
    if table.by == "month":
        start = start.replace(day=1)
    while start <= midnight + timedelta(days=DAYS_AHEAD):
        yield start
        start = _end(table, start)


def _end(table: Partitioned, start: datetime) -> datetime:
    if table.by == "day":
        return start + timedelta(days=1)
    return (start + timedelta(days=32)).replace(day=1)


def _name(table: Partitioned, start: datetime) -> str:
    return (
        f"{table.table}_p{start:%Y%m%d}" if table.by == "day" else f"{table.table}_p{start:%Y%m}"
    )


def _start_of(name: str) -> datetime | None:
    match = _NAME.search(name)
    if match is None:
        return None
    return datetime(int(match[1]), int(match[2]), int(match[3] or 1), tzinfo=UTC)
