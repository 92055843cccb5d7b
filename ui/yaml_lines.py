"""YAML text cut into numbered lines and tokens, so that a template can show it in colours without a script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

TokenKind = Literal["key", "text", "number", "constant", "comment", "mark", ""]

_LINE: Final = re.compile(
    r"(?P<indent>\s*(?:- )*)(?:(?P<key>\"[^\"]*\"|'[^']*'|[^\s#'\"][^#]*?)(?P<colon>:)(?=\s|$))?(?P<rest>.*)"
)
_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_CONSTANTS: Final = frozenset({"true", "false", "null", "~", "{}", "[]"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line; `kind` is empty for white space."""

    kind: TokenKind
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line; its number is the target of `#L12`."""

    number: int
    tokens: tuple[Token, ...]


def yaml_lines(text: str) -> tuple[Line, ...]:
    """All lines of a document. The tokens of a line, joined, are the line: nothing is added or lost."""
    return tuple(
        Line(number, tuple(token for token in _tokens(line) if token.text))
        for number, line in enumerate(text.splitlines(), start=1)
    )


def _tokens(line: str) -> Iterator[Token]:
    if line.lstrip().startswith("#"):
        yield Token("comment", line)
        return
    match = _LINE.fullmatch(line)
    if match is None:
        yield Token("text", line)
        return
    yield Token("mark" if "-" in match["indent"] else "", match["indent"])
    yield Token("key", match["key"] or "")
    yield Token("mark", match["colon"] or "")
    rest = match["rest"]
    value = rest.lstrip(" ")
    yield Token("", rest[: len(rest) - len(value)])
    yield Token(_kind(value.strip()), value)


def _kind(value: str) -> TokenKind:
    if value in _CONSTANTS:
        return "constant"
    if value in {"|", "|-", ">", ">-", "-"}:
        return "mark"
    return "number" if _NUMBER.fullmatch(value) else "text"
