"""What a page costs in CPU of its own process, over the small workload: `python -m bench cpu`, or `python -m bench.cpu` with DATABASE_URL set.

A minute in all, so that a change of a template can be measured before and after it. The whole large workload is measured by `bench.pages`.
"""

from __future__ import annotations

import os
import subprocess
import sys

from bench import pages
from bench.servers import Step, environment, migrate, private_postgres, simulated_cluster

# The address, and the most CPU in milliseconds that a page of 50 rows may take.
PAGES = {
    "pools": ("/pools/", 15.0),
    "devices": ("/devices/", 15.0),
    "slices": ("/resource-slices/", 15.0),
    "nodes": ("/nodes/", 15.0),
}
TIMES = 100


def main() -> int:
    if "DATABASE_URL" in os.environ:
        return _measure()
    with private_postgres() as database, simulated_cluster("S") as cluster:
        migrate(database)
        Step(database, cluster.url)("sync")
        command = [sys.executable, "-m", "bench.cpu"]
        return subprocess.run(command, check=False, env=environment(database)).returncode


def _measure() -> int:
    import django

    django.setup()
    too_dear = 0
    client = pages.signed_in()
    for name, (url, most) in PAGES.items():
        asked = pages.ask(client, name, url, headers={}, times=TIMES)
        print(f"{pages.line(asked)}  at most {most:.0f} ms CPU", flush=True)
        too_dear += asked.cpu > most
    return 1 if too_dear else 0


if __name__ == "__main__":
    raise SystemExit(main())
