"""The server's figures of a pool beside ours: figure by figure, with the reason where they differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from pools.models import PoolStatusAnswer
from ui.formatting import number
from ui.words import figure_of, reason_of

# Ours and the server's name of each figure that both have.
_FIGURES: tuple[tuple[str, str, Promise | str], ...] = (
    ("total", "totalDevices", gettext_lazy("total")),
    ("allocated", "allocatedDevices", gettext_lazy("allocated")),
    ("available", "availableDevices", gettext_lazy("available")),
    ("unavailable", "unavailableDevices", gettext_lazy("unavailable")),
)


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """One figure, ours and the server's as text; None is not known."""

    label: str
    ours: str | None
    server: str | None
    is_different: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the server says of one pool, and how that compares with our figures of the same moment."""

    lines: tuple[ComparisonLine, ...]
    # Empty: both were compared. Else why not, in a sentence and in a few words.
    why_not: str
    why_not_briefly: str
    differences: int
    # The server's own complaint about the pool.
    complaint: str

    @property
    def is_compared(self) -> bool:
        return not self.why_not

    @property
    def figures(self) -> tuple[ComparisonLine, ...]:
        """The lines that every pool has, in one order."""
        return self.lines[: len(_FIGURES)]

    @property
    def text(self) -> str:
        """Whether both agree, in a sentence."""
        if not self.is_compared:
            return _("The pool status controller answered. %(why)s") % {"why": self.why_not}
        if not self.differences:
            return _("The pool status controller's figures are ours.")
        return ngettext(
            "The pool status controller answered, and %(n)s figure differs.",
            "The pool status controller answered, and %(n)s figures differ.",
            self.differences,
        ) % {"n": number(self.differences)}


def comparison_of(answer: PoolStatusAnswer) -> Comparison:
    """Every figure of an answer; what the server wrote may be of any type and never fails the page."""
    differing = answer.differences or ()
    by_field = {each["field"]: each for each in differing}
    ours = answer.ours["devices"] if answer.ours else {}
    lines = [
        ComparisonLine(
            str(label),
            _text(ours.get(name)),
            _text(answer.server.get(theirs)),
            name in by_field,
            reason_of(by_field[name]) if name in by_field else "",
        )
        for name, theirs, label in _FIGURES
    ]
    # Of partitions and capacities there may be several.
    others = [each for each in differing if each["field"] not in ours]
    why_not, briefly = ("", "") if answer.differences is not None else _why_not(answer)
    return Comparison(
        lines=(*lines, *(_other_line(each) for each in others)),
        why_not=why_not,
        why_not_briefly=briefly,
        differences=len(differing),
        complaint=_text(answer.server.get("validationError")) or "",
    )


def _why_not(answer: PoolStatusAnswer) -> tuple[str, str]:
    """Why an answer was not compared; its request notes it where the comparison left pools out."""
    if any(note["code"] == "pools_not_compared" for note in answer.request.notes):
        return (
            _("The pool changed meanwhile, so its figures are not compared with ours."),
            _("the pool changed meanwhile"),
        )
    return _("Its figures are compared with ours within moments."), _("not yet")


def _other_line(difference: Mapping[str, Any]) -> ComparisonLine:
    return ComparisonLine(
        figure_of(difference),
        _text(difference["ours"]),
        _text(difference["server"]),
        is_different=True,
        reason=reason_of(difference),
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return number(value) if isinstance(value, int) else str(value)
