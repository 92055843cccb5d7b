from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connection, transaction
from django.db.migrations import RunSQL

from objects.services import versions
from objects.services.partitions import ensure_partitions
from objects.services.past import KeepVersions, change_versions
from objects.services.staging import open_cursor
from objects.services.versions import RowChange, RowName, RowsWhere, VersionedTable
from tests.factories.clusters import NOON
from tests.series import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)
CLUSTER = 7

LAMP = VersionedTable(
    "shop_lamp",
    key={"place": "text", "name": "text"},
    values={"watts": "int4", "is_on": "bool"},
    has_first_seen=True,
    gone={"is_on": "NULL"},
)
SEAT = VersionedTable(
    "shop_seat",
    key={"number": "int8"},
    values={"guest": "text", "dishes": "int4"},
    has_id=False,
    is_written_in_parts=True,
)
TABLES = """
CREATE TABLE shop_lamp (
    cluster_id bigint NOT NULL, id bigserial, place text NOT NULL, name text NOT NULL,
    watts integer, is_on boolean, first_seen_at timestamptz NOT NULL, since timestamptz NOT NULL,
    vanished_at timestamptz, PRIMARY KEY (cluster_id, id), UNIQUE (cluster_id, place, name)
);
CREATE TABLE shop_seat (
    cluster_id bigint NOT NULL, number bigint NOT NULL, guest text, dishes integer,
    since timestamptz NOT NULL, PRIMARY KEY (cluster_id, number)
);
"""


@pytest.fixture(autouse=True)
def shop() -> None:
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
    keep_versions("shop_lamp")
    keep_versions("shop_seat")
    ensure_partitions([LAMP.partitions, SEAT.partitions], now=NOON)


def keep_versions(table: str) -> None:
    with connection.schema_editor() as editor:
        nothing: Any = None
        KeepVersions(table).database_forwards("shop", editor, nothing, nothing)


@pytest.fixture
def cursor() -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
    with open_cursor() as cursor:
        yield cursor


Cursor = psycopg.Cursor[tuple[Any, ...]]


def put(
    cursor: Cursor, *rows: Sequence[Any], now: datetime = NOON, place: str = "hall"
) -> list[RowChange]:
    """All lamps of the hall."""
    return versions.merge(
        cursor, LAMP, CLUSTER, rows, now=now, replaced=RowsWhere("place", [place])
    )


def lamps(cursor: Cursor) -> list[tuple[Any, ...]]:
    cursor.execute("SELECT name, watts, is_on, since, vanished_at FROM shop_lamp ORDER BY name")
    return cursor.fetchall()


def closed(cursor: Cursor) -> list[tuple[Any, ...]]:
    cursor.execute(
        "SELECT name, watts, is_on, since, until, vanished_at FROM shop_lamp_closed ORDER BY until, name"
    )
    return cursor.fetchall()


def lamps_at(cursor: Cursor, at: datetime) -> list[tuple[Any, ...]]:
    cursor.execute("SELECT set_config('dradash.at', %s, true)", (at.isoformat(),))
    cursor.execute(
        "SELECT name, watts FROM past.shop_lamp WHERE vanished_at IS NULL ORDER BY name"
    )
    return cursor.fetchall()


def test_merge_tells_what_is_new(cursor: Cursor) -> None:
    (change,) = put(cursor, ("hall", "a", 40, True))

    row = {"place": "hall", "name": "a", "watts": 40, "is_on": True}
    after = {"id": change.row.id, **row}
    moments = {"first_seen_at": NOON, "since": NOON, "vanished_at": None}
    name = RowName("shop_lamp", CLUSTER, ("hall", "a"), change.row.id)
    assert change == RowChange(name, NOON, before=None, after=after | moments)
    assert (lamps(cursor), closed(cursor)) == ([("a", 40, True, NOON, None)], [])


def test_merge_closes_the_version_that_a_change_ends(cursor: Cursor) -> None:
    (first,) = put(cursor, ("hall", "a", 40, True))

    (change,) = put(cursor, ("hall", "a", 60, True), now=NOON + MINUTE)

    assert change.before == first.after
    assert first.after is not None
    assert change.after == {**first.after, "watts": 60, "since": NOON + MINUTE}
    assert lamps(cursor) == [("a", 60, True, NOON + MINUTE, None)]
    assert closed(cursor) == [("a", 40, True, NOON, NOON + MINUTE, None)]


def test_merge_leaves_equal_rows_alone_and_does_not_lock_them(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, None), ("hall", "b", 40, None))
    cursor.execute("SELECT ctid::text, xmax::text FROM shop_lamp WHERE name = 'a'")
    before = cursor.fetchall()

    changes = put(cursor, ("hall", "a", 40, None), ("hall", "b", 60, None), now=NOON + MINUTE)

    cursor.execute("SELECT ctid::text, xmax::text FROM shop_lamp WHERE name = 'a'")
    assert cursor.fetchall() == before
    assert [change.row.key for change in changes] == [("hall", "b")]


def test_merge_takes_as_gone_what_was_not_given_of_the_scope(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, True), ("hall", "b", 40, True))
    put(cursor, ("attic", "c", 40, True), place="attic")

    (change,) = put(cursor, ("hall", "a", 40, True), now=NOON + MINUTE)

    later = NOON + MINUTE
    assert (change.row.key, change.at, change.after) == (("hall", "b"), later, None)
    assert lamps(cursor) == [
        ("a", 40, True, NOON, None),
        ("b", 40, None, later, later),
        ("c", 40, True, NOON, None),
    ]
    assert closed(cursor) == [("b", 40, True, NOON, later, None)]
    assert put(cursor, ("hall", "a", 40, True), now=NOON + 2 * MINUTE) == []


def test_merge_gives_what_comes_back_its_old_id(cursor: Cursor) -> None:
    (first,) = put(cursor, ("hall", "a", 40, True))
    put(cursor, now=NOON + MINUTE)

    (back,) = put(cursor, ("hall", "a", 40, True), now=NOON + 2 * MINUTE)

    assert first.after is not None
    assert back.before is None
    assert back.after == {**first.after, "since": NOON + 2 * MINUTE}


def test_merge_with_a_clock_set_back_begins_after_the_version_before(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, True))

    (change,) = put(cursor, ("hall", "a", 60, True), now=NOON - MINUTE)

    assert change.at == NOON + TICK
    assert lamps(cursor) == [("a", 60, True, NOON + TICK, None)]
    assert closed(cursor) == [("a", 40, True, NOON, NOON + TICK, None)]


def test_merge_of_some_values_leaves_the_others_and_adds_nothing(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, True))

    changes = versions.merge(
        cursor,
        LAMP,
        CLUSTER,
        [("hall", "a", False), ("hall", "b", False)],
        now=NOON + MINUTE,
        only=["is_on"],
    )

    assert [change.row.key for change in changes] == [("hall", "a")]
    assert lamps(cursor) == [("a", 40, False, NOON + MINUTE, None)]


def test_merge_that_nobody_wants_to_hear_of_writes_the_same(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, True))

    heard = versions.merge(
        cursor,
        LAMP,
        CLUSTER,
        [("hall", "a", 60, True)],
        now=NOON + MINUTE,
        is_wanted=False,
    )

    assert heard == []
    assert closed(cursor) == [("a", 40, True, NOON, NOON + MINUTE, None)]


def test_merge_of_rows_that_go_removes_them_and_keeps_their_last_version(cursor: Cursor) -> None:
    versions.merge(cursor, SEAT, CLUSTER, [(1, "Ada", 2), (2, "Bob", 1)], now=NOON)

    (change,) = versions.merge(
        cursor, SEAT, CLUSTER, [], now=NOON + MINUTE, replaced=RowsWhere("number", [1])
    )

    cursor.execute("SELECT number FROM shop_seat")
    assert cursor.fetchall() == [(2,)]
    cursor.execute("SELECT number, guest, since, until FROM shop_seat_closed")
    assert cursor.fetchall() == [(1, "Ada", NOON, NOON + MINUTE)]
    before = {"number": 1, "guest": "Ada", "dishes": 2, "since": NOON}
    assert change == RowChange(
        RowName("shop_seat", CLUSTER, (1,), None), NOON + MINUTE, before, None
    )


def test_parts_that_are_written_at_one_moment_are_one_version(cursor: Cursor) -> None:
    versions.merge(cursor, SEAT, CLUSTER, [(1, "Ada", None)], now=NOON)
    versions.merge(cursor, SEAT, CLUSTER, [(1, 2)], now=NOON, only=["dishes"])
    versions.merge(cursor, SEAT, CLUSTER, [(1, "Bob", None)], now=NOON + MINUTE)
    versions.merge(cursor, SEAT, CLUSTER, [(1, 3)], now=NOON + MINUTE, only=["dishes"])

    cursor.execute("SELECT guest, dishes, since FROM shop_seat")
    assert cursor.fetchall() == [("Bob", 3, NOON + MINUTE)]
    cursor.execute("SELECT guest, dishes, since, until FROM shop_seat_closed")
    assert cursor.fetchall() == [("Ada", 2, NOON, NOON + MINUTE)]


def test_append_adds_rows_with_ids_that_were_taken_for_them(cursor: Cursor) -> None:
    ids = versions.take_ids(cursor, LAMP, 2)

    changes = versions.append(
        cursor,
        LAMP,
        CLUSTER,
        [(ids[0], "hall", "a", 40, True), (ids[1], "hall", "b", 60, None)],
        now=NOON,
    )

    cursor.execute("SELECT id, name, first_seen_at FROM shop_lamp ORDER BY id")
    assert cursor.fetchall() == [(ids[0], "a", NOON), (ids[1], "b", NOON)]
    assert put(cursor, ("hall", "a", 40, True), ("hall", "b", 60, None), now=NOON + MINUTE) == []
    assert [(change.row.id, change.before) for change in changes] == [
        (ids[0], None),
        (ids[1], None),
    ]


def test_past_has_the_version_of_each_moment(cursor: Cursor) -> None:
    put(cursor, ("hall", "a", 40, True), ("hall", "b", 25, True))
    put(cursor, ("hall", "a", 60, True), now=NOON + MINUTE)
    put(cursor, ("hall", "a", 60, True), ("hall", "b", 5, True), now=NOON + 2 * MINUTE)

    assert lamps_at(cursor, NOON - TICK) == []
    assert lamps_at(cursor, NOON) == [("a", 40), ("b", 25)]
    assert lamps_at(cursor, NOON + MINUTE - TICK) == [("a", 40), ("b", 25)]
    assert lamps_at(cursor, NOON + MINUTE) == [("a", 60)]
    assert lamps_at(cursor, NOON + 3 * MINUTE) == [("a", 60), ("b", 5)]


def test_past_without_a_moment_fails(cursor: Cursor) -> None:
    # Of a connection that has never had a moment, and of one that had.
    errors = (psycopg.errors.UndefinedObject, psycopg.errors.InvalidDatetimeFormat)
    with pytest.raises(errors), transaction.atomic():
        cursor.execute("SELECT * FROM past.shop_lamp")


def test_change_of_a_table_is_followed_by_its_closed_versions_and_their_view(
    cursor: Cursor,
) -> None:
    put(cursor, ("hall", "a", 40, True))
    put(cursor, ("hall", "a", 60, True), now=NOON + MINUTE)
    nothing: Any = None

    with connection.schema_editor() as editor:
        for_each(
            change_versions(
                "shop_lamp",
                RunSQL("ALTER TABLE shop_lamp ADD COLUMN colour text NOT NULL DEFAULT 'white'"),
            ),
            lambda each: each.database_forwards("shop", editor, nothing, nothing),
        )

    cursor.execute("SELECT set_config('dradash.at', %s, true)", (NOON.isoformat(),))
    cursor.execute("SELECT name, colour FROM past.shop_lamp")
    assert cursor.fetchall() == [("a", None)]
    cursor.execute("SELECT set_config('dradash.at', %s, true)", ((NOON + MINUTE).isoformat(),))
    cursor.execute("SELECT name, colour FROM past.shop_lamp")
    assert cursor.fetchall() == [("a", "white")]
