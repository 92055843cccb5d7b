from typing import Any

from django.core.management.base import BaseCommand

from dradash.up import preparation


class Command(BaseCommand):
    help = "Bring the tables in step with the code and make the first account; what is done is left alone."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.migrate()
        if told := preparation.create_first_admin():
            self.stdout.write(told)
