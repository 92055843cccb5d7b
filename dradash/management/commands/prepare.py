from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dradash.up import preparation
from dradash.up.failure import StartFailure


class Command(BaseCommand):
    help = "Bring the tables in step with the code and make the first account; what is done is left alone."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.migrate()
        try:
            told = preparation.create_first_admin()
        except StartFailure as failure:
            raise CommandError(str(failure)) from failure
        if told:
            self.stdout.write(told)
