"""From the bytes of one file to Kubernetes objects, each with the line where it begins.

Files are cut into documents first, so that a broken one costs only itself. YAML is read by the rules of YAML 1.2's core schema:
`0000:03:00.0` and `12:30` stay text, as in what the API server reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

# PyYAML and json recurse; what nests deeper is no Kubernetes object.
# Aliases counted as often as they are used. The largest list that a server sends has a few million values.
MAX_NODES = 50_000_000
_TOO_DEEP = "is nested too deeply to be a Kubernetes object"
_SEPARATOR = re.compile(r"^---(?=\s|$).*$", re.MULTILINE)
_END_MARK = re.compile(r"^\.\.\.\s*$", re.MULTILINE)


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


def read_text(raw: bytes, *, name: str) -> Iterator[Document | Unreadable]:
    """Every object in the content of one file; lists are opened up."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        yield Unreadable(f"{name}:{line}", "is not UTF-8 text")
        return
    for found in _read(text, name):
        if isinstance(found, Unreadable):
            yield found
        else:
            yield from _opened(found[0], place=f"{name}:{found[1]}")


_Found = tuple[Any, int] | Unreadable


def _read(text: str, name: str) -> Iterator[_Found]:
    """JSON where the text begins like it, else YAML; YAML's flow style begins like JSON too."""
    if text.lstrip()[:1] not in {"{", "["}:
        return _read_yaml(text, name)
    found = list(_read_json(text, name))
    if found and isinstance(found[0], Unreadable) and not name.endswith("json"):
        return _read_yaml(text, name)
    return iter(found)


def _read_json(text: str, name: str) -> Iterator[_Found]:
    """JSON values one after the other, as several `kubectl` runs append them to a file."""
    decoder = json.JSONDecoder()
    position = _skip_blanks(text, 0)
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            yield Unreadable(f"{name}:{error.lineno}", f"is no JSON: {error.msg}")
            position = _next_value(text, position + 1)
        except RecursionError:
            yield Unreadable(f"{name}:{line}", _TOO_DEEP)
            return
        else:
            yield value, line
        position = _skip_blanks(text, position)


def _skip_blanks(text: str, position: int) -> int:
    match = re.compile(r"[\s,]*").match(text, position)
    return match.end() if match else position


def _next_value(text: str, position: int) -> int:
    """Where the next object at the beginning of a line starts; the end if there is none."""
    match = re.compile(r"^\{", re.MULTILINE).search(text, position)
    return match.start() if match else len(text)


def _read_yaml(text: str, name: str) -> Iterator[_Found]:
    for part, line in _yaml_parts(text):
        try:
            value = yaml.load(part, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = line + (mark.line if mark else 0)
            yield Unreadable(f"{name}:{at}", f"is no YAML: {error.problem or error.context}")
        except (yaml.YAMLError, ValueError) as error:
            yield Unreadable(f"{name}:{line}", f"is no YAML: {error}")
        except RecursionError:
            yield Unreadable(f"{name}:{line}", _TOO_DEEP)
        else:
            if value is not None:
                yield value, line + _blank_lines(part)


def _yaml_parts(text: str) -> Iterator[tuple[str, int]]:
    """The documents of a YAML stream, each with its first line's number."""
    start, line = 0, 1
    for separator in _SEPARATOR.finditer(text):
        yield _END_MARK.sub("", text[start : separator.start()]), line
        line += text.count("\n", start, separator.end())
        # What follows the mark on its own line belongs to the document: `--- {kind: …}`.
        start = separator.start() + 3
    yield _END_MARK.sub("", text[start:]), line


def _blank_lines(part: str) -> int:
    """Lines before the first that says something."""
    count = 0
    for each in part.splitlines():
        if each.strip() and not each.lstrip().startswith("#"):
            break
        count += 1
    return count


def _opened(value: Any, *, place: str) -> Iterator[Document | Unreadable]:
    """A document, or the items of a list, told their kind and version where the list leaves them out."""
    if isinstance(value, list):
        for item in value:
            yield from _opened(item, place=place)
    elif not isinstance(value, dict):
        yield Unreadable(place, f"is a {type(value).__name__}, not a Kubernetes object")
    elif str(value.get("kind", "")).endswith("List") and "items" in value:
        yield from _items(value, place=place)
    else:
        yield Document(value, place)


def _items(value: dict[str, Any], *, place: str) -> Iterator[Document | Unreadable]:
    kind = str(value["kind"]).removesuffix("List")
    # The list itself is told as well: an empty one says that there is none of its kind.
    yield Document({"kind": value["kind"], "apiVersion": value.get("apiVersion")}, place)
    items = value["items"] or []
    if not isinstance(items, list):
        yield Unreadable(place, "has items that are no list")
        return
    for item in items:
        if isinstance(item, dict) and kind and "kind" not in item:
            yield Document({"kind": kind, "apiVersion": value.get("apiVersion"), **item}, place)
        else:
            yield from _opened(item, place=place)


class _Loader(yaml.SafeLoader):
    """PyYAML with the scalars of YAML 1.2's core schema, and aliases only as far as a person would write them."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._sizes: dict[str, int] = {}
        self._composed = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        # A handful of nested aliases can stand for terabytes, so what they stand for is counted.
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            self._composed += self._size_of_anchor(event)
        before = self._composed
        self._composed += 1
        if self._composed > MAX_NODES:
            raise yaml.composer.ComposerError(
                None, None, f"stands for more than {MAX_NODES} values", event.start_mark
            )
        node = super().compose_node(parent, index)
        anchor = getattr(event, "anchor", None)
        if anchor is not None and not isinstance(event, yaml.AliasEvent):
            self._sizes[anchor] = self._composed - before
        return node

    def _size_of_anchor(self, event: Any) -> int:
        size = self._sizes.get(event.anchor)
        if size is None:
            raise yaml.composer.ComposerError(
                None,
                None,
                f"alias {event.anchor} stands inside itself or nowhere",
                event.start_mark,
            )
        return size


_Loader.yaml_implicit_resolvers = {}
_CORE_SCALARS = (
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    (
        "tag:yaml.org,2002:int",
        r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$",
        list("-+0123456789"),
    ),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$",
        list("-+.0123456789"),
    ),
)
for _tag, _pattern, _firsts in _CORE_SCALARS:
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), _firsts)
