"""Numbers, quantities and times as people read them. What is not known is None and reads "unknown", never 0."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any, Final

from django.utils import formats
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dra.quantity import Quantity, QuantityFormat, parse_quantity

# Narrow no-break space: groups of a number, and number and unit, never part at the end of a line.
THIN_SPACE: Final = "\u202f"

_BINARY_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_BYTE_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_DECIMAL_UNITS: Final = ("", "k", "M", "G", "T", "P", "E")
# Last words of capacity names whose plain numbers count bytes.
_BYTE_NAMES: Final = frozenset({"memory", "mem", "vram", "hugepages", "storage", "disk", "ram"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One value for eyes, and the same exactly."""

    text: str
    exact: str
    is_known: bool = True


def unknown() -> Reading:
    """What stands where a value is not known."""
    return Reading(_("unknown"), _("not known"), is_known=False)


def number(value: int | float | Decimal | None) -> str:
    """Thin spaces in thousands, at most two decimals: `13500` is `13 500`."""
    if value is None:
        return _("unknown")
    if isinstance(value, int):
        return f"{value:,}".replace(",", THIN_SPACE)
    rounded = Decimal(str(value)).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
    whole, _point, part = f"{rounded:,.2f}".partition(".")
    part = part.rstrip("0")
    grouped = whole.replace(",", THIN_SPACE)
    return f"{grouped}{formats.get_format('DECIMAL_SEPARATOR')}{part}" if part else grouped


def quantity(raw: Any, *, name: str = "") -> Reading:
    """A Kubernetes quantity in the unit people say: `80Gi` is `80 GiB`; `name` tells bytes from counts.

    >>> quantity("85899345920", name="gpu.example.com/memory").exact
    '85899345920'
    """
    if raw is None:
        return unknown()
    amount = raw if isinstance(raw, Quantity) else parse_quantity(raw)
    if amount is None:
        return Reading(str(raw), _("not a quantity"))
    exact = f"{amount.number:f}"
    is_canonical_plain = str(amount) == exact
    return Reading(
        _scaled(amount, is_bytes=_counts_bytes(name)),
        exact if is_canonical_plain else f"{amount} = {exact}",
    )


def _counts_bytes(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _BYTE_NAMES


def _scaled(amount: Quantity, *, is_bytes: bool) -> str:
    value = amount.number
    if amount.format is QuantityFormat.BINARY_SI or (is_bytes and _divides_binary(value)):
        # BinarySI below 1024 says nothing of bytes: `8` may be eight cores.
        is_plain = abs(value) < 1024 and not is_bytes
        return number(value) if is_plain else _in_unit(value, base=1024, units=_BINARY_UNITS)
    return _in_unit(value, base=1000, units=_BYTE_UNITS if is_bytes else _DECIMAL_UNITS)


def _divides_binary(value: Decimal) -> bool:
    return value == value.to_integral_value() and int(value) % 1024 == 0


def _in_unit(value: Decimal, *, base: int, units: tuple[str, ...]) -> str:
    # Counts stay as they are up to 100,000: `13 500`, not `13.5 k`.
    if units is _DECIMAL_UNITS and abs(value) < 100_000:
        return _plain(value)
    step = 0
    while abs(value) >= base and step < len(units) - 1:
        value /= base
        step += 1
    return f"{number(value)}{THIN_SPACE}{units[step]}".rstrip(THIN_SPACE)


def _plain(value: Decimal) -> str:
    return number(int(value)) if value == value.to_integral_value() else number(value)


def exact_time(moment: datetime | None) -> str:
    """To the second, with its zone: `28 Nov 2026 03:12:04 UTC`."""
    return _("unknown") if moment is None else _exact_time(moment, get_language())


# Rows of a list changed at the same few moments, and making words of one costs more than the rest of its cell.
@lru_cache(maxsize=4096)
def _exact_time(moment: datetime, _language: str | None) -> str:
    return formats.date_format(moment.astimezone(UTC), "j M Y H:i:s") + " UTC"


def age(moment: datetime | None, *, now: datetime) -> str:
    """How long ago, in one unit: `4 s ago`; of a moment to come `in 4 s`."""
    if moment is None:
        return _("unknown")
    passed = (now - moment).total_seconds()
    return _age(int(passed), passed < -1, get_language())


@lru_cache(maxsize=4096)
def _age(seconds: int, is_ahead: bool, language: str | None) -> str:  # noqa: FBT001 -- a part of the key
    if is_ahead:
        return _("in %(duration)s") % {"duration": _duration(-seconds, language)}
    return _("%(duration)s ago") % {"duration": _duration(max(seconds, 0), language)}


def duration(length: timedelta | None) -> str:
    """In the largest unit that fits, rounded down; the page's script counts on by the same limits."""
    return (
        _("unknown") if length is None else _duration(int(length.total_seconds()), get_language())
    )


@lru_cache(maxsize=4096)
def _duration(seconds: int, _language: str | None) -> str:
    for size, text in (
        (86_400, _("%(count)s d")),
        (3600, _("%(count)s h")),
        (60, _("%(count)s min")),
    ):
        # Two of a unit, so that "1 h ago" never stands for anything up to two hours.
        if seconds >= 2 * size:
            return text % {"count": number(seconds // size)}
    return _("%(count)s s") % {"count": seconds}


def middle_cut(text: str, *, tail: int = 12) -> tuple[str, str]:
    """The part that may be cut on screen and the end that stays, since names differ at their ends."""
    return (text, "") if len(text) <= 2 * tail else (text[:-tail], text[-tail:])
