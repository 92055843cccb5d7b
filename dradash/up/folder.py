"""DRADASH_HOME: made, kept to its owner, and used by one running DRA-Dash at a time."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dradash.config import KEY_FILE_NAME, socket_folder
from dradash.up.failure import StartFailure


@dataclass(frozen=True, slots=True)
class HomeFolder:
    """The places inside DRADASH_HOME; only sockets may be elsewhere, when their path would be too long."""

    path: Path

    @property
    def run(self) -> Path:
        """What means something only while DRA-Dash runs."""
        return self.path / "run"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def sockets(self) -> Path:
        return socket_folder(self.path)

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def redis(self) -> Path:
        return self.path / "redis"

    @property
    def static(self) -> Path:
        return self.path / "static"


def prepare(home: HomeFolder) -> None:
    """Make the folders and the key, readable by their owner only."""
    try:
        for folder in (home.path, home.run, home.logs, home.redis, home.static, home.sockets):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (home.path, home.sockets):
            _keep_to_owner(folder)
        _make_secret_key(home.path / KEY_FILE_NAME)
    except OSError as error:
        raise StartFailure(
            f"The data folder {home.path} cannot be used: {error.strerror}"
            f"{f' ({error.filename})' if error.filename else ''}.",
            "Name another one: DRADASH_HOME=/path/of/yours make run.",
        ) from error


@contextmanager
def held(home: HomeFolder) -> Iterator[None]:
    """Hold the folder for this process; the kernel lets go of it when the process ends, however it ends."""
    with (home.run / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            raise StartFailure(
                f"DRA-Dash already runs with the data in {home.path} (process {lock.read().strip()}).",
                "Stop it first, or start this one with another DRADASH_HOME.",
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _keep_to_owner(folder: Path) -> None:
    if folder.stat().st_uid != os.geteuid():
        raise PermissionError(1, "it belongs to another user", str(folder))
    folder.chmod(0o700)


def _make_secret_key(path: Path) -> None:
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
