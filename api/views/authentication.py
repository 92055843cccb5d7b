"""Sign-in to the API: a bearer token, or the session of the pages."""

import hashlib
import logging

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from redis.exceptions import RedisError
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from api import tokens
from api.models import APIToken
from ui.addresses import client_address

logger = logging.getLogger(__name__)


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer dradash_…`. Without that header the next way of signing in is tried."""

    def authenticate(self, request: Request) -> tuple[User, APIToken] | None:
        scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now = timezone.now()
        row = tokens.valid_token(token.strip(), now=now)
        if row is None:
            WrongTokens().check(request)
            raise AuthenticationFailed(
                _("This token is not known, has expired, was revoked, or its user is not active.")
            )
        tokens.record_use(row, now=now)
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        has_token = bool(request.headers.get("Authorization"))
        error = ', error="invalid_token"' if has_token else ""
        return f'Bearer realm="dradash"{error}'


class WrongTokens(SimpleRateThrottle):
    """How many wrong tokens a minute one address may send.

    A right token is never refused by this: its 256 bits cannot be guessed, so that counting only spares us the work and the noise.
    For the same reason nothing is refused while Redis cannot count. It is asked where a token has turned out to be wrong, since REST
    framework asks the throttles of a view after sign-in only.
    """

    scope = "wrong_tokens"

    def get_cache_key(self, request: Request, view: APIView | None) -> str:
        del view
        address = hashlib.sha256(client_address(request).encode()).hexdigest()
        return self.cache_format % {"scope": self.scope, "ident": address}

    def check(self, request: Request) -> None:
        """Raises Throttled for one too many."""
        try:
            is_allowed = self.allow_request(request, None)  # type: ignore[arg-type]  # our key needs no view
        except (RedisError, OSError):
            logger.warning("failed API tokens are not counted: Redis does not answer")
            return
        if not is_allowed:
            raise Throttled(self.wait(), _("Too many wrong tokens from this address."))


class QuietSession(SessionAuthentication):
    """The session of the pages. There is nothing to write, so there is nothing to protect against forgery."""

    def enforce_csrf(self, request: Request) -> None:
        del request
