"""Words for whatever has a code: the catalogue as a whole, for the edges where people read."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra.catalogue import ENGLISH, Entry, Language, Statement, entry_words
from dra.failures import FAILURES
from dra.problems import PROBLEMS
from dra.reasons import FIGURES, REASONS

CATALOGUE: Final[Mapping[str, Entry]] = {**PROBLEMS, **REASONS, **FAILURES}


def words_of(code: str, parameters: Mapping[str, Any], *, language: Language = ENGLISH) -> str:
    """The words of a code; a code of another release stands for itself."""
    entry = CATALOGUE.get(code, Entry(code, code.replace("%", "%%")))
    return entry_words(entry, parameters, language)


def statement_words(statement: Statement, *, language: Language = ENGLISH) -> str:
    """The words of a statement."""
    return words_of(statement.code, dict(statement.parameters), language=language)


def figure_words(code: str, parameters: Mapping[str, Any], *, language: Language = ENGLISH) -> str:
    """What a figure is called; the name that an earlier release stored stands for itself."""
    entry = FIGURES.get(code)
    return entry_words(entry, parameters, language) if entry else code


def reason_words(codes: Iterable[str], *, language: Language = ENGLISH) -> str:
    """Several reasons side by side."""
    return "; ".join(words_of(code, {}, language=language) for code in codes)
