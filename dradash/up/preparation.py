"""Static files, tables and the first account, brought in step with the code; what is done already is left alone."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from environs import FileAwareEnv

from dradash.up import static_files
from dradash.up.failure import StartFailure

if TYPE_CHECKING:
    from pathlib import Path

    from django.contrib.auth.models import User

ADMIN_NAME = "admin"


def collect_static_files(folder: Path) -> None:
    """Copy, compress and name them by content, if any changed since the last time."""
    if not static_files.are_collected(folder):
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        static_files.remember_collected(folder)


def migrate() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def create_first_admin() -> str | None:
    """An account that may do everything, if there is none; what to tell about it."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    given = FileAwareEnv(strip_whitespace=True).str("DRADASH_ADMIN_PASSWORD", "")
    if given:
        _require_good(given, user=get_user_model()(username=ADMIN_NAME))
    password = given or secrets.token_urlsafe(12)
    users.create_superuser(ADMIN_NAME, password=password)
    if given:
        return f"Sign in as {ADMIN_NAME} with the password in DRADASH_ADMIN_PASSWORD."
    return (
        f"Sign in as {ADMIN_NAME} with the password {password}\n"
        f"It is shown this once; `dradash changepassword {ADMIN_NAME}` sets another."
    )


def _require_good(password: str, *, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise StartFailure(
            f"DRADASH_ADMIN_PASSWORD is not accepted: {' '.join(error.messages)}",
            "Set another one, or none to have one made.",
        ) from error
