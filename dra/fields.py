"""Typed access to JSON that may be anything: what does not fit is left out, and becomes a problem that names its place."""

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, Final

from dra.quantity import Quantity, parse_quantity
from dra.values import Problem

_NOTHING: Mapping[str, Any] = {}
_SHOWN_TEXT: Final = 40


class Fields:
    """One JSON object. A member that is missing or null is simply absent; one of a wrong type is absent with a problem."""

    __slots__ = ("is_readable", "path", "problems", "raw")

    def __init__(self, raw: Any, *, path: str, problems: list[Problem]) -> None:
        """Read `raw`; problems are appended to the given list, with `path` in front."""
        self.path = path
        self.problems = problems
        self.raw: Mapping[str, Any] = raw if isinstance(raw, dict) else _NOTHING
        self.is_readable = raw is None or isinstance(raw, dict)
        if not self.is_readable:
            self.complain(path, expected="object", found=raw)

    def complain(self, place: str, *, expected: str, found: Any) -> None:
        """Note that something at `place` could not be read; `expected` is a choice of the problem `unreadable_field`."""
        kind, text = _kind_of(found)
        problem = Problem.of(
            "unreadable_field", field=place, expected=expected, found=kind, text=text
        )
        self.problems.append(problem)

    def _place(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str) -> str | None:
        """A string, or None."""
        value = self.raw.get(name)
        if value is None or isinstance(value, str):
            return value
        self.complain(self._place(name), expected="text", found=value)
        return None

    def integer(self, name: str) -> int | None:
        """A whole number that fits 64 bits, or None."""
        value = self.raw.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
            return value
        self.complain(self._place(name), expected="integer", found=value)
        return None

    def flag(self, name: str) -> bool:
        """A boolean; False when absent."""
        value = self.raw.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.complain(self._place(name), expected="boolean", found=value)
        return False

    def known_flag(self, name: str) -> bool | None:
        """A boolean; False when absent, None when it, or the object that it stands in, cannot be read."""
        before = len(self.problems)
        flag = self.flag(name)
        return flag if self.is_readable and len(self.problems) == before else None

    def quantity(self, name: str) -> Quantity | None:
        """A quantity, or None."""
        value = self.raw.get(name)
        if value is None:
            return None
        quantity = parse_quantity(value)
        if quantity is None:
            self.complain(self._place(name), expected="quantity", found=value)
        return quantity

    def has(self, name: str) -> bool:
        """Whether the member is there and not null."""
        return self.raw.get(name) is not None

    def child(self, name: str) -> "Fields":
        """The object of that name; an empty one when absent."""
        return Fields(self.raw.get(name), path=self._place(name), problems=self.problems)

    def children(self, name: str) -> Iterator["Fields"]:
        """The objects of a list. An absent list and `null`, which API servers do send, are empty."""
        return (item for item in self.slots(name) if item is not None)

    def slots(self, name: str) -> Iterator["Fields | None"]:
        """As `children`, with None in the place of each that is no object, and one None for a list that is none."""
        is_list = isinstance(self.raw.get(name), list | NoneType)
        if not (self.is_readable and is_list):
            yield None
        place = self._place(name)
        for index, item in enumerate(self._items(name)):
            if isinstance(item, dict):
                yield Fields(item, path=f"{place}[{index}]", problems=self.problems)
            else:
                self.complain(f"{place}[{index}]", expected="object", found=item)
                yield None

    def members(self, name: str) -> Iterator[tuple[str, Any]]:
        """The members of an object, as they are."""
        value = self.raw.get(name)
        if value is None:
            return
        if not isinstance(value, dict):
            self.complain(self._place(name), expected="object", found=value)
            return
        for key, item in value.items():
            if isinstance(key, str):
                yield key, item
            else:
                self.complain(f"{self._place(name)}.<key>", expected="text", found=key)

    def texts(self, name: str) -> tuple[str, ...]:
        """The strings of a list."""
        texts = []
        for index, item in enumerate(self._items(name)):
            if isinstance(item, str):
                texts.append(item)
            else:
                self.complain(f"{self._place(name)}[{index}]", expected="text", found=item)
        return tuple(texts)

    def quantities(self, name: str) -> tuple[Quantity, ...]:
        """The quantities of a list."""
        quantities = []
        for index, item in enumerate(self._items(name)):
            quantity = parse_quantity(item)
            if quantity is None:
                self.complain(f"{self._place(name)}[{index}]", expected="quantity", found=item)
            else:
                quantities.append(quantity)
        return tuple(quantities)

    def _items(self, name: str) -> list[Any]:
        value = self.raw.get(name)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self.complain(self._place(name), expected="list", found=value)
        return []


def _kind_of(found: Any) -> tuple[str, str | None]:
    """What a value is, whatever it is; of a text also how it begins."""
    if found is None:
        return "null", None
    if isinstance(found, bool):
        return ("true" if found else "false"), None
    if isinstance(found, int | float):
        return "number", None
    if isinstance(found, str):
        return "text", found[:_SHOWN_TEXT]
    return ("list" if isinstance(found, list) else "object"), None
