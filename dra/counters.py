"""Shared counters of one pool: what allocated devices have drawn, and what another device would need."""

from collections.abc import Iterable

from dra.quantity import Quantity
from dra.values import CounterLeft, CounterSet, Device

CounterName = tuple[str, str]
"""Counter set and counter."""


class CounterLedger:
    """What is left of each counter. It may be copied, so that plans do not touch the real one."""

    __slots__ = ("_left", "_overdrawn", "_totals")

    def __init__(self, counter_sets: Iterable[CounterSet] = ()) -> None:
        """Start full. Of two sets of one name the smaller amount counts; such a pool is invalid anyway."""
        self._totals: dict[CounterName, Quantity] = {}
        for counter_set in counter_sets:
            for name, value in counter_set.counters.items():
                key = (counter_set.name, name)
                self._totals[key] = min(value, self._totals.get(key, value))
        self._left = {key: value.nanos for key, value in self._totals.items()}
        self._overdrawn = {key for key, left in self._left.items() if left < 0}

    def copy(self) -> "CounterLedger":
        """A ledger of its own with the same amounts."""
        ledger = CounterLedger()
        ledger._totals = self._totals
        ledger._left = dict(self._left)
        ledger._overdrawn = set(self._overdrawn)
        return ledger

    def draw(self, device: Device) -> None:
        """Take what the device needs, even when it is not there: an allocation is a fact."""
        for use in device.consumes_counters:
            for name, amount in use.counters.items():
                key = (use.counter_set, name)
                if key in self._left:
                    self._left[key] -= amount.nanos
                    if self._left[key] < 0:
                        self._overdrawn.add(key)

    def fits(self, device: Device) -> bool:
        """Whether the scheduler would find the counters sufficient.

        It looks at every counter of the pool: one that is overdrawn already stops each device that draws on any.
        """
        if not device.consumes_counters:
            return True
        if self._overdrawn:
            return False
        return all(self._left.get(key, -1) >= need for key, need in needs_of(device).items())

    def counters(self, *, is_known: bool) -> tuple[CounterLeft, ...]:
        """Every counter in order of name; `is_known` tells whether all that is drawn is in the ledger."""
        return tuple(
            CounterLeft(
                counter_set=counter_set,
                name=name,
                total=total,
                left=Quantity(max(0, self._left[counter_set, name]), total.format)
                if is_known
                else None,
            )
            for (counter_set, name), total in sorted(self._totals.items())
        )

    @property
    def overdrawn(self) -> tuple[tuple[CounterName, Quantity], ...]:
        """Counters of which more is drawn than there is, and by how much."""
        return tuple((key, Quantity(-self._left[key])) for key in sorted(self._overdrawn))


def needs_of(device: Device) -> dict[CounterName, int]:
    """Nano units of each counter that a device draws."""
    needs: dict[CounterName, int] = {}
    for use in device.consumes_counters:
        for name, amount in use.counters.items():
            key = (use.counter_set, name)
            needs[key] = needs.get(key, 0) + amount.nanos
    return needs
