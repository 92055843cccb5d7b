"""YAML as files hold it, by the rules of YAML 1.2's core schema: `0000:03:00.0` and `12:30` stay text, as in what the API server reads.

A stream is cut into documents, and a list that kubectl printed into its items, so that a broken one costs only itself and memory
follows the largest.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from yaml._yaml import CParser
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import BaseResolver

from dradash.inspect.reading import NO_TEXT, TOO_DEEP, Broken, Found, Value, list_head, with_kind

# Aliases counted as often as they are used. The largest list that a server sends has a few million values.
MAX_NODES: Final = 50_000_000
# Python refuses to print longer ones.
_MAX_DIGITS: Final = 4000
_TAG: Final = "tag:yaml.org,2002:"

_SEPARATOR = re.compile(r"^---(?=\s|$).*$", re.MULTILINE)
_END_MARK = re.compile(r"^\.\.\.\s*$", re.MULTILINE)
_ITEMS = re.compile(r"^items:[ \t]*\n(?=- )", re.MULTILINE)
_ITEM = re.compile(r"^- ", re.MULTILINE)
# More than anchors, but each of them.
_ANCHOR = re.compile(r"(?:^|\W)&\S", re.MULTILINE)
_BEHIND_ITEMS = re.compile(r"^[^\s#-]", re.MULTILINE)


def read_yaml(text: str) -> Iterator[Found]:
    """Every value of a stream, the items of lists one by one."""
    for part, line in _documents(text):
        yield from _list_of_kubectl(part, line) or _values(part, line)


def _documents(text: str) -> Iterator[tuple[str, int]]:
    """The documents of a stream, each with its first line's number."""
    start, line = 0, 1
    for separator in _SEPARATOR.finditer(text):
        yield _END_MARK.sub("", text[start : separator.start()]), line
        line += text.count("\n", start, separator.end())
        # What follows the mark on its own line belongs to the document: `--- {kind: …}`.
        start = separator.start() + 3
    yield _END_MARK.sub("", text[start:]), line


def _list_of_kubectl(part: str, line: int) -> Iterator[Found] | None:
    """The items of a list as kubectl prints it, each read by itself; None when it is written otherwise.

    Anchors hold for a whole document, so that one with anchors is not cut.
    """
    begin = _ITEMS.search(part)
    if begin is None or _ANCHOR.search(part):
        return None
    end = _BEHIND_ITEMS.search(part, begin.end())
    until = end.start() if end else len(part)
    head = part[: begin.start()] + "\n" + part[until:]
    try:
        members = _loader(head).get_single_data()
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(members, dict) or not str(members.get("kind", "")).endswith("List"):
        return None
    return _cut_items(part[:until], begin.end(), line=line, members=members)


def _cut_items(part: str, position: int, *, line: int, members: dict[str, Any]) -> Iterator[Found]:
    starts = [match.start() for match in _ITEM.finditer(part, position)]
    at = line + part.count("\n", 0, position)
    for start, end in zip(starts, [*starts[1:], len(part)], strict=True):
        for found in _values(part[start:end], at):
            if (
                isinstance(found, Value)
                and isinstance(found.value, dict)
                and "kind" not in found.value
            ):
                yield Value(with_kind(found.value, members), found.line)
            else:
                yield found
        at += part.count("\n", start, end)
    yield list_head(members, line)


def _values(part: str, line: int) -> Iterator[Found]:
    """The value of one document, or its items if it is a list."""
    try:
        loader = _loader(part)
        node = loader.get_single_node()
        if node is not None:
            yield from _constructed(loader, node, line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield Broken(
            f"is no YAML: {error.problem or error.context}", line + (mark.line if mark else 0)
        )
    except yaml.reader.ReaderError as error:
        at = line + part.count("\n", 0, error.position)
        yield Broken(f"is no YAML: {error.reason}", at)
    except UnicodeEncodeError as error:
        # A byte that is no text stands in the text as half a character.
        yield Broken(f"is no YAML: {NO_TEXT}", line + part.count("\n", 0, error.start))
    except (yaml.YAMLError, ValueError) as error:
        yield Broken(f"is no YAML: {error}", line)
    except RecursionError:
        yield Broken(TOO_DEEP, line)


def _constructed(loader: "_PlainLoader | _Loader", node: yaml.Node, line: int) -> Iterator[Found]:
    """A sequence item by item, so that each has its line; anything else as it is."""
    if not isinstance(node, yaml.SequenceNode):
        yield Value(loader.construct_document(node), line + node.start_mark.line)
        return
    for item in node.value:
        yield Value(loader.construct_document(item), line + item.start_mark.line)


class _Constructor(SafeConstructor):
    """The values that JSON has, and no others: no dates, no bytes, no objects."""

    def json_int(self, node: Any) -> int:
        text = self._text(node)
        if len(text) > _MAX_DIGITS:
            raise ConstructorError(None, None, "a number of thousands of digits", node.start_mark)
        return int(text, 16 if "0x" in text else 10)

    def json_float(self, node: Any) -> float | str:
        """A number too large for a float stays text, so that what is printed is JSON."""
        text = self._text(node)
        value = float(text)
        return value if math.isfinite(value) else text

    def json_bool(self, node: Any) -> bool:
        return self._text(node).lower() == "true"

    def json_null(self, node: Any) -> None:
        self._text(node)

    def _text(self, node: Any) -> str:
        return str(self.construct_scalar(node))


_Constructor.yaml_constructors = {
    f"{_TAG}int": _Constructor.json_int,
    f"{_TAG}float": _Constructor.json_float,
    f"{_TAG}bool": _Constructor.json_bool,
    f"{_TAG}null": _Constructor.json_null,
    f"{_TAG}str": SafeConstructor.construct_yaml_str,
    f"{_TAG}seq": SafeConstructor.construct_yaml_seq,
    f"{_TAG}map": SafeConstructor.construct_yaml_map,
    None: SafeConstructor.construct_undefined,
}


class _Resolver(BaseResolver):
    """The scalars of YAML 1.2's core schema."""


for _name, _pattern, _firsts in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$",
        list("-+.0123456789"),
    ),
):
    _Resolver.add_implicit_resolver(_TAG + _name, re.compile(_pattern), _firsts)


def _loader(text: str) -> "_PlainLoader | _Loader":
    """Only what has anchors needs to be watched."""
    return _Loader(text) if _ANCHOR.search(text) else _PlainLoader(text)


class _PlainLoader(CParser, _Constructor, _Resolver):
    """All in C up to the values."""

    def __init__(self, stream: str) -> None:
        CParser.__init__(self, stream)
        _Constructor.__init__(self)
        _Resolver.__init__(self)


class _Loader(Composer, CParser, _Constructor, _Resolver):
    """The parser in C, with aliases only as far as a person would write them."""

    def __init__(self, stream: str) -> None:
        CParser.__init__(self, stream)
        Composer.__init__(self)
        _Constructor.__init__(self)
        _Resolver.__init__(self)
        self._sizes: dict[str, int] = {}
        self._composed = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one node; a handful of nested aliases can stand for terabytes, so what they stand for is counted."""
        event: Any = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            self._composed += self._size_of_anchor(event)
        before = self._composed
        self._composed += 1
        if self._composed > MAX_NODES:
            raise ComposerError(
                None, None, f"stands for more than {MAX_NODES} values", event.start_mark
            )
        anchor = None if isinstance(event, yaml.AliasEvent) else getattr(event, "anchor", None)
        # An anchor may be set anew, which PyYAML refuses.
        self.anchors.pop(anchor, None)
        node = super().compose_node(parent, index)
        if anchor is not None:
            self._sizes[anchor] = self._composed - before
        return node

    def _size_of_anchor(self, event: Any) -> int:
        size = self._sizes.get(event.anchor)
        if size is None:
            message = f"alias {event.anchor} stands inside itself or nowhere"
            raise ComposerError(None, None, message, event.start_mark)
        return size
