"""Kubernetes quantities: exact, in the three formats the API server reads, printed as it prints them.

A quantity is a whole number of nano units, which is the smallest amount Kubernetes keeps; no floating point is involved.
"""

import re
from decimal import Decimal
from enum import Enum
from functools import lru_cache, total_ordering
from typing import Any, Final, Self

_NANOS: Final = 10**9
_MAX_BINARY: Final = (2**63 - 1) * _NANOS
# Amounts the API server would take but nobody means; a bound keeps a hostile exponent from filling memory.
_MAX_LENGTH: Final = 200
_MAX_EXPONENT: Final = 60

_TEXT: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)

_DECIMAL_SUFFIXES: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF: Final = ("", *_BINARY_SUFFIXES)


class QuantityFormat(Enum):
    """The family of suffixes a quantity was written with, and will be printed with."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@total_ordering
class Quantity:
    """An exact amount. Equality, order and hash go by the amount alone: `1Gi` equals `1073741824`; their texts differ."""

    __slots__ = ("format", "nanos")

    nanos: int
    """The amount in units of 1e-9."""
    format: QuantityFormat

    def __init__(self, nanos: int, format: QuantityFormat = QuantityFormat.DECIMAL_SI) -> None:
        """Make a quantity from a whole number of nano units."""
        object.__setattr__(self, "nanos", nanos)
        object.__setattr__(self, "format", format)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: quantities are shared between values."""
        message = f"a quantity cannot be changed: {name}"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[type[Self], tuple[int, QuantityFormat]]:
        """Copy and pickle through the constructor, as attributes cannot be set."""
        return (type(self), (self.nanos, self.format))

    @property
    def number(self) -> Decimal:
        """The amount as an exact decimal."""
        whole, part = divmod(abs(self.nanos), _NANOS)
        text = f"{whole}.{part:09d}".rstrip("0").rstrip(".")
        return Decimal(f"-{text}" if self.nanos < 0 else text)

    @property
    def is_zero(self) -> bool:
        """Whether the amount is zero."""
        return self.nanos == 0

    def __eq__(self, other: object) -> bool:
        """Compare amounts, whatever the format."""
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Self) -> bool:
        """Compare amounts, whatever the format."""
        return self.nanos < other.nanos if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        """Equal amounts hash alike."""
        return hash(self.nanos)

    def __add__(self, other: Self) -> "Quantity":
        """Add; the sum keeps the format of the first one, or of the second when the first is zero."""
        return Quantity(self.nanos + other.nanos, self._format_with(other))

    def __sub__(self, other: Self) -> "Quantity":
        """Subtract; formats as for a sum. The result may be negative."""
        return Quantity(self.nanos - other.nanos, self._format_with(other))

    def _format_with(self, other: Self) -> QuantityFormat:
        return self.format if self.nanos else other.format

    def __str__(self) -> str:
        """Print the canonical form: no fraction, the largest suffix that loses nothing. `1500M` for 1.5G."""
        return _text(self.nanos, self.format)

    def __repr__(self) -> str:
        """Show the canonical form."""
        return f"Quantity({str(self)!r})"


ZERO: Final = Quantity(0)


def parse_quantity(raw: Any) -> Quantity | None:
    """Read text or a JSON number; None when it is no quantity.

    What is finer than nano is rounded away from zero, so that a little never becomes nothing; binary amounts end at
    2^63 - 1. Both are what the API server does.
    """
    if isinstance(raw, str):
        return _parse_text(raw.strip()) if len(raw) <= _MAX_LENGTH else None
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    # Python refuses to print an integer of more than 4,300 digits.
    if isinstance(raw, int) and abs(raw) >= 10**_MAX_EXPONENT:
        return None
    return _parse_text(repr(raw))


@lru_cache(maxsize=1 << 16)
def _parse_text(text: str) -> Quantity | None:
    match = _TEXT.fullmatch(text)
    if match is None or not text:
        return None
    sign, whole, fraction, suffix = match[1], match[2], match[3] or "", match[4]
    if not whole and not fraction:
        return None
    scaled = _suffix_scale(suffix)
    if scaled is None:
        return None
    factor, exponent, quantity_format = scaled
    digits = int(whole + fraction) * factor
    nanos = _scale_up(digits, exponent - len(fraction) + 9)
    if quantity_format is QuantityFormat.BINARY_SI:
        nanos = min(nanos, _MAX_BINARY)
        if nanos < _NANOS:
            quantity_format = QuantityFormat.DECIMAL_SI
    return Quantity(-nanos if sign == "-" else nanos, quantity_format)


def _suffix_scale(suffix: str) -> tuple[int, int, QuantityFormat] | None:
    """The factor, the power of ten and the format that a suffix stands for."""
    if suffix in _DECIMAL_SUFFIXES:
        return 1, _DECIMAL_SUFFIXES[suffix], QuantityFormat.DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return 2 ** _BINARY_SUFFIXES[suffix], 0, QuantityFormat.BINARY_SI
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None or abs(int(exponent[1])) > _MAX_EXPONENT:
        return None
    return 1, int(exponent[1]), QuantityFormat.DECIMAL_EXPONENT


def _scale_up(digits: int, exponent: int) -> int:
    """Multiply a natural number by a power of ten; what is left over rounds up."""
    return digits * _tens(exponent) if exponent >= 0 else -(-digits // _tens(-exponent))


def _tens(exponent: int) -> int:
    return int(10**exponent)


@lru_cache(maxsize=1 << 16)
def _text(nanos: int, quantity_format: QuantityFormat) -> str:
    """Kept, since a fleet repeats a few amounts on every device."""
    if nanos == 0:
        return "0"
    prints_binary = abs(nanos) >= 1024 * _NANOS and nanos % _NANOS == 0
    if quantity_format is QuantityFormat.BINARY_SI and prints_binary:
        return _binary_text(nanos // _NANOS)
    return _decimal_text(nanos, has_exponent=quantity_format is QuantityFormat.DECIMAL_EXPONENT)


def _binary_text(amount: int) -> str:
    power = 0
    while amount % 1024 == 0 and power < len(_BINARY_SUFFIX_OF) - 1:
        amount //= 1024
        power += 1
    return f"{amount}{_BINARY_SUFFIX_OF[power]}"


def _decimal_text(nanos: int, *, has_exponent: bool) -> str:
    exponent = -9
    # E is the largest suffix there is; the API server drops it above, and prints another number.
    while nanos % 1000 == 0 and (has_exponent or exponent < 18):
        nanos //= 1000
        exponent += 3
    if has_exponent:
        return f"{nanos}e{exponent}" if exponent else str(nanos)
    return f"{nanos}{_DECIMAL_SUFFIX_OF[exponent]}"
