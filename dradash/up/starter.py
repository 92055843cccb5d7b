"""Waits for the servers, prepares what pages and worker need, waits for the first page and says where it is.

Runs as a program of the supervisor, beside the servers that it waits for. Killed at any point, it starts over.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import django
import psycopg
from django.conf import settings
from django.db import OperationalError, connection
from environs import EnvError
from psycopg import sql

from dradash import config
from dradash.up import postgres, preparation
from dradash.up.address import Address, answers, parse_address
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder
from dradash.up.programs import STARTER_FAILED, Markers

SERVER_SECONDS = 60
PAGE_SECONDS = 120
POLL_SECONDS = 0.05


def main(arguments: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")
    try:
        django.setup()
        address = parse_address(*arguments)
        _prepare(HomeFolder(settings.DRADASH.home), address)
    except (StartFailure, EnvError) as failure:
        print(f"\n{failure}", flush=True)
        return STARTER_FAILED
    print(f"\nDRA-Dash is at {address.url}\nCtrl-C stops it.\n", flush=True)
    return 0


def _prepare(home: HomeFolder, address: Address) -> None:
    markers = Markers(home.run)
    preparation.collect_static_files(home.static)
    markers.pages_ready.touch()
    wait_for_postgres()
    preparation.migrate()
    if told := preparation.create_first_admin():
        print(f"\n{told}", flush=True)
    # Worker and beat take two seconds of processor time to load: after the page that somebody waits for.
    wait_for_page(address, logs=home.logs)
    markers.work_ready.touch()


def wait_for_postgres() -> None:
    """Until it takes connections; makes the database if the server is our own."""
    private = not config.given_database_url()
    attempt: Callable[[], None] = _make_database if private else connection.ensure_connection
    deadline = time.monotonic() + SERVER_SECONDS
    while True:
        try:
            attempt()
        except (OperationalError, psycopg.OperationalError) as error:
            if time.monotonic() > deadline:
                raise StartFailure(
                    f"Postgres does not answer: {str(error).splitlines()[0]}.",
                    "Check DATABASE_URL, or read logs/postgres.log in DRADASH_HOME.",
                ) from error
            time.sleep(POLL_SECONDS)
        else:
            return


def wait_for_page(address: Address, *, logs: Path) -> None:
    host_name = next((name for name in settings.ALLOWED_HOSTS if "*" not in name), "localhost")
    deadline = time.monotonic() + PAGE_SECONDS
    while not answers(address, settings.LOGIN_URL, host_name=host_name.lstrip(".")):
        if time.monotonic() > deadline:
            raise StartFailure(
                f"The pages do not answer at {address.url} after {PAGE_SECONDS} seconds.",
                f"The reason is at the end of {logs / 'web.log'}.",
            )
        time.sleep(POLL_SECONDS)


def _make_database() -> None:
    host = settings.DATABASES["default"]["HOST"]
    with psycopg.connect(
        host=host, user=postgres.USER, dbname="postgres", connect_timeout=2, autocommit=True
    ) as opened:
        query = "SELECT FROM pg_database WHERE datname = %s"
        if opened.execute(query, [postgres.DATABASE]).fetchone() is None:
            opened.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(postgres.DATABASE)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
