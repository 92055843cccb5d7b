"""The private Postgres where we are root, and everything of ours is in a folder that root alone can enter."""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dradash.up import folder, launch, outside, postgres, privileges
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="Postgres runs as another user for root alone"
)

START_SECONDS = 60


@pytest.fixture
def home(tmp_path: Path) -> Iterator[HomeFolder]:
    """In a folder of mode 0700, as pytest makes them."""
    home = HomeFolder(tmp_path / "home")
    folder.prepare(home)
    yield home
    shutil.rmtree(outside.folder_of(home.postgres), ignore_errors=True)


@pytest.fixture
def closed_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel's programs, as they are when the clone is root's alone."""
    package = Path(postgres.program("initdb")).parents[2]
    shutil.copytree(package, tmp_path / package.name)
    shutil.copytree(f"{package}.libs", tmp_path / f"{package.name}.libs")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    privileges.can_pass.cache_clear()


@pytest.fixture
def no_setpriv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def nobody() -> int:
    return pwd.getpwnam("nobody").pw_uid


def user_and_data(home: HomeFolder) -> tuple[int, str]:
    """Whom a started server runs as, and where it says that its data is."""
    serve = postgres.server_command(home.postgres, home.sockets, settings={"fsync": "off"})
    started = launch.command("postgres", home.run, serve, without_root=True)
    with subprocess.Popen(started) as server:
        try:
            with connection(home) as opened:
                (data,) = opened.execute("SHOW data_directory").fetchone() or ("",)
            return Path(f"/proc/{server.pid}").stat().st_uid, data
        finally:
            server.terminate()


def connection(home: HomeFolder) -> psycopg.Connection:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(host=str(home.sockets), user=postgres.USER, dbname="postgres")
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.mark.usefixtures("closed_programs")
def test_postgres_passes_through_closed_folders(home: HomeFolder) -> None:
    postgres.initialise(home)

    assert user_and_data(home) == (nobody(), str(home.postgres))
    assert outside.folder_of(home.postgres).exists() is False


@pytest.mark.usefixtures("closed_programs", "no_setpriv")
def test_postgres_without_setpriv_runs_where_it_can_reach(home: HomeFolder) -> None:
    postgres.initialise(home)

    expected = outside.folder_of(home.postgres) / "data"
    assert user_and_data(home) == (nobody(), str(expected))
    assert home.postgres.readlink() == expected


@pytest.mark.usefixtures("closed_programs")
def test_data_moves_along_when_setpriv_is_gone(
    home: HomeFolder, request: pytest.FixtureRequest
) -> None:
    postgres.initialise(home)
    (home.postgres / "of_before").touch()
    request.getfixturevalue("no_setpriv")
    privileges.can_pass.cache_clear()

    postgres.initialise(home)

    assert user_and_data(home) == (
        nobody(),
        str(outside.folder_of(home.postgres) / "data"),
    )
    assert (home.postgres / "of_before").exists()


@pytest.mark.usefixtures("closed_programs", "no_setpriv")
def test_data_of_a_folder_that_was_removed_is_neither_used_nor_lost(home: HomeFolder) -> None:
    postgres.initialise(home)
    home.postgres.unlink()

    with pytest.raises(StartFailure, match="Move it away to start empty, or use it: ln -s "):
        postgres.initialise(home)

    assert (outside.folder_of(home.postgres) / "data" / "PG_VERSION").exists()
