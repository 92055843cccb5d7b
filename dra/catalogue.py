"""How a code and its parameters become words, in any language. What is kept and compared is the code; nobody keeps the words.

An entry's words are a text with `%(name)s` in it, marked for Django's makemessages by the two names that it looks for.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self

Parameter = str | int | None | tuple[str | int | None, ...]
Severity = Literal["error", "warning", "info"]

NAMED_AT_MOST: Final = 5
SAID_BEFORE: Final = "said_before"
"""A parameter of rows that an earlier release stored: its sentence, which is all that is known of them."""
IN_SLICE: Final = "slice"
"""A parameter that any problem may have: the slice in which it was found."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Something to tell a person, not yet in words: a code of the catalogue and its parameters in order of name.

    Parameters are plain JSON. What a server or a driver wrote is a parameter.
    """

    code: str
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, code: str, **parameters: Parameter) -> Self:
        """Make one of named parameters."""
        return cls(code, tuple(sorted(parameters.items())))

    def in_slice(self, name: str) -> Self:
        """The same, said of one slice of a pool."""
        return replace(self, parameters=(*self.parameters, (IN_SLICE, name)))

    def __lt__(self, other: "Statement") -> bool:
        """By code; among those of one code by parameters, of any type."""
        return (self.code, str(self.parameters)) < (other.code, str(other.parameters))


@dataclass(frozen=True, slots=True)
class Text:
    """A parameter that is text; None is not known."""


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that is a whole number; None is not known."""


@dataclass(frozen=True, slots=True)
class Several:
    """A parameter that is a list. Of a long one only the first are kept, and `total` names the parameter that counts all."""

    total: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter that is one of a closed set, each with its words, which may name other parameters."""

    words: Mapping[str, str]


ParameterKind = Text | Number | Several | Choice


@dataclass(frozen=True, slots=True)
class Plural:
    """Words that depend on a number, which is the parameter `number`."""

    one: str
    many: str
    number: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What a code means. `remedy` is what to do about it; empty where there is nothing to do."""

    code: str
    words: str | Plural
    parameters: Mapping[str, ParameterKind] = field(default_factory=dict)
    severity: Severity = "info"
    remedy: str = ""


class Language(NamedTuple):
    """Where translations come from: the two functions that gettext and Django have."""

    gettext: Callable[[str], str]
    ngettext: Callable[[str, str, int], str]


ENGLISH: Final = Language(lambda text: text, lambda one, many, n: one if n == 1 else many)


def gettext_noop(text: str) -> str:
    """Mark a text for translation. It is translated when it is said."""
    return text


def ngettext_lazy(one: str, many: str, number: str) -> Plural:
    """Mark both forms of a text for translation; Django's function of that name takes the same."""
    return Plural(one, many, number)


_ = gettext_noop
_LONG_LIST: Final = _("%(names)s and %(more)s more")
_NONE: Final = _("none")
_SLICE: Final = _("slice %(slice)s: %(words)s")


def by_code(*entries: Entry) -> Mapping[str, Entry]:
    """The entries by their codes."""
    return {entry.code: entry for entry in entries}


def first_names(names: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """As many names as are worth keeping, each once and in order, and how many there are."""
    ordered = sorted(set(names))
    return tuple(ordered[:NAMED_AT_MOST]), len(ordered)


def entry_words(entry: Entry, parameters: Mapping[str, Any], language: Language = ENGLISH) -> str:
    """The words of an entry. Parameters may come from rows of another release: what is missing is a question mark."""
    if SAID_BEFORE in parameters:
        return str(parameters[SAID_BEFORE])
    named = {
        name: _parameter_words(kind, name, parameters, language)
        for name, kind in entry.parameters.items()
    }
    words = _translated(entry.words, parameters, language) % named
    if IN_SLICE in parameters and IN_SLICE not in entry.parameters:
        return language.gettext(_SLICE) % {"slice": parameters[IN_SLICE], "words": words}
    return words


def _translated(words: str | Plural, parameters: Mapping[str, Any], language: Language) -> str:
    if isinstance(words, str):
        return language.gettext(words)
    number = parameters.get(words.number)
    return language.ngettext(words.one, words.many, number if isinstance(number, int) else 0)


def _parameter_words(
    kind: ParameterKind, name: str, parameters: Mapping[str, Any], language: Language
) -> str:
    value = parameters.get(name)
    if isinstance(kind, Choice) and isinstance(value, str) and value in kind.words:
        return language.gettext(kind.words[value]) % _Given(parameters)
    if isinstance(kind, Several) and isinstance(value, list | tuple):
        return list_words(value, total=parameters.get(kind.total), language=language)
    return "?" if value is None else str(value)


class _Given(dict[str, Any]):
    """Parameters, of which one that a phrase names may be missing."""

    def __missing__(self, key: str) -> str:
        return "?"


def list_words(
    names: Iterable[str | int | None], *, total: object, language: Language = ENGLISH
) -> str:
    """A short list; `total` is how many there are, where that is more than are named."""
    shown = [language.gettext(_NONE) if name is None else str(name) for name in names]
    more = total - len(shown) if isinstance(total, int) else 0
    listed = ", ".join(shown)
    if more <= 0:
        return listed
    return language.gettext(_LONG_LIST) % {"names": listed, "more": more}
