"""The slices of the large workload (13,500 slices, 150,000 devices): first read, unchanged read again, and two other ways.

In one run and on one machine: ours; the official client's models with `bulk_create(update_conflicts)`; and `json.loads` with a
comparison of resourceVersions. The ways take turns, so that a busy machine is busy for all of them, and of each the fastest turn counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg

from bench.servers import MIB, Measured, Step, migrate, private_postgres, simulated_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

TURNS = 3
# Tables that an unchanged poll may write to: when each kind was seen last.
FRESHNESS = {"clusters_clusterkind"}


@dataclass(frozen=True)
class Found:
    """The fastest turn of each way; of ours also the least that a poll wrote."""

    first: Measured
    again: Measured
    window: Measured
    client: Measured
    loads: Measured


def main() -> None:
    with private_postgres() as database, simulated_cluster("L-slices") as cluster:
        migrate(database)
        measured = measure(Step(database, cluster.url))
    for line in report(measured):
        print(line)


def measure(step: Step) -> Found:
    first = step("sync")
    with psycopg.connect(step.database, autocommit=True) as connection:
        # As autovacuum does sooner or later: rows that are read for the first time are marked so, once.
        connection.execute("VACUUM (ANALYZE)")
    step("resync")
    step("official_client", is_fresh=True)
    turns = [(step("resync"), step("json_loads")) for _ in range(TURNS)]
    client = step("official_client")
    turns += [(step("resync"), step("json_loads"))]
    windows = [step("window") for _ in range(TURNS)]
    return Found(
        first=first,
        again=min((again for again, _ in turns), key=lambda m: m.seconds),
        window=max(windows[1:], key=lambda m: m.wal_bytes),
        client=client,
        loads=min((loads for _, loads in turns), key=lambda m: m.seconds),
    )


def report(found: Found) -> Iterator[str]:
    """Figures and ratios, wall and CPU."""
    yield f"{'':<58}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'WAL bytes':>13}"
    for label, measured in (
        ("first read, everything derived and stored", found.first),
        ("read again, nothing changed", found.again),
        ("watched for 5 s, nothing changed", found.window),
        ("official client and bulk_create, nothing changed", found.client),
        ("json.loads and resourceVersions, nothing changed", found.loads),
    ):
        yield (
            f"{label:<58}{measured.seconds:9.2f}{measured.cpu_seconds:9.2f}"
            f"{measured.peak_bytes / MIB:10.0f}{measured.wal_bytes:13,}"
        )
    yield ""
    for what, other, wanted in (
        ("the official client", found.client, 60),
        ("json.loads", found.loads, 5),
    ):
        wall = other.seconds / found.again.seconds
        cpu = other.cpu_seconds / found.again.cpu_seconds
        yield f"unchanged read, times faster than {what}: {wall:.1f} wall, {cpu:.1f} CPU (wanted {wanted})"
    for what, ours in (("unchanged read", found.again), ("first read", found.first)):
        share = found.client.peak_bytes / ours.peak_bytes
        yield f"peak memory of the {what}: 1/{share:.1f} of the official client's (wanted 1/10)"
    for what, ours in (("read again", found.again), ("5 s watched", found.window)):
        rows = {name: n for name, n in ours.rows_written.items() if name not in FRESHNESS}
        yield (
            f"written by an unchanged poll, {what}: {ours.wal_bytes} bytes of WAL (wanted 1024),"
            f" {sum(rows.values())} rows {rows or ''} beside {ours.rows_written.get('clusters_clusterkind', 0)}"
            " moments of when a kind was seen last"
        )


if __name__ == "__main__":
    main()
