"""What `dradash up` with the simulated cluster takes: `python -m bench.running`.

Memory that processes share, such as the buffers of Postgres and what a forked process has from its parent, is counted once (PSS), and
beside it as often as processes map it (RSS).
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Final

import psutil

from dradash.up.address import free_local_port

MOST_BYTES: Final = 450_000_000
START_SECONDS: Final = 180


def main() -> int:
    """Print each program's memory, and 1 when it is too much together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=90, help="to let it run before looking")
    seconds = parser.parse_args().seconds
    port = free_local_port()
    with tempfile.TemporaryDirectory(prefix="dradash-running-", dir="/tmp") as folder:
        process = start(Path(folder), port)
        try:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                ask(f"http://127.0.0.1:{port}/accounts/login/")
                time.sleep(1)
            together = print_memory(psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(60)
    print(f"together: {together / 1e6:.0f} MB, at most {MOST_BYTES / 1e6:.0f}")
    return 0 if together <= MOST_BYTES else 1


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Returns once its first page answers."""
    servers = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "STATIC_FROM_SOURCE"}
    environment = {name: value for name, value in os.environ.items() if name not in servers}
    environment |= {"DRADASH_HOME": str(folder), "DRADASH_ADMIN_PASSWORD": secrets.token_hex(16)}
    printed = folder / "printed"
    with printed.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dradash.cli", "up", "--simulated", "--port", str(port)],
            env=environment,
            stdout=output,
            stderr=output,
        )
    deadline = time.monotonic() + START_SECONDS
    while b"DRA-Dash is at" not in printed.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(printed.read_text())
        time.sleep(0.2)
    return process


def ask(url: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as answer:
        answer.read()


def print_memory(parent: psutil.Process) -> int:
    """All processes, each with its share; returns the sum of the shares."""
    together = mapped = 0
    print(f"{'share':>8} {'mapped':>8}  MB")
    for process in [parent, *parent.children(recursive=True)]:
        memory = process.memory_full_info()
        together += memory.pss
        mapped += memory.rss
        command = " ".join(process.cmdline()[:6]) or process.name()
        print(f"{memory.pss / 1e6:8.1f} {memory.rss / 1e6:8.1f}  {command[:100]}")
    print(f"{together / 1e6:8.1f} {mapped / 1e6:8.1f}  in all")
    return together


if __name__ == "__main__":
    sys.exit(main())
