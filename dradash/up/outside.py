"""Postgres's program, data and socket in a folder that `nobody` can reach.

Only for root on a machine where `nobody` cannot be given the right to pass through root's folders: without setpriv, or without the
capability that it needs. What stays in DRADASH_HOME are links to there.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from dradash.up import privileges
from dradash.up.failure import StartFailure

ROOM = Path("/var/lib/dradash-postgres")
SOCKET = ".s.PGSQL.5432"


def folder_of(data: Path) -> Path:
    """Where the server of a data folder has its things, when that folder is out of its reach."""
    return ROOM / hashlib.sha256(os.fsencode(data)).hexdigest()[:12]


def prepare(data: Path, sockets: Path, *, programs: Iterable[Path]) -> None:
    """Copy the programs there, move the data there, and leave links; may be repeated while no server runs."""
    outside = folder_of(data)
    if (outside / "data").exists() and not data.is_symlink():
        raise StartFailure(
            f"{outside / 'data'} holds the data of an earlier {data}, which is not there any more.",
            f"Move it away to start empty, or use it: ln -s {outside / 'data'} {data}",
        )
    outside.mkdir(mode=0o755, parents=True, exist_ok=True)
    for folder in programs:
        _copy_for_all(folder, outside / folder.name)
    if data.is_dir() and not data.is_symlink():
        shutil.move(data, outside / "data")
    _link(data, outside / "data")
    owned = outside / "sockets"
    owned.mkdir(mode=0o700, exist_ok=True)
    privileges.give_folder(owned)
    _link(sockets / SOCKET, owned / SOCKET)


def _copy_for_all(folder: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755)


def _link(place: Path, target: Path) -> None:
    if not place.is_symlink():
        place.symlink_to(target)
