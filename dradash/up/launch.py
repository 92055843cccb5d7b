"""Become a program of ours: `python -m dradash.up.launch [options] NAME RUN_FOLDER COMMAND…`.

Waits for its turn, writes down who this process is, so that the next start can find what a crash left behind, and asks the kernel to
end it with its parent. Loads nothing but the standard library: it stands before every program's start.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.05


def main(arguments: Sequence[str]) -> None:
    given = _parser().parse_args(arguments)
    parent = os.getppid()
    _write_record(Path(given.run) / f"{given.name}.pid", given.command)
    program = _without_root(given.command) if given.without_root else given.command
    if given.end_with_parent:
        end_with_parent(parent, signal.Signals[given.end_with_parent])
    while given.after and not Path(given.after).exists():
        time.sleep(POLL_SECONDS)
    os.execv(program[0], program)


def _without_root(program: list[str]) -> list[str]:
    from dradash.up import privileges  # noqa: PLC0415 -- one program of many needs it

    owner = privileges.account()
    if owner is None:
        return program
    if privileges.can_pass(Path(program[0])):
        return privileges.passing(owner, program)
    try:
        privileges.become(owner)
    except OSError as error:
        sys.exit(f"It does not run as root, and may not become {owner.pw_name}: {error.strerror}.")
    return program


def command(
    name: str,
    run: Path,
    program: Sequence[str],
    *,
    without_root: bool = False,
    ends_with_parent: str | None = None,
    after: Path | None = None,
) -> list[str]:
    """The command line that starts `program` through this module."""
    options = ["--without-root"] if without_root else []
    options += ["--end-with-parent", ends_with_parent] if ends_with_parent else []
    options += ["--after", str(after)] if after else []
    return [sys.executable, "-m", "dradash.up.launch", *options, name, str(run), *program]


def end_with_parent(parent: int, signal_number: signal.Signals) -> None:
    """Linux only: have the kernel send a signal when the parent dies, however it dies. Lasts through `exec`."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-root", action="store_true", help="as root, become nobody first")
    parser.add_argument(
        "--end-with-parent", metavar="SIGNAL", help="what the parent's death sends"
    )
    parser.add_argument("--after", metavar="FILE", help="wait until this file exists")
    parser.add_argument("name")
    parser.add_argument("run")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def _write_record(file: Path, program: Sequence[str]) -> None:
    """Before root is given up, in a folder that is root's alone."""
    record = {"pid": os.getpid(), "birth": birth(os.getpid()), "command": list(program)}
    file.write_text(json.dumps(record), encoding="utf-8")


def birth(pid: int) -> str | None:
    """What tells a process from a later one with the same number; None if there is no such process.

    Not a time of day: clocks are set.
    """
    if sys.platform != "linux":
        printed = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True
        ).stdout
        return printed.strip() or None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {fields[19]}"


if __name__ == "__main__":
    main(sys.argv[1:])
