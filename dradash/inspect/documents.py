"""From the bytes of one file to Kubernetes objects, each with the line where it begins."""

from collections.abc import Iterator
from typing import Any

from dradash.inspect.json_text import read_json
from dradash.inspect.reading import (
    Broken,
    Document,
    Found,
    ListHead,
    Unreadable,
    Value,
    list_head,
    with_kind,
)
from dradash.inspect.yaml_text import read_yaml

__all__ = ["Document", "ListHead", "Unreadable", "read_text"]


def read_text(raw: bytes, *, name: str) -> Iterator[Document | Unreadable | ListHead]:
    """Every object in the content of one file; lists are opened up."""
    for found in _read(_decoded(raw), name):
        yield from _opened(found, name=name)


def _decoded(raw: bytes) -> str:
    """UTF-8, or UTF-16 where a byte order mark says so, as `kubectl … > file` in PowerShell writes.

    Bytes that are no text are kept as lone surrogates, so that they cost only the document they stand in.
    """
    is_wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return (
        raw.decode("utf-16", "replace") if is_wide else raw.decode("utf-8-sig", "surrogateescape")
    )


def _read(text: str, name: str) -> Iterator[Found]:
    """JSON where the text begins like it, else YAML; YAML's flow style begins like JSON too."""
    if text.lstrip()[:1] not in {"{", "["}:
        yield from read_yaml(text)
        return
    found = read_json(text)
    first = next(found, None)
    if isinstance(first, Broken) and not name.endswith("json"):
        yield from read_yaml(text)
    elif first is not None:
        yield first
        yield from found


def _opened(piece: Found, *, name: str) -> Iterator[Document | Unreadable | ListHead]:
    """A document, or the items of a list within it, told their kind and version where the list leaves them out."""
    if isinstance(piece, ListHead):
        yield piece
        return
    place = f"{name}:{piece.line}"
    if isinstance(piece, Broken):
        yield Unreadable(place, piece.message)
    elif isinstance(piece.value, list):
        for item in piece.value:
            yield from _opened(Value(item, piece.line), name=name)
    elif not isinstance(piece.value, dict):
        yield Unreadable(place, f"is {_in_words(piece.value)}, not a Kubernetes object")
    elif str(piece.value.get("kind", "")).endswith("List") and "items" in piece.value:
        yield from _items(piece.value, line=piece.line, name=name)
    else:
        yield Document(piece.value, place)


def _items(
    value: dict[str, Any], *, line: int, name: str
) -> Iterator[Document | Unreadable | ListHead]:
    yield list_head(value, line)
    items = value["items"]
    if items is None:
        return
    if not isinstance(items, list):
        yield Unreadable(f"{name}:{line}", "has items that are no list")
        return
    for item in items:
        told = with_kind(item, value) if isinstance(item, dict) and "kind" not in item else item
        yield from _opened(Value(told, line), name=name)


def _in_words(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return "a number" if isinstance(value, int | float) else "text"
