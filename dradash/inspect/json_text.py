"""JSON as files hold it: values one after the other, and lists item by item.

Lists are never held whole, so that memory follows the largest item, each item has a line of its own, and what stands before a break
is not lost with it.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from dradash.inspect.reading import NO_TEXT, TOO_DEEP, Broken, Found, Value, list_head, with_kind

_BLANKS = re.compile(r"[ \t\r\n]*")
_BETWEEN_VALUES = re.compile(r"[\s,\x1e\ufeff]*")
_NO_TEXT = re.compile("[\udc80-\udcff]")
_NEXT_VALUE = re.compile(r"^[{\[]", re.MULTILINE)


class _JsonError(Exception):
    """Text that is no JSON, and the position up to which it was read."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def _finite(text: str) -> float | str:
    """A number too large for a float stays the text that it was, so that what is printed is JSON again."""
    value = float(text)
    return value if math.isfinite(value) else text


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON value")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def read_json(text: str) -> Iterator[Found]:
    """Every value of a text, the items of lists one by one."""
    reader = _Reader(text)
    while reader.skip(_BETWEEN_VALUES):
        yield from reader.value()


class _Reader:
    """A position in a text, which only moves forwards."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._has_bad_bytes = not text.isascii() and _NO_TEXT.search(text) is not None
        # Behind what is read for good: after a break, the next value is looked for from here.
        self._settled = 0
        self._end = len(text.rstrip())
        self._line = 1
        self._counted = 0

    def skip(self, pattern: re.Pattern[str] = _BLANKS) -> str:
        """Pass over what separates; the character that comes then, empty at the end."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return self.text[self.position : self.position + 1]

    def value(self) -> Iterator[Found]:
        """The value that begins here. After a break, reading goes on at the next one that begins a line."""
        line = self._line_of(self.position)
        self._settled = self.position + 1
        try:
            yield from self._value(line)
        except _JsonError as error:
            yield Broken(f"is no JSON: {error}", self._line_of(error.position))
        except RecursionError:
            yield Broken(TOO_DEEP, line)
        else:
            return
        self._go_to(_NEXT_VALUE)

    def _value(self, line: int) -> Iterator[Found]:
        begins_with = self.text[self.position]
        if begins_with == "{":
            yield from self._object(line)
        elif begins_with == "[":
            yield from self._items()
        else:
            yield Value(self._decode(), line)

    def _object(self, line: int) -> Iterator[Found]:
        """An object; or if it is a list its items, and then its head."""
        members: dict[str, Any] = {}
        waiting: list[Value] = []
        is_list = False
        for name in self._names():
            if name != "items" or self.skip() != "[" or not _may_be_list(members):
                members[name] = self._decode()
                continue
            is_list = True
            for item in self._items():
                if isinstance(item, Value) and "kind" not in members and _has_no_kind(item.value):
                    # The list tells its kind behind its items.
                    waiting.append(item)
                else:
                    yield _told(item, members)
        for item in waiting:
            yield _told(item, members)
        yield list_head(members, line) if is_list else Value(members, line)

    def _names(self) -> Iterator[str]:
        """The names of an object's members; the caller reads each member before it asks for the next."""
        self.position += 1
        if self.skip() == "}":
            self.position += 1
            return
        while True:
            if self.skip() != '"':
                raise _JsonError("a name in double quotes should stand here", self.position)
            name = self._decode()
            if self.skip() != ":":
                raise _JsonError("a colon should stand here", self.position)
            self.position += 1
            self.skip()
            yield name
            if self._ends("}"):
                return

    def _ends(self, closing: str) -> bool:
        """Whether the object or list ends here; if not, pass over the comma."""
        found = self.skip()
        if found not in (closing, ","):
            raise _JsonError(f"a comma or {closing} should stand here", self.position)
        self.position += 1
        self.skip()
        return found == closing

    def _items(self) -> Iterator[Value | Broken]:
        self.position += 1
        if self.skip() == "]":
            self.position += 1
            return
        while True:
            start = self.position
            line = self._line_of(start)
            try:
                item = Value(self._decode(), line)
            except (_JsonError, RecursionError) as error:
                self._settled = start + 1
                following = self._same_column(start)
                if following is None:
                    raise
                yield self._broken(error, line)
                self._go_to(following)
                continue
            self._settled = self.position
            yield item
            if self._ends("]"):
                return

    def _broken(self, error: _JsonError | RecursionError, line: int) -> Broken:
        if isinstance(error, _JsonError):
            return Broken(f"is no JSON: {error}", self._line_of(error.position))
        return Broken(TOO_DEEP, line)

    def _same_column(self, start: int) -> re.Pattern[str] | None:
        """Where, in indented JSON, the next item begins: in the column of the broken one. None if there is none."""
        margin = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        if margin.strip(" \t"):
            return None
        pattern = re.compile(rf"(?<=\n{margin}){{", re.MULTILINE)
        return pattern if margin and pattern.search(self.text, start + 1) else None

    def _decode(self) -> Any:
        start = self.position
        try:
            value, self.position = _DECODER.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            raise _JsonError(error.msg, error.pos) from None
        except ValueError as error:
            # A constant that JSON does not have, or a whole number of thousands of digits.
            raise _JsonError(str(error).partition(";")[0], start) from None
        if self._has_bad_bytes:
            bad = _NO_TEXT.search(self.text, start, self.position)
            if bad:
                self.position = start
                raise _JsonError(NO_TEXT, bad.start())
        return value

    def _go_to(self, pattern: re.Pattern[str]) -> None:
        """Go on behind a break."""
        match = pattern.search(self.text, self._settled)
        self.position = match.start() if match else len(self.text)

    def _line_of(self, position: int) -> int:
        # What breaks off does so where its text ends, not behind the blank lines that follow.
        position = min(position, self._end)
        if position < self._counted:
            return self.text.count("\n", 0, position) + 1
        self._line += self.text.count("\n", self._counted, position)
        self._counted = position
        return self._line


def _may_be_list(members: dict[str, Any]) -> bool:
    """Other kinds may have a member of that name; a list mostly says its kind first, kubectl's behind its items."""
    return str(members.get("kind", "List")).endswith("List")


def _has_no_kind(item: Any) -> bool:
    return isinstance(item, dict) and "kind" not in item


def _told(item: Value | Broken, members: dict[str, Any]) -> Value | Broken:
    """An item of a list that names its items' kind, with kind and version."""
    if isinstance(item, Broken) or not _has_no_kind(item.value):
        return item
    return Value(with_kind(item.value, members), item.line)
