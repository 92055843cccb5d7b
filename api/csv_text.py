"""Rows as CSV, a few at a time: what is not known is an empty cell, and no cell is a formula."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from dra.shapes import Columns

# As the OpenAPI document has it.
CSV = {
    "type": "string",
    "description": "A header and a line per row. What is not known is an empty cell.",
}
ROWS_PER_CHUNK = 500
# What a spreadsheet would take for a formula; attributes and names are whatever a driver wrote.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_chunks(rows: Iterable[Any], columns: Columns) -> Iterator[bytes]:
    """The header and then the rows, in pieces of bounded size."""
    rest = iter(rows)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    while True:
        chunk = list(islice(rest, ROWS_PER_CHUNK))
        writer.writerows([cell(read(row)) for read in columns.values()] for row in chunk)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
        if len(chunk) < ROWS_PER_CHUNK:
            return


def cell(value: Any) -> str | int | float:
    """One cell. Lists and objects are JSON; text that would begin a formula gets an apostrophe."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case str():
            return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
        case _:
            return msgspec.json.encode(value).decode()
