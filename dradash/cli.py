"""The `dradash` command."""

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
  prepare         bring the database to this version, and make the first account
  migrate         bring the database to this version
  check           find wrong combinations of settings

`dradash COMMAND --help` says more of one.
"""

OFFERED = [line.split()[0] for line in OVERVIEW.splitlines() if line.startswith("  ")]

FAILED, MISUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # `… | head` has read enough.
        _write_no_more()
        code = PIPE_CLOSED
    except Exception as error:
        if "--traceback" in given:
            raise
        code = _explain(error)
    sys.exit(code)


def _run(given: list[str]) -> int:
    match given:
        case [] | ["-h" | "--help" | "help"]:
            sys.stdout.write(OVERVIEW)
            return 0 if given else MISUSED
        case ["--version" | "version"]:
            sys.stdout.write(f"{_version()}\n")
            return 0
        case ["help", name, *_]:
            return _run([name, "--help"])
        case [name, *arguments] if command := COMMANDS.get(name):
            return command(arguments)
        case _:
            return _django(given)


def _explain(error: Exception) -> int:
    from dradash.command_failures import explanation  # noqa: PLC0415 -- only a failure needs it

    said = explanation(error)
    if said is None:
        raise error
    sys.stderr.write(f"{said}\n")
    _write_no_more()
    return FAILED


def _write_no_more() -> None:
    """What could not be written is not tried again by the interpreter when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    from dradash.management_commands import Commands  # noqa: PLC0415 -- needs the line above

    Commands(arguments, offered=OFFERED).execute()
    return 0


# Commands that run without Django's settings, and so without a database.
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"up": _up, "inspect": _inspect}


if __name__ == "__main__":
    main()
