"""Prepares static files, tables and the first account, then waits for the first page and says where it is.

Runs as a program of the supervisor, beside the servers that it waits for. Killed at any point, it starts over and repeats nothing
that is done.
"""

import hashlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import django
import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from dradash.up import postgres
from dradash.up.address import Address, answers, parse_address
from dradash.up.failure import StartFailure
from dradash.up.folder import HomeFolder
from dradash.up.programs import STARTER_FAILED, Markers

ADMIN_NAME = "admin"
SERVER_SECONDS = 60
PAGE_SECONDS = 120
POLL_SECONDS = 0.05


def main(arguments: Sequence[str]) -> int:
    address = parse_address(*arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")
    django.setup()
    home = HomeFolder(settings.DRADASH.home)
    markers = Markers(home.run)
    try:
        collect_static_files(home.static)
        markers.pages_ready.touch()
        prepare_database()
        password = create_first_admin()
        markers.tables_ready.touch()
        wait_for_page(address, logs=home.logs)
    except StartFailure as failure:
        print(f"\n{failure}", flush=True)
        return STARTER_FAILED
    print(greeting(address.url, password=password), flush=True)
    return 0


def collect_static_files(folder: Path) -> None:
    """Copy, compress and name them by content, if any changed since the last time."""
    stamp = folder / ".collected"
    current = _static_fingerprint()
    if stamp.exists() and stamp.read_text() == current:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(current)


def prepare_database() -> None:
    """Wait for Postgres, make the private database, and bring the tables in step with the code."""
    private = not os.environ.get("DATABASE_URL")
    _wait_for_postgres(_make_private_database if private else connection.ensure_connection)
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def create_first_admin() -> str | None:
    """An account that may do everything, if there is none; its password, if it was made here."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    given = os.environ.get("DRADASH_ADMIN_PASSWORD")
    password = given or secrets.token_urlsafe(12)
    users.create_superuser(ADMIN_NAME, password=password)
    return None if given else password


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


def greeting(url: str, *, password: str | None) -> str:
    lines = ["", f"DRA-Dash is at {url}"]
    if password:
        lines += [
            f"Sign in as {ADMIN_NAME} with the password {password}",
            f"It is shown once; `.venv/bin/dradash changepassword {ADMIN_NAME}` sets another.",
        ]
    return "\n".join([*lines, "Ctrl-C stops it.", ""])


def _static_fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _wait_for_postgres(attempt: Callable[[], None]) -> None:
    deadline = time.monotonic() + SERVER_SECONDS
    while True:
        try:
            attempt()
        except (django.db.OperationalError, psycopg.OperationalError) as error:
            if time.monotonic() > deadline:
                raise StartFailure(
                    f"Postgres does not answer: {str(error).splitlines()[0]}.",
                    "Check DATABASE_URL, or read logs/postgres.log in DRADASH_HOME.",
                ) from error
            time.sleep(POLL_SECONDS)
        else:
            return


def _make_private_database() -> None:
    server = connection.get_connection_params() | {"dbname": "postgres", "autocommit": True}
    for name in ("cursor_factory", "context", "prepare_threshold", "server_side_binding"):
        server.pop(name, None)
    with psycopg.connect(**server) as opened:
        query = "SELECT FROM pg_database WHERE datname = %s"
        if opened.execute(query, [postgres.DATABASE]).fetchone() is None:
            opened.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(postgres.DATABASE)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
