"""`dradash inspect` on a dump of the large workload, as `kubectl get -o json` would write it: `python -m bench.dumps`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.servers import MIB
from simulator import workloads


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.json"
        write(dump)
        print(f"a dump of {dump.stat().st_size / 1e6:.0f} MB")
        inspect = [str(Path(sys.executable).with_name("dradash")), "inspect", str(dump)]
        run("dradash inspect --format json", [*inspect, "--format", "json"])
        loads = "import json, sys; json.load(open(sys.argv[1]))"
        run("json.load alone, no answer", [sys.executable, "-c", loads, str(dump)])


def write(dump: Path) -> None:
    """One List of everything but nodes, an object at a time."""
    with dump.open("w") as file:
        file.write('{"apiVersion":"v1","kind":"List","items":[')
        comma = ""
        for each in workloads.make("L"):
            if each["kind"] != "Node":
                file.write(comma + json.dumps(each, separators=(",", ":")))
                comma = ","
        file.write("]}")


def run(label: str, command: list[str]) -> None:
    """Wall and CPU time and peak memory of a program."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    peak = used.ru_maxrss * 1024 / MIB
    print(
        f"{label:<32}{seconds:7.1f} s wall{used.ru_utime + used.ru_stime:7.1f} s CPU{peak:7.0f} MiB"
        f"   exit {process.returncode}"
    )


if __name__ == "__main__":
    main()
