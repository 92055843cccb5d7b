"""Many simulated clusters in one process: `python -m bench.serve_many COUNT CHANGING`.

Prints the addresses as one line of JSON. Each line on standard input is an order: `change SECONDS` has each of the first CHANGING
clusters change once a second, and prints when each change was made; `hang N` and `garble N` spoil one cluster from then on.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from bench.serve import LIFE_SECONDS, change
from simulator import workloads
from simulator.server import start

if TYPE_CHECKING:
    from simulator.cluster import Simulator

_FOREVER_SECONDS: Final = 1e6


def main() -> None:
    """Serve until standard input ends."""
    count, changing = int(sys.argv[1]), int(sys.argv[2])
    objects = list(workloads.make("S"))
    with ExitStack() as stack:
        clusters = [
            stack.enter_context(start(objects, seed=random.randrange(1 << 30)))
            for _ in range(count)
        ]
        print(json.dumps([each.url for each in clusters]), flush=True)
        for line in sys.stdin:
            order, number = line.split()
            if order == "change":
                told = threading.Thread(
                    target=change_all, args=(clusters[:changing], int(number)), daemon=True
                )
                told.start()
            else:
                spoil(clusters[int(number)], order)


def spoil(cluster: Simulator, how: Any) -> None:
    """From now on every answer of this cluster hangs, or is garbage; open watches are cut."""
    cluster.fail(".*", how, seconds=_FOREVER_SECONDS, after_bytes=0)
    cluster.http.cut_connections()


def change_all(clusters: list[Simulator], seconds: int) -> None:
    """One change a second in each; then print address, resourceVersion and moment of all."""
    # What no claim of the workload holds.
    places = [(f"node-{node:05d}", f"gpu-{card}") for node in range(90, 100) for card in range(8)]
    made: list[tuple[str, str, float]] = []
    began = time.time()
    for second in range(seconds):
        for number, cluster in enumerate(clusters):
            due = began + second + number / len(clusters)
            time.sleep(max(0.0, due - time.time()))
            life, step = divmod(second, len(LIFE_SECONDS))
            at = time.time()
            version = change(
                cluster, places[life % len(places)], step=step, number=life, driver=workloads.GPU
            )
            made.append((cluster.url, version, at))
    print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
