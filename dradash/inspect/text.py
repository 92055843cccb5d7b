"""The report as text for people: pools with their figures, what is wrong, what still fits, who holds what."""

from collections.abc import Iterator
from typing import Final

from dra.compare import Difference
from dra.findings import UNPUBLISHED, claim_words, in_words
from dra.values import AllocationResult, AssessedPool, DeviceCounts, PoolKey, Problem
from dra.words import figure_words, reason_words, statement_words
from dradash.inspect.report import Report
from dradash.inspect.status_requests import ComparedPool, ComparedRequest
from dradash.inspect.words import (
    UNKNOWN,
    amount,
    capacity_words,
    claim_line,
    counted,
    device_lines,
    figure,
    node_cell,
    printable,
)

# Devices, and claims, are listed one by one up to here, or when asked for.
LISTED_AT_MOST: Final = 100
_CELL: Final = 48
_COLUMNS: Final = (
    "DRIVER",
    "POOL",
    "NODE",
    "GEN",
    "SLICES",
    "TOTAL",
    "ALLOC",
    "FREE",
    "BLOCKED",
    "UNAVAIL",
)
# Free devices of such a pool are fewer than they look.
_UNSAFE: Final = "overlapping_devices"


def report_text(report: Report, *, lists_all: bool = False) -> Iterator[str]:
    """The whole report, line by line."""
    for line in _lines(report, lists_all=lists_all):
        yield printable(line) + "\n"


def _lines(report: Report, *, lists_all: bool) -> Iterator[str]:
    pools = report.fleet.pools
    devices = sum(pool.counts.seen for pool in pools)
    yield _answer(report)
    if pools:
        yield ""
        yield from _table([_COLUMNS, *(_row(pool) for pool in pools)])
    lists_devices = lists_all or devices <= LISTED_AT_MOST
    for pool in pools:
        yield from _pool(pool, lists_devices=lists_devices)
    if not lists_devices:
        yield ""
        yield f"The {devices} devices are not listed here: add --all, or ask for --format json."
    yield from _claims(report, lists_all=lists_all)
    yield from _unpublished(report)
    for compared in report.status_requests:
        yield from _status_request(compared)
    yield from _problems(report)


def _answer(report: Report) -> str:
    pools = report.fleet.pools
    if not pools and report.are_slices_known:
        return f"No ResourceSlice among {counted(report.objects, 'object')}: no driver publishes devices here."
    if not pools:
        return f"No ResourceSlice among {counted(report.objects, 'object')}: which devices there are is unknown."
    unknown = [pool for pool in pools if pool.counts.available is None]
    free = sum(pool.counts.available or 0 for pool in pools)
    seen = sum(pool.counts.seen for pool in pools)
    unusable = [pool for pool in pools if not (pool.is_complete and pool.is_valid)]
    at_most = "at most " if any(map(_is_unsafe, pools)) else ""
    words = [f"{counted(len(pools), 'pool')}, {counted(seen, 'device')} seen"]
    if unknown:
        words.append(f"free unknown in {counted(len(unknown), 'pool')}")
    else:
        words.append(f"{at_most}{free} free")
    partly = sum(pool.counts.partly_used or 0 for pool in pools)
    if partly:
        words.append(f"{partly} partly used")
    if unusable:
        words.append(f"{counted(len(unusable), 'pool')} incomplete or invalid")
    return ", ".join(words) + "."


def _is_unsafe(pool: AssessedPool) -> bool:
    return bool(pool.counts.available) and any(each.code == _UNSAFE for each in pool.problems)


def _row(pool: AssessedPool) -> tuple[str, ...]:
    counts = pool.counts
    return (
        pool.key.driver,
        pool.key.pool,
        _cut(node_cell(pool.node)),
        figure(pool.generation),
        f"{pool.slices_seen}/{figure(pool.slices_expected)}",
        figure(counts.total) if counts.total is not None else f"{UNKNOWN} (>={counts.seen})",
        _allocated(counts),
        f"{'<=' if _is_unsafe(pool) else ''}{figure(counts.available)}",
        figure(counts.blocked),
        figure(counts.unavailable),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def _allocated(counts: DeviceCounts) -> str:
    partly = f" ({counts.partly_used} partly)" if counts.partly_used else ""
    return figure(counts.allocated) + partly


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    shown = [tuple(printable(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    for row in shown:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _pool(pool: AssessedPool, *, lists_devices: bool) -> Iterator[str]:
    lines = [*_figures(pool), *(_problem(each) for each in pool.problems if _is_own(each))]
    if lists_devices and pool.devices:
        lines.append("  devices:")
        lines += [line for device in pool.devices for line in device_lines(device)]
    if lines:
        yield ""
        yield f"{pool.key.driver}/{pool.key.pool}:"
        yield from lines


def _figures(pool: AssessedPool) -> Iterator[str]:
    """What stands behind the figures of the table."""
    if pool.node.kind == "mixed" or len(node_cell(pool.node)) > _CELL:
        yield f"  nodes: {pool.node.text}"
    if pool.partitions:
        yield f"  fits now: {_partitions(pool)}"
    for use in pool.capacity:
        yield f"  {capacity_words(use)}"
    for counter in pool.counters:
        left = UNKNOWN if counter.left is None else amount(counter.left)
        yield f"  counter {counter.counter_set}/{counter.name}: {left} of {amount(counter.total)} left"
    if pool.counts.admin_access:
        yield f"  admin access: {counted(pool.counts.admin_access, 'device')}"


def _partitions(pool: AssessedPool) -> str:
    fits = [f"{part.allocatable} × {part.type}" for part in pool.partitions if part.allocatable]
    if fits:
        return " or ".join(fits)
    is_unknown = any(part.allocatable is None for part in pool.partitions)
    return UNKNOWN if is_unknown else "none of its partitions"


def _is_own(problem: Problem) -> bool:
    """Devices that are not published are listed by themselves."""
    return problem.code not in UNPUBLISHED


def _problem(problem: Problem) -> str:
    mark = "-" if problem.severity == "info" else "!"
    return f"  {mark} {statement_words(problem)} [{problem.code}]"


def _claims(report: Report, *, lists_all: bool) -> Iterator[str]:
    if not report.claims:
        return
    yield ""
    if not lists_all and len(report.claims) > LISTED_AT_MOST:
        yield f"The {len(report.claims)} claims are not listed here: add --all, or ask for --format json."
        return
    yield "Claims:"
    yield from map(claim_line, report.claims)


def _unpublished(report: Report) -> Iterator[str]:
    held: dict[tuple[PoolKey, str], list[AllocationResult]] = {}
    for result in report.fleet.unpublished:
        held.setdefault((result.key.pool_key, claim_words(result)), []).append(result)
    if held:
        yield ""
        yield "Held, but not published any more:"
    published = {pool.key for pool in report.fleet.pools}
    for (key, claim), results in held.items():
        names = sorted({result.key.device for result in results})
        number = f"{len(names)} devices, " if len(names) > 1 else ""
        gone = "" if key in published else " (no slice of this pool is there)"
        yield f"  {key.driver}/{key.pool}: {number}{in_words(names)}, by {claim}{gone}"


def _status_request(compared: ComparedRequest) -> Iterator[str]:
    asked = compared.asked
    pool = f"/{asked.request.pool}" if asked.request.pool else ""
    yield ""
    yield f"Pool status request {asked.name} for {asked.request.driver}{pool}: {_outcome(compared)}"
    for key in compared.blocked_by:
        yield f"  ! waits for pool {key.driver}/{key.pool}, which is incomplete or of generation 0"
    for each in compared.pools:
        yield from _compared_pool(each)


def _outcome(compared: ComparedRequest) -> str:
    asked = compared.asked
    if compared.outcome == "failed":
        return f"failed: {asked.failure}"
    if asked.statuses is None:
        return "no answer"
    answered = len(asked.statuses)
    truncated = asked.pool_count is not None and asked.pool_count > answered
    words = counted(answered, "pool") + (f" of {asked.pool_count}" if truncated else "")
    if not compared.differing:
        verdict = (
            "agrees" if any(pool.differences == () for pool in compared.pools) else "not compared"
        )
        return f"answered for {words}, {verdict}"
    rules = f"{compared.release.major}.{compared.release.minor}"
    return f"answered for {words}, disagrees on {compared.differing} (by the rules of {rules})"


def _compared_pool(pool: ComparedPool) -> Iterator[str]:
    status = pool.status
    if status.validation_error:
        yield f"  {status.pool}: the server says: {status.validation_error}"
    if pool.differences is None:
        yield f"  {status.pool}: no slice of this pool is here to compare with"
    elif pool.differences:
        yield (
            f"  ! {status.pool}: pool status request disagrees: reports {figure(status.allocated)} allocated"
            f" of {figure(status.total)}, {figure(status.available)} available"
        )
        yield from map(_difference, pool.differences)


def _difference(each: Difference) -> str:
    name = figure_words(each.field, each.parameters)
    return f"      {name}: {figure(each.ours)} here, {figure(each.server)} there: {reason_words(each.reasons)}"


def _problems(report: Report) -> Iterator[str]:
    # What concerns a pool stands there already.
    shown = [placed for placed in report.problems if _is_own(placed.problem)]
    if shown or report.unreadable:
        yield ""
        yield "Problems:"
    for placed in shown:
        line = _problem(placed.problem)
        yield f"{line[:4]}{placed.place}: {line[4:]}" if placed.place else line
    for each in report.unreadable:
        yield f"  ! {each.place} {each.message} [unreadable]"
