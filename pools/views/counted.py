"""What the figures of a fleet leave out, in words."""

from collections.abc import Sequence

from django.utils.translation import ngettext

from pools.queries import DriverFigures
from ui.formatting import number


def counted(figures: Sequence[DriverFigures]) -> list[DriverFigures]:
    """Those that know of at least some devices whether they are free: a sum of nothing known is no 0."""
    return [each for each in figures if each.available is not None or each.known_available]


def uncounted_words(figures: Sequence[DriverFigures]) -> list[str]:
    """One sentence for devices of which nobody knows whether they are free, one for pools that cannot be counted."""
    words = []
    known = counted(figures)
    if devices := sum(
        each.seen for each in figures if each not in known and _has_whole_pool(each)
    ):
        text = ngettext(
            "Whether %(n)s device is free is unknown, since claims or taint rules were not read.",
            "How many of %(n)s devices are free is unknown, since claims or taint rules were not read.",
            devices,
        )
        words.append(text % {"n": number(devices)})
    if pools := sum(each.pools_with_unknown_total for each in figures):
        text = ngettext(
            "%(n)s pool cannot be used or counted.",
            "%(n)s pools cannot be used or counted.",
            pools,
        )
        words.append(text % {"n": number(pools)})
    return words


def _has_whole_pool(each: DriverFigures) -> bool:
    """Whether a pool could be counted, so that it is claims or rules that are missing."""
    return each.pools_with_unknown_total < each.pools
