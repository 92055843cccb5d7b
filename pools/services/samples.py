"""Samples of pools: one where a figure is another than before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clusters import choices
from dra.series import FIGURES
from objects.services.changes import Consumer
from objects.services.staging import Cursor, copy_rows
from pools.services.tables import POOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from objects.services.versions import Row, RowChange

_SAMPLE: Final = {
    "cluster_id": "int8",
    "pool_id": "int8",
    "at": "timestamptz",
    "generation": "int8",
    "is_complete": "bool",
    "has_vanished": "bool",
    **dict.fromkeys(FIGURES, "int4"),
}
_SAMPLED: Final = ("generation", "is_complete", *(f"devices_{name}" for name in FIGURES))


def sample_rows(changes: Sequence[RowChange]) -> list[tuple[Any, ...]]:
    """From each change of a pool the figures that hold from it on; none where they are as they were."""
    return [
        _sample(change)
        for change in changes
        if change.before is None or change.after is None or _differ(change.before, change.after)
    ]


def _differ(before: Row, after: Row) -> bool:
    return any(before[name] != after[name] for name in _SAMPLED)


def _sample(change: RowChange) -> tuple[Any, ...]:
    of, at = change.row, change.at
    if change.after is not None:
        generation, is_complete, *figures = (change.after[name] for name in _SAMPLED)
        return (of.cluster_id, of.id, at, generation, is_complete, False, *figures)
    generation = change.before["generation"] if change.before else None
    return (of.cluster_id, of.id, at, generation, False, True, *(None for _ in FIGURES))


def _write(cursor: Cursor, cluster_id: int, rows: Sequence[Any]) -> None:
    del cluster_id
    copy_rows(cursor, "pools_poolsample", _SAMPLE, rows)


CONSUMER: Final = Consumer(
    "pool samples",
    tables=(POOLS,),
    subject=choices.POOLS,
    make_rows=sample_rows,
    write_rows=_write,
)
