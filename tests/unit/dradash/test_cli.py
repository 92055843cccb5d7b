import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
NO_SETTINGS = {
    name: value
    for name, value in os.environ.items()
    if name not in {"SECRET_KEY", "DATABASE_URL", "REDIS_URL"}
}


def dradash(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env=NO_SETTINGS | environment,
        capture_output=True,
        text=True,
    )


def test_command_of_django_runs_with_our_settings(tmp_path: Path) -> None:
    done = dradash("diffsettings", DRADASH_HOME=str(tmp_path), SECRET_KEY="x")

    assert (done.returncode, "ROOT_URLCONF = 'dradash.urls'" in done.stdout) == (0, True)


def test_command_without_secret_key_says_what_to_set(tmp_path: Path) -> None:
    done = dradash("check", DRADASH_HOME=str(tmp_path))

    assert (done.returncode, "Set SECRET_KEY or SECRET_KEY_FILE" in done.stderr) == (1, True)


def test_inspect_needs_neither_settings_nor_database(tmp_path: Path) -> None:
    done = dradash(
        "inspect",
        "--format",
        "json",
        str(tmp_path),
        DATABASE_URL="mysql://no",
        DRADASH_RETENTION_DAYS="no",
    )

    assert '"pools"' in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "DATABASE_URL",
            "foo",
            "DATABASE_URL must start with postgresql://, as in postgresql://user@host/name.",
        ),
        (
            "DATABASE_URL",
            "postgresql://ada:secret@db:port/x",
            "DATABASE_URL is no valid address: look at its host and port.",
        ),
        (
            "DATABASE_URL",
            "postgresql://db",
            "DATABASE_URL names no database: postgresql://user@host/name ends with one.",
        ),
        ("REDIS_URL", "foo", "REDIS_URL must start with redis://, rediss:// or unix://."),
        (
            "WORKER_CONCURRENCY",
            "many",
            'Environment variable "WORKER_CONCURRENCY" invalid: Not a valid integer.',
        ),
        (
            "LOG_LEVEL",
            "loud",
            (
                'Environment variable "LOG_LEVEL" invalid: '
                "['Must be one of: DEBUG, INFO, WARNING, ERROR, CRITICAL.']"
            ),
        ),
    ],
)
@pytest.mark.parametrize("command", ["up", "check"])
def test_command_with_a_wrong_setting_says_so_in_one_sentence_and_fails(
    tmp_path: Path, command: str, name: str, value: str, sentence: str
) -> None:
    done = dradash(command, DRADASH_HOME=str(tmp_path), PORT="25002", **{name: value})

    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", sentence)


def test_unknown_command_fails(tmp_path: Path) -> None:
    done = dradash("fly", DRADASH_HOME=str(tmp_path), SECRET_KEY="x")

    assert (done.returncode, "Unknown command: 'fly'" in done.stderr) == (1, True)


def test_help_names_our_commands_without_settings() -> None:
    done = dradash("--help")

    named = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert (done.returncode, named) == (
        0,
        ["up", "inspect", "sync", "token", "changepassword", "createsuperuser", "migrate"],
    )


@pytest.mark.parametrize("asked", ["--version", "version"])
def test_version_is_that_of_the_project(asked: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

    assert dradash(asked).stdout == f"{project['version']}\n"


def test_no_command_shows_them_and_fails() -> None:
    done = dradash()

    assert (done.returncode, done.stdout) == (2, dradash("--help").stdout)
