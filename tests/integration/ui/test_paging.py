from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pools import queries
from pools.models import Device, Pool
from pools.queries import DeviceFilter, PoolFilter
from tests.factories import api_rows
from tests.factories.snapshots import SNAPSHOT
from ui.paging import InvalidCursor, cursor_mark, encode_cursor, keyset_page, order_columns

POOL_WORDS = [each for word in queries.POOL_ORDERS for each in (word, f"-{word}")]
DEVICE_WORDS = [each for word in queries.DEVICE_ORDERS for each in (word, f"-{word}")]


@pytest.fixture
def pools(db: None) -> list[Pool]:
    """Alike in all but one thing, so that every column of an order counts."""
    cluster, other = api_rows.cluster(), api_rows.cluster("other")
    return [
        api_rows.pool(cluster, "a"),
        api_rows.pool(other, "a"),
        api_rows.pool(cluster, "b", severity=3),
        api_rows.pool(cluster, "c", driver="other.example.com", node_name=None),
        api_rows.unknown_pool(cluster, "d"),
        api_rows.pool(cluster, "e", severity=3, node_name="a"),
    ]


def forwards(rows: Any, order: tuple[str, ...], cursor: str | None = None) -> list[list[int]]:
    page = keyset_page(rows, of="pools", order=order, cursor=cursor, size=2)
    ids = [row.id for row in page.rows]
    return [ids, *(forwards(rows, order, page.next_cursor) if page.next_cursor else [])]


def backwards(rows: Any, order: tuple[str, ...], cursor: str | None) -> list[list[int]]:
    page = keyset_page(rows, of="pools", order=order, cursor=cursor, size=2)
    ids = [row.id for row in page.rows]
    before = backwards(rows, order, page.previous_cursor) if page.previous_cursor else []
    return [*before, ids]


@pytest.mark.parametrize("word", POOL_WORDS)
def test_pages_of_pools_hold_each_once_in_order_there_and_back(
    pools: list[Pool], word: str
) -> None:
    rows, order = queries.pools(SNAPSHOT, PoolFilter()), order_columns(queries.POOL_ORDERS, word)
    whole = [row.id for row in rows.order_by(*order)]
    last = keyset_page(rows, of="pools", order=order, cursor=None, size=5).next_cursor
    wanted = [whole[:2], whole[2:4], whole[4:]]

    assert (len(whole), forwards(rows, order)) == (6, wanted)
    assert backwards(
        rows, order, keyset_page(rows, of="pools", order=order, cursor=last).previous_cursor
    ) == [
        whole[:1],
        whole[1:3],
        whole[3:5],
    ]


@pytest.mark.parametrize("word", DEVICE_WORDS)
def test_next_page_of_devices_is_found_by_comparing_whole_rows_with_an_index(
    pools: list[Pool], word: str
) -> None:
    made = [api_rows.device(pool, f"gpu-{number}") for pool in pools for number in range(2)]
    rows = queries.devices(SNAPSHOT, DeviceFilter())
    order = order_columns(queries.DEVICE_ORDERS, word)
    cursor = keyset_page(rows, of="pools", order=order, cursor=None, size=2).next_cursor

    with CaptureQueriesContext(
        connection,
    ) as captured:
        page = keyset_page(rows, of="pools", order=order, cursor=cursor, size=len(made))
    with connection.cursor() as explaining:
        explaining.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;"
            " SET LOCAL enable_sort = off"
        )
        explaining.execute("EXPLAIN (COSTS OFF) " + captured.captured_queries[0]["sql"])
        plan = "\n".join(line for (line,) in explaining.fetchall())

    assert len(page.rows) == len(made) - 2
    assert "Index Cond: (ROW(" in plan
    assert "Seq Scan" not in plan


def test_order_of_two_directions_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="both directions"):
        keyset_page(Device.objects.none(), of="devices", order=("-state", "name"), cursor=None)


@pytest.mark.parametrize(
    "values",
    [
        ["text", "driver", "name", 1],
        [0, "driver", "name", "text"],
        [0, "dri\0ver", "name", 1],
        [0, "driver", 1],
    ],
)
def test_forged_cursor_is_refused(db: None, values: list[Any]) -> None:
    rows, order = queries.pools(SNAPSHOT, PoolFilter()), queries.POOL_ORDERS["problems"]

    cursor = encode_cursor(values, is_backward=False, mark=cursor_mark("pools", order))

    with pytest.raises(InvalidCursor):
        keyset_page(rows, of="pools", order=order, cursor=cursor)


def test_forged_cursor_of_a_moment_is_refused(db: None) -> None:
    mark = cursor_mark("pools", queries.STATUS_ORDER)
    cursor = encode_cursor(["yesterday", 1], is_backward=False, mark=mark)
    rows = queries.status_requests(SNAPSHOT, queries.StatusFilter())

    with pytest.raises(InvalidCursor):
        keyset_page(rows, of="pools", order=queries.STATUS_ORDER, cursor=cursor)
