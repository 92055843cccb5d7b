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
import redis
from django.conf import settings
from django.db import DatabaseError, connection
from environs import EnvError
from psycopg import sql

from dradash import config
from dradash.up import postgres, preparation
from dradash.up.address import Address, answers, parse_address
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder
from dradash.up.programs import STARTER_FAILED, Markers

# Our own may have a crash to recover from; one that is named is there, or its name is wrong.
PRIVATE_SERVER_SECONDS = 60
NAMED_SERVER_SECONDS = 20
SILENT_SECONDS = 3
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
    from dradash.up import watched  # noqa: PLC0415 -- imports models, which need `django.setup`

    markers = Markers(home.run)
    watching = watched.describe(settings.DRADASH)
    # What may be named wrongly comes before what takes seconds.
    if config.given_database_url():
        wait_for_postgres()
    if config.given_redis_url():
        wait_for_redis()
    preparation.collect_static_files(home.static)
    markers.pages_ready.touch()
    wait_for_postgres()
    wait_for_redis()
    preparation.migrate()
    if told := preparation.create_first_admin():
        print(f"\n{told}", flush=True)
    print(f"\n{watching}", flush=True)
    # The worker takes a second of processor time to load: after the page that somebody waits for.
    wait_for_page(address, logs=home.logs)
    markers.work_ready.touch()


def wait_for_postgres() -> None:
    """Until it takes connections; makes the database if the server is our own."""
    private = not config.given_database_url()
    attempt: Callable[[], None] = _make_database if private else connection.ensure_connection
    wait_for("Postgres", "DATABASE_URL", attempt, is_private=private)


def wait_for_redis() -> None:
    """Until it takes commands: without it nobody can sign in, and nothing is read."""
    with redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2, retry=None
    ) as client:
        wait_for("Redis", "REDIS_URL", client.ping, is_private=not config.given_redis_url())


def wait_for(
    server: str,
    variable: str,
    attempt: Callable[[], object],
    *,
    is_private: bool,
    silent_seconds: float = SILENT_SECONDS,
    named_seconds: float = NAMED_SERVER_SECONDS,
) -> None:
    """Try until it answers; says after a while what is waited for, and raises StartFailure in the end."""
    began = time.monotonic()
    limit = PRIVATE_SERVER_SECONDS if is_private else named_seconds
    has_said_so = False
    while (error := _failure_of(attempt)) is not None:
        waited = time.monotonic() - began
        if waited > limit:
            raise _absence(server, variable, error, is_private=is_private) from error
        if waited > silent_seconds and not has_said_so:
            named = "" if is_private else f", which {variable} names"
            print(f"Waiting for {server}{named}: {_first_line(error)} …", flush=True)
            has_said_so = True
        time.sleep(POLL_SECONDS)


def _failure_of(attempt: Callable[[], object]) -> Exception | None:
    try:
        attempt()
    except (DatabaseError, psycopg.Error, redis.RedisError, OSError) as error:
        return error
    return None


def _absence(server: str, variable: str, error: Exception, *, is_private: bool) -> StartFailure:
    remedy = (
        f"Read logs/{server.lower()}.log in DRADASH_HOME."
        if is_private
        else f"Start it, or correct {variable}."
    )
    return StartFailure(f"{server} does not answer: {_first_line(error)}.", remedy)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".: ")


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
