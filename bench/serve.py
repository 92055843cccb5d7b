"""A simulated cluster for measurements, until it is told to stop: `python -m bench.serve L-slices`.

SIGUSR1 lets claims of the whole workload come and go for eight minutes; then the moments of all changes are printed, as one line of JSON.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from simulator import workloads
from simulator.server import start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Place = tuple[str, str]
"""Pool and device."""

LIVES_PER_SECOND = 5
SECONDS = 480
# Of these, before anything is measured.
WARM_SECONDS = 60
# From being made until it is gone again.
LIFE_SECONDS = (0.0, 0.3, 1.0, 8.0, 8.5)


def main() -> None:
    """Print the address once all objects are there."""
    name, _, only_slices = sys.argv[1].partition("-")
    places: list[Place] = []
    objects = noting(workloads.make(name), places)
    if only_slices:
        objects = (each for each in objects if each["kind"] == "ResourceSlice")
    with start(objects) as simulator:
        print(simulator.url, flush=True)
        stopped = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stopped.set())
        lives = threading.Thread(target=live, args=(simulator, places), daemon=True)
        signal.signal(signal.SIGUSR1, lambda *_: lives.start())
        stopped.wait()


def noting(objects: Iterable[Any], places: list[Place]) -> Iterator[Any]:
    """The objects, and of network cards that no claim of the workload holds, where each is."""
    held: set[Place] = set()
    for each in objects:
        if each["kind"] == "ResourceSlice" and each["spec"]["driver"] == workloads.NIC:
            spec = each["spec"]
            places += [(spec["pool"]["name"], device["name"]) for device in spec["devices"]]
        if each["kind"] == "ResourceClaim":
            results = each["status"]["allocation"]["devices"]["results"]
            held |= {
                (result["pool"], result["device"])
                for result in results
                if result["driver"] == workloads.NIC
            }
        yield each
    places[:] = [place for place in places if place not in held]


def live(simulator: Any, places: list[Place]) -> None:
    """Five changes of each claim: made, allocated, reserved, given back, gone; then print when each was made."""
    rng = random.Random(3)
    rng.shuffle(places)
    planned = sorted(
        (number / LIVES_PER_SECOND + after, step, number)
        for number in range(LIVES_PER_SECOND * SECONDS)
        for step, after in enumerate(LIFE_SECONDS)
    )
    made: dict[str, float] = {}
    began = time.time()
    for after, step, number in planned:
        time.sleep(max(0.0, began + after - time.time()))
        at = time.time()
        version = change(simulator, places[number], step=step, number=number)
        made[version] = at
    print(json.dumps(made), flush=True)


def change(
    simulator: Any,
    place: Place,
    *,
    step: int,
    number: int,
    driver: str = workloads.NIC,
) -> str:
    """One step in the life of one claim; its resourceVersion."""
    pool, device = place
    node: Any = SimpleNamespace(name=pool)
    rng = random.Random(f"life {number}")
    claim = workloads.allocated_claim(rng, node, driver, device, number=10**6 + number)
    metadata = claim["metadata"]
    if step == len(LIFE_SECONDS) - 1:
        simulator.delete("ResourceClaim", metadata["name"], namespace=metadata["namespace"])
        return str(simulator.log[-1].resource_version)
    if step in {0, 3}:
        del claim["status"]
    if step == 1:
        del claim["status"]["reservedFor"]
    metadata["annotations"] = {"step": str(step)}
    return str(simulator.put(claim)["metadata"]["resourceVersion"])


if __name__ == "__main__":
    main()
