"""Pages of a list by keyset: the last row's sort values are the cursor, so that page 1,000 costs what page 1 does."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import F, Model, QuerySet
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE_SIZE = 50
MAX_PAGE_SIZE = 1000

M = TypeVar("M", bound=Model)


class InvalidCursor(ValueError):
    """A cursor that this list did not make."""


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """Some rows of a list, and the cursors of its neighbours; None where there is none."""

    rows: list[M]
    next_cursor: str | None
    previous_cursor: str | None


def encode_cursor(values: Sequence[Any], *, is_backward: bool, mark: str) -> str:
    """Make a cursor that fits into a URL; `mark` tells which list it is of."""
    text = json.dumps([mark, is_backward, *values], separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *, length: int, mark: str) -> tuple[list[Any], bool]:
    """Read a cursor of `length` sort values that was made with the same mark; raises InvalidCursor."""
    try:
        raw = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        values = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise InvalidCursor(cursor) from error
    if not isinstance(values, list) or len(values) != length + 2 or values[0] != mark:
        raise InvalidCursor(cursor)
    _mark, is_backward, *edge = values
    if not isinstance(is_backward, bool):
        raise InvalidCursor(cursor)
    if not all(isinstance(value, (str, int, float)) for value in edge):
        raise InvalidCursor(cursor)
    return edge, is_backward


def cursor_mark(of: object, order: Sequence[str]) -> str:
    """What tells cursors of one list, with its filters and its order, from those of every other."""
    return hashlib.blake2b(repr((of, tuple(order))).encode(), digest_size=6).hexdigest()


def keyset_page(
    rows: QuerySet[M],
    *,
    of: object,
    order: Sequence[str],
    cursor: str | None,
    size: int = PAGE_SIZE,
) -> Page[M]:
    """The page that begins after `cursor`, in one query.

    `of` names the list and its filters: a cursor that another one made is refused, since its rows would begin anywhere.
    `order` names the sort columns, `-` for descending: all or none. Together they must be unique, and none may be null.
    """
    if len({column.startswith("-") for column in order}) != 1:
        raise ValueError(f"columns of both directions, which no index serves: {order}")
    mark = cursor_mark(of, order)
    values, is_backward = (
        decode_cursor(cursor, length=len(order), mark=mark) if cursor else ([], False)
    )
    direction = [_reversed(column) for column in order] if is_backward else list(order)
    try:
        if cursor:
            rows = rows.filter(_after(direction, values))
        page_rows = list(rows.order_by(*direction)[: size + 1])
    except (ValueError, TypeError, OverflowError, ValidationError, DataError) as error:
        # The values of a cursor that was forged do not fit the columns.
        if cursor is None:
            raise
        raise InvalidCursor(cursor) from error
    has_more = len(page_rows) > size
    page_rows = page_rows[:size]
    if is_backward:
        page_rows.reverse()
    return Page(
        rows=page_rows,
        next_cursor=_edge(page_rows, order, at=-1, is_backward=False, mark=mark)
        if page_rows and (has_more or is_backward)
        else None,
        previous_cursor=_edge(page_rows, order, at=0, is_backward=True, mark=mark)
        if page_rows and ((has_more and is_backward) or (cursor and not is_backward))
        else None,
    )


def _reversed(column: str) -> str:
    return column[1:] if column.startswith("-") else f"-{column}"


def _edge(rows: list[M], order: Sequence[str], *, at: int, is_backward: bool, mark: str) -> str:
    values = [getattr(rows[at], column.lstrip("-")) for column in order]
    return encode_cursor(values, is_backward=is_backward, mark=mark)


def _after(order: Sequence[str], values: Sequence[Any]) -> TupleGreaterThan | TupleLessThan:
    """Rows that stand after the values: one comparison of whole rows, which an index answers by going there."""
    comparison = TupleLessThan if order[0].startswith("-") else TupleGreaterThan
    return comparison([F(column.lstrip("-")) for column in order], list(values))


def order_columns(orders: Mapping[str, tuple[str, ...]], word: str) -> tuple[str, ...]:
    """Columns for a word such as `available` or `-available`; the minus turns all of them round."""
    columns = orders[word.removeprefix("-")]
    return tuple(map(_reversed, columns)) if word.startswith("-") else columns
