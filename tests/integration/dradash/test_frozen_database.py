"""What a person and a kubelet see while Postgres is frozen: a server of its own, stopped with SIGSTOP."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest
from django.db import connections
from django.test import Client
from pytest_django import DjangoDbBlocker

from dradash.database_watch import watched_database
from dradash.up import launch, postgres, privileges


class Server:
    def __init__(self, process: psutil.Process) -> None:
        self._process = process

    def send(self, number: signal.Signals) -> None:
        """To the server and to those that it has for each connection."""
        for each in [self._process, *self._process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):  # one whose connection has just ended
                each.send_signal(number)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    folder = Path(os.environ["DRADASH_TEST_FOLDER"]) / f"frozen-{os.getpid()}"
    data = folder / "data"
    data.mkdir(mode=0o700, parents=True)
    privileges.give_folder(folder)
    initialise = [*postgres.initialise_command(data), "--no-sync"]
    subprocess.run(
        launch.command("initdb", folder, initialise, without_root=True),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    serve = postgres.server_command(data, folder, settings={"fsync": "off"})
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            launch.command("postgres", folder, serve, without_root=True), stdout=log, stderr=log
        )
    _wait_until_it_answers(folder)
    running = Server(psutil.Process(process.pid))
    yield running, folder
    running.send(signal.SIGCONT)
    process.send_signal(signal.SIGQUIT)
    process.wait(timeout=30)


def _wait_until_it_answers(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host=str(folder), user=postgres.USER, dbname="postgres").close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


@pytest.fixture
def frozen(
    server: tuple[Server, Path], client: Client, django_db_blocker: DjangoDbBlocker
) -> Iterator[Client]:
    """A browser of somebody whose connection is open when the server stops."""
    running, folder = server
    connection = connections["default"]
    kept = dict(connection.settings_dict)
    client.raise_request_exception = False
    client.cookies["sessionid"] = "a" * 32
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict |= {"HOST": str(folder), "PORT": "", "NAME": "postgres"}
        connection.ensure_connection()
        running.send(signal.SIGSTOP)
        yield client
        running.send(signal.SIGCONT)
        connection.close()
        connection.settings_dict |= kept


def test_readyz_with_a_frozen_database_names_it_within_seconds(frozen: Client) -> None:
    began = time.monotonic()

    answer = frozen.get("/readyz")

    assert time.monotonic() - began < 6
    assert (answer.status_code, answer.json()["missing"]["database"]) == (
        503,
        "Postgres does not answer",
    )


def test_page_with_a_frozen_database_is_503_within_seconds(frozen: Client) -> None:
    began = time.monotonic()

    answer = frozen.get("/pools/")

    assert time.monotonic() - began < 12
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


@pytest.mark.django_db
def test_query_that_is_only_slow_goes_on() -> None:
    with watched_database(seconds=0.1), connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.6), 7")
        row = cursor.fetchone()

    assert row is not None
    assert row[1] == 7
