"""Ends what an earlier run left behind when all of it was killed at once.

A process counts as ours if it was born when the record says, so that a number that the kernel gave to another program since is never
touched.
"""

import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import psutil

from dradash.up import launch

GRACE_SECONDS = 5.0


class Record(TypedDict):
    """What `launch` writes before it becomes a program."""

    pid: int
    birth: str
    command: list[str]


def end(run: Path) -> list[str]:
    """End every recorded program that still runs, with its children; names of those that did."""
    ended = []
    for file in sorted(run.glob("*.pid")):
        if processes := [each for each in _running(file) if _is_alive(each)]:
            _end(processes)
            ended.append(file.stem)
        file.unlink(missing_ok=True)
    return ended


def remove_stale_lock(data: Path) -> None:
    """Let Postgres start although its lock file names a process: a later, foreign one that got the same number."""
    lock = data / "postmaster.pid"
    try:
        number = int(lock.read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return
    try:
        is_postgres = Path(psutil.Process(number).exe()).name == "postgres"
    except psutil.Error:
        is_postgres = False
    if not is_postgres:
        lock.unlink(missing_ok=True)


def _running(file: Path) -> list[psutil.Process]:
    try:
        record: Record = json.loads(file.read_text())
        born = launch.birth(record["pid"])
        if born is None:
            return list(_group(record["pid"]))
        leader = psutil.Process(record["pid"]) if born == record["birth"] else None
        return [leader, *leader.children(recursive=True)] if leader else []
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return []


def _group(leader: int) -> Iterable[psutil.Process]:
    """A program's children when it is gone itself; the kernel gives its number to nobody while they live."""
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == leader:
                yield process
        except OSError:
            continue


def _is_alive(process: psutil.Process) -> bool:
    """A zombie is only a number that nobody has asked about yet, as happens in containers without an init."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _end(processes: list[psutil.Process]) -> None:
    for process in processes:
        _send(process, signal.SIGTERM)
    _, alive = psutil.wait_procs(processes, timeout=GRACE_SECONDS)
    for process in alive:
        _send(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=GRACE_SECONDS)


def _send(process: psutil.Process, signal_number: int) -> None:
    try:
        process.send_signal(signal_number)
    except psutil.Error:
        return
