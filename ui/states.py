"""The states of devices as pages show them: one order, one icon, one word, one colour each; and bars made of counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ui.formatting import number

# Share of a bar below which a segment could not be seen, in per cent.
_SMALLEST_SEGMENT: Final = 1.5


@dataclass(frozen=True, slots=True)
class State:
    """How one state looks; its colour is the class `state-<code>` of app.css."""

    code: str
    word: Promise | str
    meaning: Promise | str

    @property
    def icon(self) -> str:
        """Name of its symbol in the icon file."""
        return f"state-{self.code.replace('_', '-')}"


# Bars and legends keep this order.
STATES: Final = {
    state.code: state
    for state in (
        State("allocated", gettext_lazy("allocated"), gettext_lazy("A claim holds it.")),
        State(
            "partly_used",
            gettext_lazy("partly used"),
            gettext_lazy("Allocated, with capacity left for another share."),
        ),
        State(
            "available",
            gettext_lazy("available"),
            gettext_lazy("A claim that asks for this device alone could get it now."),
        ),
        State(
            "blocked",
            gettext_lazy("blocked"),
            gettext_lazy("Free, but the shared counters that are left do not cover it."),
        ),
        State(
            "unavailable",
            gettext_lazy("unavailable"),
            gettext_lazy(
                "Not allocated, and tainted: only a claim that tolerates the taint can get it."
            ),
        ),
        State(
            "unhealthy",
            gettext_lazy("unhealthy"),
            gettext_lazy("Its driver says that it does not work."),
        ),
        State("unknown", gettext_lazy("unknown"), gettext_lazy("What is known does not tell.")),
    )
}


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a bar; `x` and `width` in per cent of the bar."""

    state: State
    count: int
    # For the legend: of allocated, the partly used ones are counted in, as everywhere else.
    told: int
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class StateBar:
    """A stacked bar with its legend and the same in words."""

    segments: tuple[Segment, ...]
    total: int | None
    seen: int | None
    text: str


def state_of(code: str) -> State:
    """The state with this code; a code we do not know looks unknown and keeps its word."""
    return STATES.get(code) or State(
        "unknown", code, format_lazy("{}: {}", code, STATES["unknown"].meaning)
    )


def state_bar(devices: Mapping[str, int | None]) -> StateBar:
    """A bar of counts in the shape `devices` of the REST API; absent and None are unknown.

    Partly used devices are taken out of allocated, of which they are a part, so that the segments add up.
    """
    counts = _exclusive_counts(devices)
    total = devices.get("total")
    seen = devices.get("seen")
    return StateBar(
        segments=_segments(counts),
        total=total,
        seen=seen,
        text=_in_words(counts, total=total, seen=seen),
    )


def _exclusive_counts(devices: Mapping[str, int | None]) -> dict[str, int]:
    partly_used = devices.get("partly_used") or 0
    counts = {code: devices.get(code) or 0 for code in STATES}
    counts["allocated"] = max(counts["allocated"] - partly_used, 0)
    total = devices.get("total")
    whole = total if total is not None else devices.get("seen")
    told = sum(counts.values()) - counts["unknown"]
    counts["unknown"] = max((whole or 0) - told, counts["unknown"])
    return counts


def _segments(counts: Mapping[str, int]) -> tuple[Segment, ...]:
    shown = [(STATES[code], count) for code, count in counts.items() if count]
    total = sum(count for _state, count in shown)
    # Small parts are widened so that one broken device of a thousand is seen; the words keep the exact counts.
    widths = [max(100 * count / total, _SMALLEST_SEGMENT) for _state, count in shown]
    scale = 100 / sum(widths) if widths else 1
    segments = []
    x = 0.0
    for (state, count), width in zip(shown, widths, strict=True):
        told = _told(counts)[state.code]
        segments.append(Segment(state, count, told, x=f"{x:.2f}%", width=f"{width * scale:.2f}%"))
        x += width * scale
    return tuple(segments)


def _in_words(counts: Mapping[str, int], *, total: int | None, seen: int | None) -> str:
    parts = ", ".join(
        _part_in_words(code, counts) for code, count in _told(counts).items() if count
    )
    if total is None and seen is None:
        return parts or _("unknown")
    if total is None:
        known = seen or 0
        start = ngettext("%(count)s device seen", "%(count)s devices seen", known)
        start = _("total unknown, %(seen)s") % {"seen": start % {"count": number(known)}}
    else:
        start = ngettext("%(count)s device", "%(count)s devices", total) % {"count": number(total)}
    return f"{start}: {parts}" if parts else start


def _part_in_words(code: str, counts: Mapping[str, int]) -> str:
    word = STATES[code].word
    if code == "partly_used":
        return _("%(count)s of these partly used") % {"count": number(counts[code])}
    return f"{number(_told(counts)[code])} {word}"


def _told(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts as people are told them: partly used devices are among the allocated ones."""
    return {**counts, "allocated": counts["allocated"] + counts["partly_used"]}
