"""Sign-in to the API: a bearer token, or the session of the pages."""

import hashlib
import logging

from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext as _
from redis.exceptions import RedisError
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from api import tokens
from api.models import APIToken
from api.problems import RETRY_AFTER_THROTTLED_SECONDS
from ui.addresses import client_address

logger = logging.getLogger(__name__)

FAILURES = 20


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer dradash_…`. Without that header the next way of signing in is tried."""

    def authenticate(self, request: Request) -> tuple[User, APIToken] | None:
        scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now = timezone.now()
        row = tokens.valid_token(token.strip(), now=now)
        if row is None:
            count_failure(client_address(request))
            raise AuthenticationFailed(
                _("This token is not known, has expired, was revoked, or its user is not active.")
            )
        tokens.record_use(row, now=now)
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        has_token = bool(request.headers.get("Authorization"))
        error = ', error="invalid_token"' if has_token else ""
        return f'Bearer realm="dradash"{error}'


def count_failure(address: str) -> None:
    """Raises Throttled above FAILURES wrong tokens in a minute from one address.

    A right token is never refused by this: its 256 bits cannot be guessed, so that counting only spares us the work and the noise.
    For the same reason nothing is refused while Redis cannot count.
    """
    key = "api-token:" + hashlib.sha256(address.encode()).hexdigest()
    try:
        cache.add(key, 0, timeout=RETRY_AFTER_THROTTLED_SECONDS)
        failures = cache.incr(key)
    except (RedisError, OSError, ValueError):
        logger.warning("failed API tokens are not counted: Redis does not answer")
        return
    if failures > FAILURES:
        raise Throttled(detail=_("Too many wrong tokens from this address."))


class QuietSession(SessionAuthentication):
    """The session of the pages. There is nothing to write, so there is nothing to protect against forgery."""

    def enforce_csrf(self, request: Request) -> None:
        del request
