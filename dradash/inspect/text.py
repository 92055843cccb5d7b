"""The report as text for people: pools with their figures, what is wrong, what still fits."""

from __future__ import annotations

from collections.abc import Iterator

from dra.values import AssessedPool, DeviceCounts
from dradash.inspect.report import Report

UNKNOWN = "unknown"
_COLUMNS = (
    "DRIVER",
    "POOL",
    "GEN",
    "SLICES",
    "TOTAL",
    "ALLOC",
    "FREE",
    "BLOCKED",
    "UNAVAIL",
)


def report_text(found: Report) -> str:
    """The whole report."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Report) -> Iterator[str]:
    yield _answer(found)
    if found.fleet.pools:
        yield ""
        yield from _table([_COLUMNS, *(_row(pool) for pool in found.fleet.pools)])
    for pool in found.fleet.pools:
        yield from _details(pool)
    if found.problems or found.unreadable:
        yield ""
        yield "Problems:"
    for placed in found.problems:
        place = f"{placed.place}: " if placed.place else ""
        yield f"  {place}{placed.problem.message} [{placed.problem.code}]"
    for each in found.unreadable:
        yield f"  {each.place} {each.message} [unreadable]"


def _answer(found: Report) -> str:
    pools = found.fleet.pools
    if not pools:
        return f"No ResourceSlice among {found.objects} objects: no driver publishes devices here."
    unknown = [pool for pool in pools if pool.counts.available is None]
    free = sum(pool.counts.available or 0 for pool in pools)
    seen = sum(pool.counts.seen for pool in pools)
    unusable = [pool for pool in pools if not (pool.is_complete and pool.is_valid)]
    words = [f"{_count(len(pools), 'pool')}, {_count(seen, 'device')} seen"]
    words.append(f"free unknown in {_count(len(unknown), 'pool')}" if unknown else f"{free} free")
    if unusable:
        words.append(f"{_count(len(unusable), 'pool')} incomplete or invalid")
    return ", ".join(words) + "."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _row(pool: AssessedPool) -> tuple[str, ...]:
    counts = pool.counts
    return (
        pool.key.driver,
        pool.key.pool,
        _figure(pool.generation),
        f"{pool.slices_seen}/{_figure(pool.slices_expected)}",
        _figure(counts.total) if counts.total is not None else f"{UNKNOWN} (>={counts.seen})",
        _allocated(counts),
        _figure(counts.available),
        _figure(counts.blocked),
        _figure(counts.unavailable),
    )


def _allocated(counts: DeviceCounts) -> str:
    partly = f" ({counts.partly_used} partly)" if counts.partly_used else ""
    return _figure(counts.allocated) + partly


def _figure(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _details(pool: AssessedPool) -> Iterator[str]:
    fits = [f"{part.allocatable} × {part.type}" for part in pool.partitions if part.allocatable]
    unknown = [part for part in pool.partitions if part.allocatable is None]
    if not (pool.partitions or pool.capacity or pool.problems or pool.counts.admin_access):
        return
    yield ""
    yield f"{pool.key.driver}/{pool.key.pool}:"
    if pool.partitions:
        words = " or ".join(fits) or (UNKNOWN if unknown else "none of its partitions")
        yield f"  fits now: {words}"
    for use in pool.capacity:
        yield f"  {use.name}: {use.available if use.available is not None else UNKNOWN} of {use.total} left"
    if pool.counts.admin_access:
        yield f"  admin access: {_count(pool.counts.admin_access, 'device')}"
    for problem in pool.problems:
        yield f"  ! {problem.message} [{problem.code}]"
