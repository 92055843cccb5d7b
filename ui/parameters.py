"""What a list can be asked for, said once: each parameter's name, type and meaning, and what is said of a value it does not take.

Pages, the filter box, the API, its OpenAPI document and `docs/filters.md` read the same declarations. Nothing here asks the
database: a parameter whose values are those that the data has brings its own question (`offered`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django.utils.functional import Promise

    from ui.snapshot import Snapshot

# Lists of values by parameter, as a QueryDict has them.
Params = Mapping[str, Sequence[str]]
# Called with a sentence for each value that cannot be used: what to write instead.
Refuse = Callable[[str], None]

TRUE = ("true", "yes", "1", "on")
FALSE = ("false", "no", "0", "off")
# Values that a refusal names; what is longer nobody reads to its end.
MOST_NAMED = 12
# Not restricted, where something else is the default.
ANY = "any"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value that cannot be a filter: which parameter, and what to write instead."""

    param: str
    message: str
    # All values that there are, where they are a closed set; the message names some of a long one.
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What all parameters have. `field` is the member of the filter value that it fills."""

    name: str
    field: str
    # In a chip and at its select.
    label: Promise | str
    # A sentence for the API, the reference of filters and the refusal of others.
    meaning: Promise | str
    example: str = ""
    # The words of "not restricted"; with them the parameter is a select of the filter form.
    any_label: Promise | str = ""

    is_several: ClassVar[bool] = True
    # How several values go together: one of them must hold, or all.
    is_all: ClassVar[bool] = False

    def read(self, texts: Sequence[str], refuse: Refuse) -> Any:
        """The value for the filter."""
        raise NotImplementedError

    def words(self) -> Mapping[str, Promise | str]:
        """Values that the select always offers, with their words."""
        return {}

    @property
    def closed_set(self) -> tuple[str, ...]:
        """All values that it takes, where they are known beforehand."""
        return ()

    def label_of(self, value: str) -> Promise | str:
        """The words of one value; a name is its own."""
        return self.words().get(value, value)

    def takes(self, value: str) -> bool:
        """Whether the value is worth offering; a closed set refuses others."""
        del value
        return True

    @property
    def uncounted(self) -> Sequence[str]:
        """Values that are no value of rows, such as "any"."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Parameter):
    """Names; one of several must be met."""

    # Values that are no name, such as "any".
    special: Mapping[str, Promise | str] = field(default_factory=dict)
    # The values there are, where any other is a mistake; asked only when some value is given.
    offered: Callable[[Snapshot], Sequence[str]] | None = None

    def read(self, texts: Sequence[str], refuse: Refuse) -> tuple[str, ...]:
        del refuse
        return tuple(dict.fromkeys(texts))

    def words(self) -> Mapping[str, Promise | str]:
        return self.special

    @property
    def uncounted(self) -> Sequence[str]:
        return tuple(self.special)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Parameter):
    """A closed set of words; one of several must be met."""

    choices: Mapping[str, Promise | str]
    # Whether the select offers all of them, or only those that rows have, and these.
    are_all_offered: bool = True
    always_offered: tuple[str, ...] = ()

    def read(self, texts: Sequence[str], refuse: Refuse) -> tuple[str, ...]:
        once = tuple(dict.fromkeys(texts))
        for text in once:
            if text not in self.choices:
                refuse(not_one_of(text, self.choices))
        return tuple(text for text in once if text in self.choices)

    def words(self) -> Mapping[str, Promise | str]:
        if self.are_all_offered:
            return self.choices
        return {value: self.choices[value] for value in self.always_offered}

    def label_of(self, value: str) -> Promise | str:
        return self.choices.get(value, value)

    def takes(self, value: str) -> bool:
        return value in self.choices

    @property
    def uncounted(self) -> Sequence[str]:
        return self.always_offered

    @property
    def closed_set(self) -> tuple[str, ...]:
        return tuple(self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Parameter):
    """True, false, or, where that is not the default, any."""

    default: bool | None = None
    # What the select calls true and false.
    true_label: Promise | str = ""
    false_label: Promise | str = ""

    is_several: ClassVar[bool] = False

    def read(self, texts: Sequence[str], refuse: Refuse) -> bool | None:
        if not texts:
            return self.default
        word = texts[-1].lower()
        if word in TRUE:
            return True
        if word in FALSE:
            return False
        if word != ANY:
            refuse(_("Write true, false or any, not “%(value)s”.") % {"value": word})
            return self.default
        return None

    def words(self) -> Mapping[str, Promise | str]:
        return {"true": self.true_label, "false": self.false_label} if self.true_label else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Parameter):
    """Conditions, all of which must hold. `parse` gives the alternatives of one, or a sentence that refuses it."""

    parse: Callable[[str], Sequence[Any] | str]

    is_all: ClassVar[bool] = True

    def read(self, texts: Sequence[str], refuse: Refuse) -> tuple[tuple[Any, ...], ...]:
        conditions = []
        for text in dict.fromkeys(texts):
            parsed = self.parse(text)
            if isinstance(parsed, str):
                refuse(parsed)
            else:
                conditions.append(tuple(parsed))
        return tuple(conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box(Parameter):
    """The filter box: terms such as `driver:NAME` stand for the other parameters; the rest is text that a name must contain."""

    # Where terms such as `memory>=40Gi` go, and how they are read; None: the list takes none.
    match: Match | None = None

    is_several: ClassVar[bool] = False

    def read(self, texts: Sequence[str], refuse: Refuse) -> str:
        del refuse
        return " ".join(texts)


def not_one_of(text: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """The sentence that refuses a word of a closed set; of a long one it names what is near."""
    if not known:
        return _("“%(value)s” is not known here, and nothing else is.") % {"value": text}
    words = list(known)
    if len(words) <= MOST_NAMED:
        return _("“%(value)s” is not one of %(known)s.") % {
            "value": text,
            "known": ", ".join(words),
        }
    near = get_close_matches(text, words, n=3)
    message = (
        _("“%(value)s” is none of the %(n)s values there are; near it are %(near)s.")
        if near
        else _("“%(value)s” is none of the %(n)s values there are, such as %(near)s.")
    )
    return message % {"value": text, "n": len(words), "near": ", ".join(near or words[:3])}


def search_box(*, meaning: Promise | str, example: str = "", match: Match | None = None) -> Box:
    """The box that every list has, called `q`."""
    return Box(
        name="q",
        field="text",
        label=gettext_lazy("text"),
        meaning=meaning,
        example=example,
        match=match,
    )
