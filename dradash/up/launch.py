"""Become a program of ours: `python -m dradash.up.launch NAME RUN_FOLDER [--drop-root] [--outlives-parent] -- COMMAND…`.

Writes down who this process is, so that the next start can find what a crash left behind, and asks the kernel to end it with its
parent. Imports nothing but the standard library: it stands before every program's start.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from dradash.up import privileges

PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> None:
    split = arguments.index("--")
    name, folder, *options = arguments[:split]
    command = list(arguments[split + 1 :])
    (Path(folder) / f"{name}.pid").write_text(json.dumps({"pid": os.getpid(), "command": command}))
    parent = os.getppid()
    owner = privileges.account() if "--drop-root" in options else None
    if owner is not None:
        privileges.become(owner)
    if "--outlives-parent" not in options:
        end_with_parent(parent)
    os.execv(command[0], command)


def end_with_parent(parent: int) -> None:
    """Linux only: have the kernel send SIGTERM when the parent dies, however it dies. Lasts through `exec`."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
