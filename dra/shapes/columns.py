"""A shape as a table: a column for each member, and for each member of a shape inside it.

A list is one cell, and problems are their codes. Links, and what another member says too, have no column (`extra={"csv": False}`), so
that the header stays as it is while such members come.
"""

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from msgspec import Struct, inspect

from dra.shapes.parts import Problem

Read = Callable[[Any], Any]
# Header, and how the cell is found in a row.
Columns = Mapping[str, Read]


def columns(shape: type[Struct]) -> Columns:
    """Every column of a shape, in the order of its members."""
    return dict(_columns(shape))


def _columns(shape: type[Struct]) -> Iterator[tuple[str, Read]]:
    for member in inspect.type_info(shape).fields:  # type: ignore[attr-defined]  # of a Struct it is a StructType
        if not _has_column(member.type):
            continue
        read = attrgetter(member.name)
        inner = _inner_shape(member.type)
        if inner is None:
            yield member.encode_name, _codes(read) if _holds_problems(member.type) else read
            continue
        for name, read_inner in _columns(inner):
            yield f"{member.encode_name}_{name}", _within(read, read_inner)


def _has_column(kind: inspect.Type) -> bool:
    extra = kind.extra if isinstance(kind, inspect.Metadata) else None
    return bool((extra or {}).get("csv", True))


def _inner_shape(kind: inspect.Type) -> type[Struct] | None:
    """The shape that a member has, be it null at times."""
    bare = _bare(kind)
    options = bare.types if isinstance(bare, inspect.UnionType) else (bare,)
    return next((each.cls for each in options if isinstance(each, inspect.StructType)), None)


def _holds_problems(kind: inspect.Type) -> bool:
    bare = _bare(kind)
    item = bare.item_type if isinstance(bare, inspect.ListType) else None
    return isinstance(item, inspect.StructType) and item.cls is Problem


def _bare(kind: inspect.Type) -> inspect.Type:
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _codes(read: Read) -> Read:
    return lambda row: " ".join(problem.code for problem in read(row))


def _within(read: Read, read_inner: Read) -> Read:
    def read_both(row: Any) -> Any:
        inner = read(row)
        return None if inner is None else read_inner(inner)

    return read_both
