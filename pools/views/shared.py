"""What the pages about pools and devices have in common: bars, fits, problems and places in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dra.catalogue import Severity
from dra.problems import severity_of
from pools.choices import Outcome
from pools.models import Device, Pool
from pools.queries import Facet, ProblemStart, ProblemStarts
from ui.formatting import number, quantity
from ui.words import remedy_of, words_of

# How the outcome of a pool status request looks.
TONES: Final[Mapping[str, str]] = {
    Outcome.ANSWERED: "good",
    Outcome.PENDING: "info",
    Outcome.NOT_SERVED: "muted",
    Outcome.REFUSED: "warning",
    Outcome.NOBODY_ANSWERS: "warning",
    Outcome.BLOCKED: "warning",
    Outcome.UNANSWERED: "warning",
    Outcome.FAILED: "error",
}

_OLDER_GENERATIONS: Final = frozenset({"older_generation_published", "older_generation_in_use"})

# Alternatives that a row names before it says "and more".
_SHOWN_FITS = 3


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem as the problem list shows it."""

    code: str
    message: str
    severity: Severity
    url: str = ""
    hint: str = ""
    # None: not known, or not looked for. With `is_earlier` it was there before already.
    since: datetime | None = None
    is_earlier: bool = False


@dataclass(frozen=True, slots=True)
class ShownCapacity:
    """A capacity of a device: what is left of it where the device is shared, else all of it."""

    name: str
    amount: Any
    # Empty unless `amount` is what is left of a greater total.
    total: Any


class HasProblems(Protocol):
    """A row that has problems, by code and parameters."""

    problems: Any


def problems_of(row: HasProblems) -> tuple[ShownProblem, ...]:
    """The problems of a row, worst first."""
    shown = [_shown(each) for each in row.problems]
    order = ("error", "warning", "info")
    return tuple(sorted(shown, key=lambda problem: order.index(problem.severity)))


def dated_problems(pool: Pool, starts: ProblemStarts) -> tuple[ShownProblem, ...]:
    """The problems of a pool, worst first, each with when it began."""
    return tuple(_dated(each, starts.get((pool.id, each.code))) for each in problems_of(pool))


def _dated(problem: ShownProblem, start: ProblemStart | None) -> ShownProblem:
    return replace(problem, since=start.at, is_earlier=start.is_earlier) if start else problem


def named_problems(pool: Pool, starts: ProblemStarts) -> tuple[ShownProblem, ...]:
    """The same, named with the pool and leading to it."""
    return tuple(
        replace(
            problem,
            message=f"{pool.driver}/{pool.name}: {problem.message}",
            url=pool_url(pool.id),
        )
        for problem in dated_problems(pool, starts)
    )


def _shown(stored: Mapping[str, Any]) -> ShownProblem:
    code = stored["code"]
    return ShownProblem(code, words_of(stored), severity_of(code), hint=remedy_of(code))


def shown_capacity(device: Device) -> tuple[ShownCapacity, ...]:
    """A device that is held as a whole has its whole capacity still: "0 left" would say that it has none."""
    return tuple(
        ShownCapacity(use["name"], use["available"], use["total"])
        if device.is_partly_used and use["available"] is not None
        else ShownCapacity(use["name"], use["total"], "")
        for use in device.capacity
    )


def fits_now(pool: Pool, *, limit: int = _SHOWN_FITS) -> str:
    """What could still be allocated, in words; partition types are alternatives. "" when nothing is known to fit."""
    if not pool.is_complete or not pool.is_valid:
        return ""
    parts = [part for part in pool.partitions if part["allocatable"]]
    if parts:
        words = [f"{number(part['allocatable'])} × {part['type']}" for part in parts[:limit]]
        more = len(parts) - limit
        if more > 0:
            words.append(ngettext("%(n)s other", "%(n)s others", more) % {"n": number(more)})
        return _(" or ").join(words)
    if pool.devices_available:
        text = ngettext("%(n)s device", "%(n)s devices", pool.devices_available)
        return text % {"n": number(pool.devices_available)}
    left = [use for use in pool.capacity if use["available"] not in {None, "0"}]
    if pool.devices_partly_used and left:
        words = [
            f"{quantity(use['available'], name=use['name']).text} {use['name']}" for use in left
        ]
        return ", ".join(words[:limit])
    return ""


def slices_note(pool: Pool) -> str:
    """Slices seen of those declared, where that is not plain."""
    if pool.slices_expected == pool.slices_seen:
        return ""
    if pool.slices_expected is None:
        return _("%(seen)s slices, which disagree on how many there are") % {
            "seen": number(pool.slices_seen)
        }
    return _("%(seen)s of %(expected)s slices") % {
        "seen": number(pool.slices_seen),
        "expected": number(pool.slices_expected),
    }


def generation_note(pool: Pool) -> str:
    """The generation, where it is worth a word: older ones are still there, or it cannot be read."""
    if pool.generation is None:
        return _("generation unknown")
    if not _OLDER_GENERATIONS.isdisjoint(pool.problem_codes) or not pool.is_complete:
        return _("generation %(generation)s") % {"generation": pool.generation}
    return ""


def facet_counts(facets: Mapping[str, Sequence[Facet]]) -> dict[str, dict[str, int]]:
    """Counts by value, by parameter."""
    return {name: {each.value: each.count for each in found} for name, found in facets.items()}


def pool_url(pool_id: int) -> str:
    """The page of a pool."""
    return reverse("pools:detail", args=[pool_id])
