from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import InternalError, ProgrammingError, connection
from psycopg import sql

from clusters.models import Cluster
from pools.models import DirtyPool
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.factories.snapshots import SNAPSHOT
from ui.snapshot import Snapshot, Viewer, open_snapshot

ADA = Viewer(1, "viewer")


@pytest.fixture
def second(transactional_db: None) -> Any:
    """Another connection to the same database, which commits at once."""
    parameters = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}
    with psycopg.connect(**parameters, autocommit=True) as made:
        yield made


def names() -> list[str]:
    return list(Cluster.objects.order_by("name").values_list("name", flat=True))


def rename(second: Any, old: str, new: str) -> None:
    statement = sql.SQL("UPDATE clusters_cluster SET name = %s WHERE name = %s")
    second.execute(statement, (new, old))


def test_snapshot_sees_nothing_of_what_is_written_meanwhile(second: Any) -> None:
    api_rows.cluster("before")

    with open_snapshot(ADA, now=NOON) as snapshot:
        first = names()
        rename(second, "before", "after")
        later = names()

    assert (snapshot, first, later, names()) == (
        Snapshot(ADA, NOON),
        ["before"],
        ["before"],
        ["after"],
    )


@pytest.mark.django_db(transaction=True)
def test_snapshot_refuses_to_write() -> None:
    made = api_rows.cluster()

    with pytest.raises(InternalError, match="read-only"), open_snapshot(ADA, now=NOON):
        made.delete()

    assert names() == ["prod"]


@pytest.mark.django_db
def test_snapshot_within_a_transaction_refuses_to_write_and_lets_it_go_on() -> None:
    with pytest.raises(InternalError, match="read-only"), open_snapshot(ADA, now=NOON):
        api_rows.cluster("inside")

    api_rows.cluster("afterwards")
    assert names() == ["afterwards"]


@pytest.mark.django_db(transaction=True)
def test_snapshot_of_a_moment_reads_the_rows_of_the_past() -> None:
    api_rows.cluster("old", created_at=NOON - timedelta(days=2))
    api_rows.cluster("new", created_at=NOON)
    yesterday = NOON - timedelta(days=1)

    with open_snapshot(ADA, now=NOON, at=yesterday) as snapshot:
        found = names()

    assert (found, snapshot.moment, names()) == (["old"], yesterday, ["new", "old"])


@pytest.mark.django_db(transaction=True)
def test_snapshot_of_a_moment_finds_no_table_that_keeps_no_past() -> None:
    with (
        pytest.raises(ProgrammingError, match='relation "pools_dirtypool" does not exist'),
        open_snapshot(ADA, now=NOON, at=NOON),
    ):
        DirtyPool.objects.count()

    assert DirtyPool.objects.count() == 0


def test_moment_of_a_snapshot_without_one_is_when_it_is_read() -> None:
    assert SNAPSHOT.moment == SNAPSHOT.now
