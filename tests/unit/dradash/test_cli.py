import errno
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import psycopg
import pytest

from dradash import command_failures

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


@pytest.mark.parametrize(
    ("word", "hint"), [("fly", ""), ("inspekt", " Did you mean inspect?"), ("startproj", "")]
)
def test_unknown_command_is_told_which_of_ours_is_near(
    tmp_path: Path, word: str, hint: str
) -> None:
    done = dradash(word, DRADASH_HOME=str(tmp_path), SECRET_KEY="x")

    said = f"There is no command “{word}”.{hint} `dradash help` names them all.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_help_names_our_commands_without_settings() -> None:
    done = dradash("--help")

    named = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert (done.returncode, named) == (
        0,
        [
            "up",
            "inspect",
            "sync",
            "token",
            "changepassword",
            "createsuperuser",
            "prepare",
            "migrate",
            "check",
        ],
    )


def test_help_is_the_same_as_a_command() -> None:
    assert dradash("help").stdout == dradash("--help").stdout


def test_help_of_a_command_is_its_own() -> None:
    assert dradash("help", "inspect").stdout == dradash("inspect", "--help").stdout


@pytest.mark.parametrize("asked", ["--version", "version"])
def test_version_is_that_of_the_project(asked: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]

    assert dradash(asked).stdout == f"{project['version']}\n"


def test_no_command_shows_them_and_fails() -> None:
    done = dradash()

    assert (done.returncode, done.stdout) == (2, dradash("--help").stdout)


NOWHERE = {
    "SECRET_KEY": "x",
    "DATABASE_URL": "postgresql://dradash@/dradash?host=/nowhere",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}


@pytest.mark.parametrize(
    "command",
    [
        ("token", "list"),
        ("sync",),
        ("migrate",),
        ("changepassword", "admin"),
    ],
)
def test_command_without_postgres_says_what_to_do(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = dradash(*command, DRADASH_HOME=str(tmp_path), **NOWHERE)

    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        (
            'Postgres does not answer: connection to server on socket "/nowhere/.s.PGSQL.5432" '
            "failed: No such file or directory. Start it, or correct DATABASE_URL.\n"
        ),
    )


def test_command_without_the_private_postgres_says_how_to_start_it(tmp_path: Path) -> None:
    done = dradash("token", "list", DRADASH_HOME=str(tmp_path), SECRET_KEY="x")

    assert (done.returncode, done.stderr.partition(". Start ")[2]) == (
        1,
        "DRA-Dash with `make run`; if it runs, set DRADASH_HOME or DATABASE_URL here as it is there.\n",
    )


@pytest.mark.parametrize("command", ["up", "token"])
def test_command_that_cannot_read_the_key_names_it_and_says_what_to_do(
    tmp_path: Path, command: str
) -> None:
    key = tmp_path / "secret_key"
    # Root may read whatever the mode is, but not this.
    key.symlink_to("/proc/self/mem")

    done = dradash(command, DRADASH_HOME=str(tmp_path))

    assert (done.returncode, done.stdout, done.stderr.strip()) == (
        1,
        "",
        (
            f"{key} cannot be read: Input/output error. "
            "Run this as the user who started DRA-Dash, or set SECRET_KEY."
        ),
    )


@pytest.mark.parametrize("arguments", ["diffsettings", "inspect tests/fixtures/cases"])
def test_output_that_finds_no_room_is_one_sentence(tmp_path: Path, arguments: str) -> None:
    done = subprocess.run(
        f"{sys.executable} manage.py {arguments} >/dev/full",
        shell=True,
        cwd=REPOSITORY,
        env=NO_SETTINGS | {"SECRET_KEY": "x", "DRADASH_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (
        1,
        "No space left on device. Make room and try again.\n",
    )


def test_reader_that_has_enough_ends_the_command_without_a_word(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{sys.executable} manage.py diffsettings --all | true; echo ${{PIPESTATUS[0]}}",
        ],
        cwd=REPOSITORY,
        env=NO_SETTINGS | {"SECRET_KEY": "x", "DRADASH_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.stderr) == ("141\n", "")


def test_interrupt_ends_the_command_without_a_word(tmp_path: Path) -> None:
    """It waits for the other end of a pipe, which this test opens: then it is known to read."""
    pipe = tmp_path / "dump.yaml"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [sys.executable, "manage.py", "inspect", str(pipe)],
            cwd=REPOSITORY,
            env=NO_SETTINGS,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running,
        pipe.open("w"),
    ):
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=60)

    assert (running.returncode, said) == (130, ("", ""))


def test_traceback_is_shown_to_whoever_asks_for_it(tmp_path: Path) -> None:
    done = dradash("migrate", "--traceback", DRADASH_HOME=str(tmp_path), **NOWHERE)

    assert (done.returncode, done.stderr.startswith("Traceback (most recent call last):")) == (
        1,
        True,
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied", "/there/run"),
            "/there/run: Permission denied. Run it as the user whom that belongs to.",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/there/static"),
            "/there/static: No space left on device. Make room and try again.",
        ),
        (EOFError(), "There is nobody to answer the question. Run it in a terminal."),
        (
            psycopg.errors.UndefinedTable('relation "auth_user" does not exist'),
            "The tables are not those of this version of DRA-Dash. Run `dradash migrate` first.",
        ),
        (
            psycopg.errors.DiskFull("could not extend file: No space left on device"),
            "Postgres cannot do it: could not extend file: No space left on device. Its log says more.",
        ),
        (psycopg.errors.UniqueViolation("duplicate key"), None),
        (KeyError("a bug"), None),
    ],
)
def test_explanation_of_what_is_no_bug(error: Exception, said: str | None) -> None:
    assert command_failures.explanation(error) == said
