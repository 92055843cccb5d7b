"""`dradash token create|list|revoke`: keys for programs that use the REST API."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from api import tokens
from api.models import APIToken


class Command(BaseCommand):
    help = "Make, list and revoke API tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="create|list|revoke")
        create = actions.add_parser("create", help="Make a token and print it, this once.")
        create.add_argument("--user", required=True, help="Whose rights the token has.")
        create.add_argument("--name", default="", help="What it is for; shown in the list.")
        create.add_argument(
            "--expires-days", type=_days, metavar="N", help="Without it: never, until revoked."
        )
        listing = actions.add_parser("list", help="Show all tokens by their first characters.")
        listing.add_argument("--user", help="Only this person's.")
        revoke = actions.add_parser("revoke", help="Make a token useless from now on.")
        revoke.add_argument("prefix", help="Its first characters, as the list shows them.")

    def handle(self, *args: Any, **options: Any) -> None:
        match options["action"]:
            case "create":
                self._create(options["user"], name=options["name"], days=options["expires_days"])
            case "list":
                self._list(options["user"])
            case _:
                self._revoke(options["prefix"])

    def _create(self, username: str, *, name: str, days: int | None) -> None:
        user = _user(username)
        if not user.is_active:
            raise CommandError(f"{username} is not active, so a token would not sign in.")
        now = timezone.now()
        expires_at = None if days is None else now + timedelta(days=days)
        _row, token = tokens.create_token(user, name=name, expires_at=expires_at, now=now)
        self.stdout.write(token)

    def _list(self, username: str | None) -> None:
        rows = APIToken.objects.select_related("user")
        if username is not None:
            rows = rows.filter(user=_user(username))
        now = timezone.now()
        for row in rows:
            cells = (row.prefix, row.user.get_username(), _state(row, now=now), row.name)
            self.stdout.write(_printable("  ".join(cells)).rstrip())

    def _revoke(self, prefix: str) -> None:
        text = prefix.removeprefix(tokens.START)[: tokens.PREFIX_LENGTH]
        count = tokens.revoke_tokens(text, now=timezone.now())
        if not count:
            raise CommandError(f"No token that is in force begins with {text}.")
        self.stdout.write(f"Revoked {text}.")


def _printable(text: str) -> str:
    """A token's name may hold what moves the cursor of a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _user(username: str) -> User:
    try:
        return User.objects.get_by_natural_key(username)
    except User.DoesNotExist as error:
        raise CommandError(f"There is no user {username}.") from error


def _state(row: APIToken, *, now: Any) -> str:
    if row.revoked_at is not None:
        return f"revoked {row.revoked_at:%Y-%m-%d}"
    if row.expires_at is not None and row.expires_at <= now:
        return f"expired {row.expires_at:%Y-%m-%d}"
    used = f"last used {row.last_used_at:%Y-%m-%d %H:%M}" if row.last_used_at else "never used"
    expiry = f"until {row.expires_at:%Y-%m-%d}" if row.expires_at else "without expiry"
    return f"{expiry}, {used}"


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 36_500:
        raise ArgumentTypeError("write a number of days from 1 to 36500")
    return int(text)
