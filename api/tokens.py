"""API tokens: made once, kept as a digest, compared in constant time."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from api.models import APIToken

START = "dradash_"
RANDOM_BYTES = 32
PREFIX_LENGTH = 8
# base64url of 32 bytes.
LENGTH = len(START) + 43
WRITE_USE_EVERY = timedelta(minutes=1)


def create_token(
    user: User, *, name: str, expires_at: datetime | None, now: datetime
) -> tuple[APIToken, str]:
    """The row and the token; the token is known to nobody after this."""
    token = START + secrets.token_urlsafe(RANDOM_BYTES)
    row = APIToken.objects.create(
        user=user,
        name=name,
        prefix=_prefix(token),
        digest=_digest(token),
        created_at=now,
        expires_at=expires_at,
    )
    return row, token


def revoke_tokens(prefix: str, *, now: datetime) -> int:
    """Revoke the tokens with this prefix, and say how many that were."""
    return APIToken.objects.filter(prefix=prefix, revoked_at=None).update(revoked_at=now)


def valid_token(token: str, *, now: datetime) -> APIToken | None:
    """The row of a token that may sign in now, with its user; one query."""
    if not token.startswith(START) or len(token) != LENGTH or not token.isascii():
        return None
    digest = _digest(token)
    rows = APIToken.objects.filter(prefix=_prefix(token)).select_related("user")
    # Every row is compared, so that the time tells nothing of which one it was.
    matching = [row for row in rows if hmac.compare_digest(bytes(row.digest), digest)]
    return next((row for row in matching if _may_sign_in(row, now=now)), None)


def record_use(row: APIToken, *, now: datetime) -> None:
    """Remember that a token was used, at most once a minute, whatever the number of processes."""
    if row.last_used_at is not None and now - row.last_used_at < WRITE_USE_EVERY:
        return
    is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - WRITE_USE_EVERY)
    APIToken.objects.filter(is_due, pk=row.pk).update(last_used_at=now)


def _may_sign_in(row: APIToken, *, now: datetime) -> bool:
    is_expired = row.expires_at is not None and row.expires_at <= now
    return row.revoked_at is None and not is_expired and row.user.is_active


def _prefix(token: str) -> str:
    return token.removeprefix(START)[:PREFIX_LENGTH]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
