"""The kinds of which every change is followed: one entry says all that is done with one.

Each app declares its own in its `kinds` module, which is imported when Django starts. This app is below those that keep objects, so
the functions of an entry take and return what only they know.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from dra.values import PoolKey
    from kube.kinds import Kind
    from ui.snapshot import Snapshot


class Record(Protocol):
    """Brings an app's rows up to date with objects of one kind, and returns the pools whose figures may be others now."""

    def __call__(
        self,
        cursor: Any,
        cluster_id: int,
        changed: Sequence[Any],  # of `objects.services.log`, one for each object
        /,
        *,
        now: datetime,
        changes: Any,  # of `objects.services.changes`: what became of its rows
    ) -> AbstractSet[PoolKey]: ...


@dataclass(frozen=True, slots=True)
class WatchedKind:
    """One kind: what it is to Kubernetes, what becomes of its objects here, and what rests on them."""

    kind: Kind
    record: Record | None = None
    """None: its objects are in the log and nowhere else."""
    tables: Sequence[Any] = ()
    """The derived tables that rest on it, each a `VersionedTable` of `objects`: what retention and upkeep go by."""
    record_version: int = 1
    """Raised when `record` makes other rows of the same objects: what is stored is then recorded anew."""
    are_figures_made_of_it: bool = False
    """Pools' figures are computed from it: their age is its age, and a gap in it is a gap in them."""
    is_unknown_when_forbidden: bool = False
    """Without the right to read it nobody knows what is held or tainted now, so no figure is made of what was read before."""
    shortest_checkpoint_interval: timedelta = timedelta(days=1)
    """What is live is written down no more often than this, however much changes."""
    needing_attention: Callable[[Snapshot, int], Sequence[str]] | None = None
    """Names of a cluster's objects that its page points out; one query."""

    @property
    def name(self) -> str:
        return self.kind.name


_watched: dict[str, WatchedKind] = {}


def watch(*entries: WatchedKind) -> None:
    """Follow these kinds, in this order where one transaction has changes of several. Called by `kinds` modules alone."""
    for entry in entries:
        if entry.name in _watched:
            raise ValueError(f"{entry.name} is declared twice")
        _watched[entry.name] = entry


def watched_kinds() -> tuple[WatchedKind, ...]:
    """All of them, in the order of their declarations."""
    return tuple(_watched.values())


def watched_kind(name: str) -> WatchedKind | None:
    """None for a kind of which no change is followed."""
    return _watched.get(name)


def watched_names() -> tuple[str, ...]:
    """The names of all of them."""
    return tuple(_watched)


def figure_kinds() -> tuple[str, ...]:
    """The names of those that pools' figures are computed from."""
    return tuple(name for name, entry in _watched.items() if entry.are_figures_made_of_it)
