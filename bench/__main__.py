"""`make bench`, or `python -m bench [NAME…]`: what DRA-Dash costs, against what a user would otherwise take."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from bench import churn, large, pages
from bench.servers import Step, environment, migrate, private_postgres, simulated_cluster


def measure_large() -> int:
    large.main()
    return 0


def measure_live() -> int:
    """Pages, then churn, over one database: reading the whole workload is what takes long."""
    with private_postgres() as database, simulated_cluster("L") as cluster:
        migrate(database)
        first = Step(database, cluster.url)("sync")
        print(
            f"first read of the whole workload: {first.seconds:.1f} s wall, {first.cpu_seconds:.1f} s CPU,"
            f" {first.peak_bytes >> 20} MiB"
        )
        pages.run(database)
        for line in churn.report(churn.measure(database, cluster)):
            print(line)
    return 0


def measure_kills() -> int:
    """On a Postgres of its own: nobody else may follow its cluster, or stop following it."""
    with private_postgres() as database:
        migrate(database)
        return run_module("kills", **environment(database))


def run_module(name: str, **variables: str) -> int:
    """A measurement that is a program of its own."""
    command = [sys.executable, "-m", f"bench.{name}"]
    return subprocess.run(command, check=False, env={**os.environ, **variables}).returncode


MEASUREMENTS = {
    "large": ("slices of the large workload, against two other ways", measure_large),
    "live": ("pages, API and churn at the whole large workload", measure_live),
    "cpu": (
        "CPU of a page of 50 rows, at the small workload, within a minute",
        lambda: run_module("cpu"),
    ),
    "dumps": (
        "`dradash inspect` on a dump of the large workload",
        lambda: run_module("dumps"),
    ),
    "freshness": (
        "how soon a change of a real API server is on the page; needs Go",
        lambda: run_module("freshness"),
    ),
    "past": (
        "lists as of a moment, among two million closed versions",
        lambda: run_module("past"),
    ),
    "kills": ("100 kills of the worker at random moments", measure_kills),
    "many": (
        "a hundred clusters followed by one worker",
        lambda: run_module("many"),
    ),
    "running": (
        "memory of `make run` with the simulated cluster",
        lambda: run_module("running"),
    ),
    "outages": (
        "Postgres, API server and disk away for a while",
        lambda: run_module("outages"),
    ),
}
BY_DEFAULT = ("large", "live", "dumps")


def main() -> int:
    listed = "\n".join(f"  {name:<12}{words}" for name, (words, _) in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure, and print figures with what they are measured against.",
        epilog=f"{listed}\n\nWithout names: {', '.join(BY_DEFAULT)}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure")
    names = parser.parse_args().names or BY_DEFAULT
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"there is no measurement called {', '.join(unknown)}\n{listed}")
    codes = []
    for name in names:
        words, measure = MEASUREMENTS[name]
        print(f"\n## {name}: {words}\n", flush=True)
        codes.append(measure())
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
