"""One moment of the database for one answer, and who asks for it.

Every page and every API answer is read in one read-only transaction, which sees the database as it was at its first query. So the
figures of an answer agree with each other and with its ETag, whatever is written meanwhile.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from django.db import connection, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

# The Postgres schema whose views have the names of the tables of `public`, and their rows as of `dradash.at`.
PAST_SCHEMA: Final = "past"

_FIRST: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# A transaction that has begun cannot change how it sees the database any more.
_LATER: Final = "SET TRANSACTION READ ONLY"
_AS_OF: Final = "SELECT set_config('search_path', %s, true), set_config('dradash.at', %s, true)"

Role = Literal["viewer", "admin"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks. Everybody who is signed in sees everything."""

    # None: nobody has signed in.
    user_id: int | None
    role: Role


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a query reads for whom; the first argument of every query."""

    viewer: Viewer
    # When the answer is made. What is called stale or long ago is so from here.
    now: datetime
    # None: as things are now.
    at: datetime | None = None

    @property
    def moment(self) -> datetime:
        """The moment that the answer is about."""
        return self.at or self.now


def viewer_of(user: AbstractBaseUser | AnonymousUser) -> Viewer:
    """The person, or the token's owner, behind a request."""
    is_admin = getattr(user, "is_superuser", False)
    return Viewer(user_id=user.pk, role="admin" if is_admin else "viewer")


@contextmanager
def open_snapshot(
    viewer: Viewer, *, now: datetime, at: datetime | None = None
) -> Iterator[Snapshot]:
    """While the block runs, every query of this thread reads one state of the database, and none writes.

    With `at` they read the rows of that moment. A table that keeps none is then not found, which is better than rows of now.
    Inside of a transaction that has begun, as tests have one around them, it is the state which that one sees.
    """
    is_first = not connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_FIRST if is_first else _LATER)
            if at is not None:
                cursor.execute(_AS_OF, [PAST_SCHEMA, at.isoformat()])
        yield Snapshot(viewer, now, at)
        # Nothing was written. This also ends the settings, where the transaction around goes on.
        transaction.set_rollback(True)
