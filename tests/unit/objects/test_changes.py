from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from objects.services import changes
from objects.services.changes import Consumer, RowChanges
from objects.services.versions import Row, RowChange, RowName, VersionedTable

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)
CUPS = VersionedTable("cups", key={"name": "text"}, values={"size": "int4"})
SEATS = VersionedTable("seats", key={"number": "int8"}, values={"guest": "text"}, has_id=False)


class Kept:
    """A consumer that keeps what it was given, and what it was told to write."""

    def __init__(self, table: VersionedTable, rows: list[Any]) -> None:
        self.given: list[RowChange] = []
        self.written: list[Any] = []
        self.rows = rows
        self.consumer = Consumer(
            table.name, (table,), f"{table.name} page", self.make_rows, self.write_rows
        )

    def make_rows(self, found: Any) -> list[Any]:
        self.given += found
        return self.rows

    def write_rows(self, cursor: Any, cluster_id: int, rows: Any) -> None:
        self.written.append((cluster_id, rows))


def change(
    table: VersionedTable,
    key: Any,
    before: Row | None,
    after: Row | None,
    *,
    id: int | None = None,
    at: datetime = NOON,
) -> RowChange:
    return RowChange(RowName(table.name, 7, (key,), id), at, before, after)


def hand_over(*found: RowChange, to: Kept) -> set[str]:
    gathered = RowChanges(7, consumers=[to.consumer])
    for each in found:
        gathered.add([each])
    return gathered.hand_over(cast("Any", None))


def test_consumer_gets_the_changes_of_its_tables_and_writes_its_rows() -> None:
    kept = Kept(CUPS, ["a row"])
    cup = change(CUPS, "blue", None, {"size": 1}, id=1)

    subjects = hand_over(cup, change(SEATS, 1, None, {"guest": "Ada"}), to=kept)

    assert (kept.given, kept.written) == ([cup], [(7, ["a row"])])
    assert subjects == {"cups page"}


def test_consumer_that_makes_no_rows_writes_nothing_and_touches_no_subject() -> None:
    kept = Kept(CUPS, [])

    subjects = hand_over(change(CUPS, "blue", None, {"size": 1}, id=1), to=kept)

    assert (len(kept.given), kept.written, subjects) == (1, [], set())


@pytest.mark.parametrize(
    ("table", "id"), [(CUPS, 1), (SEATS, None)], ids=["by its id", "by its key"]
)
def test_later_change_of_a_row_continues_the_earlier_one(
    table: VersionedTable, id: int | None
) -> None:
    kept = Kept(table, [])
    first = change(table, 1, {"size": 1}, {"size": 2}, id=id)

    hand_over(first, change(table, 1, {"size": 2}, None, id=id, at=LATER), to=kept)

    assert kept.given == [change(table, 1, {"size": 1}, None, id=id, at=LATER)]


def test_row_that_came_and_went_is_no_change() -> None:
    kept = Kept(CUPS, [])
    came = change(CUPS, "blue", None, {"size": 1}, id=1)

    hand_over(came, change(CUPS, "blue", {"size": 1}, None, id=1, at=LATER), to=kept)

    assert kept.given == []


def test_row_that_is_again_what_it_was_is_no_change() -> None:
    kept = Kept(CUPS, [])
    grew = change(CUPS, "blue", {"size": 1, "since": NOON}, {"size": 2, "since": LATER}, id=1)
    shrank = change(CUPS, "blue", {"size": 2, "since": LATER}, {"size": 1, "since": LATER}, id=1)

    hand_over(grew, shrank, to=kept)

    assert kept.given == []


def test_wants_only_tables_of_consumers() -> None:
    gathered = RowChanges(7, consumers=[Kept(CUPS, []).consumer])

    assert (gathered.wants(CUPS), gathered.wants(SEATS)) == (True, False)


def test_consumer_of_a_name_that_is_taken_is_refused() -> None:
    cups = Kept(CUPS, []).consumer

    with pytest.raises(ValueError, match="of cups, cups, some name is taken"):
        changes.register(cups, cups)
