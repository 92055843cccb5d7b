"""The text of a filter box as terms: what a chip shows of each, and the text without one of them.

What a term means is for the list it filters; here it is only cut out and put back, by the quoting rules of a shell.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_TERM: Final = re.compile(
    r"(?P<key>[^:<>=!\s]+)(?P<sign>:|>=|<=|!=|=|>|<)(?P<value>.+)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Term:
    """One filter as typed, and cut for a chip; `key` is empty for a plain word."""

    text: str
    key: str
    value: str


def split_texts(text: str) -> list[str]:
    """Terms of a filter box as text; quotes hold blanks together, and a lone quote is an ordinary character."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def split_terms(text: str) -> tuple[Term, ...]:
    """The same terms, cut for chips."""
    return tuple(_term(part) for part in split_texts(text))


def join_terms(terms: Iterable[Term]) -> str:
    """One text that splits into the same terms."""
    return " ".join(_quoted(term.text) for term in terms)


def _term(text: str) -> Term:
    match = _TERM.fullmatch(text)
    if match is None:
        return Term(text, "", text)
    sign = "" if match["sign"] == ":" else f"{match['sign']} "
    return Term(text, match["key"], f"{sign}{match['value']}")


def _quoted(text: str) -> str:
    # shlex.quote would also quote `memory>=40Gi`, which people type and read bare.
    is_plain = text and not re.search(r"[\s\"'\\]", text)
    return text if is_plain else shlex.quote(text)
