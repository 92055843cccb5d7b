"""The `dradash` command: ours first, then every command that Django and the apps have."""

import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

OVERVIEW = """usage: dradash COMMAND ...

  up              start everything and print the address (what `make run` calls)
  inspect         say what dumps of a cluster hold, without a database
  sync            read every cluster once, now
  token           create, list and revoke API tokens
  changepassword  set somebody's password
  createsuperuser make another administrator
  migrate         bring the database to this version

`dradash COMMAND --help` says more of one, `dradash help` lists Django's own too.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in {"-h", "--help"}:
        sys.stdout.write(OVERVIEW)
        sys.exit(0 if given else 2)
    if given[0] in {"--version", "version"}:
        sys.stdout.write(f"{_version()}\n")
        sys.exit(0)
    command = COMMANDS.get(given[0])
    sys.exit(command(given[1:]) if command else _django(given))


def _version() -> str:
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    version: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    return version


def _up(arguments: Sequence[str]) -> int:
    from dradash.up import command  # noqa: PLC0415 -- each command loads only what it needs

    return command.main(arguments)


def _inspect(arguments: Sequence[str]) -> int:
    from dradash.inspect import command  # noqa: PLC0415 -- each command loads only what it needs

    return command.main(arguments)


def _django(arguments: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 -- needs the line above
    from environs import EnvError  # noqa: PLC0415 -- each command loads only what it needs

    try:
        execute_from_command_line(["dradash", *arguments])
    except EnvError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


# Commands that run without Django's settings, and so without a database.
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"up": _up, "inspect": _inspect}


if __name__ == "__main__":
    main()
