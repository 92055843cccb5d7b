"""Commands that need Django's settings: ours and Django's own. Of the latter none is offered to whoever mistypes one of ours."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from django.core.management import ManagementUtility, get_commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.management.base import BaseCommand

MISUSED: Final = 2


class Commands(ManagementUtility):
    """`offered` are the names that the overview has."""

    def __init__(self, arguments: Sequence[str], *, offered: Sequence[str]) -> None:
        super().__init__(["dradash", *arguments])
        self._offered = offered

    def fetch_command(self, subcommand: str) -> BaseCommand:
        if subcommand not in get_commands():
            near = get_close_matches(subcommand, self._offered, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            sys.stderr.write(
                f"There is no command “{subcommand}”.{hint} `dradash help` names them all.\n"
            )
            sys.exit(MISUSED)
        return super().fetch_command(subcommand)
