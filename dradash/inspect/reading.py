"""What reading one file can give: an object with its place, or a sentence about what could not be read, and where."""

from dataclasses import dataclass
from typing import Any

NO_TEXT = "not UTF-8 text"
TOO_DEEP = "is nested too deeply to be a Kubernetes object"


@dataclass(frozen=True, slots=True)
class Document:
    """One object, and where it stands: `file:line`."""

    body: dict[str, Any]
    place: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that could not be read, where, and why."""

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it stands in a file, and its line."""

    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class Broken:
    """Text of a file that is neither JSON nor YAML, and its line."""

    message: str
    line: int


@dataclass(frozen=True, slots=True)
class ListHead:
    """There was a list of this kind: when it has no item, none of the kind is there. Empty when it does not say."""

    kind: str
    line: int


Found = Value | Broken | ListHead


def list_head(members: dict[str, Any], line: int) -> ListHead:
    """What the members of a list, without its items, tell."""
    return ListHead(_kind_of_items(members), line)


def with_kind(item: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """An item that leaves out kind and version, as a list of one kind allows."""
    kind = _kind_of_items(members)
    if not kind:
        return item
    return {"kind": kind, "apiVersion": members.get("apiVersion"), **item}


def _kind_of_items(members: dict[str, Any]) -> str:
    kind = members.get("kind")
    return kind.removesuffix("List") if isinstance(kind, str) else ""
