"""A simulated cluster for measurements, until it is told to stop: `python -m bench.serve L-slices`."""

import signal
import sys
import threading

from simulator import workloads
from simulator.server import start


def main() -> None:
    """Print the address once all objects are there."""
    name, _, only_slices = sys.argv[1].partition("-")
    objects = workloads.make(name)
    if only_slices:
        objects = (each for each in objects if each["kind"] == "ResourceSlice")
    with start(objects) as simulator:
        print(simulator.url, flush=True)  # noqa: T201 -- the answer to the caller
        stopped = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stopped.set())
        stopped.wait()


if __name__ == "__main__":
    main()
