"""Sign-in that counts failures per account and address, and lets nobody in while it cannot count."""

import hashlib
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from redis.exceptions import RedisError

from ui.addresses import client_address

WINDOW_SECONDS = 3600
FAILURES_PER_ACCOUNT_AND_ADDRESS = 10
FAILURES_PER_ADDRESS = 100


class SignInForm(AuthenticationForm):
    """Refuses before the password is looked at, so that a refused guess tells nothing."""

    error_messages = AuthenticationForm.error_messages | {
        "too_many": _("Too many failed sign-ins. Try again in an hour."),
        "cannot_count": _("Sign-in is closed while Redis does not answer. Try again in a minute."),
    }

    def clean(self) -> dict[str, Any]:
        assert self.request is not None  # noqa: S101 -- the view always gives it
        limits = _limits(self.request, account=self.cleaned_data.get("username", ""))
        try:
            self._refuse_above(limits)
            return self._count_failures(limits)
        except (RedisError, OSError) as error:
            raise self._refusal("cannot_count") from error

    def _refuse_above(self, limits: dict[str, int]) -> None:
        counts = cache.get_many(limits)
        if any(counts.get(key, 0) >= limit for key, limit in limits.items()):
            raise self._refusal("too_many")

    def _count_failures(self, limits: dict[str, int]) -> dict[str, Any]:
        try:
            return super().clean()
        except ValidationError:
            for key in limits:
                cache.add(key, 0, timeout=WINDOW_SECONDS)
                cache.incr(key)
            raise

    def _refusal(self, code: str) -> ValidationError:
        return ValidationError(self.error_messages[code], code=code)


class SignInView(LoginView):
    authentication_form = SignInForm
    redirect_authenticated_user = True


def _limits(request: HttpRequest, *, account: str) -> dict[str, int]:
    address = client_address(request)
    # Hashed, so that neither names nor a typed password land in Redis or break the key's syntax.
    pair = hashlib.sha256(f"{account.lower()}\0{address}".encode()).hexdigest()
    alone = hashlib.sha256(address.encode()).hexdigest()
    return {
        f"signin:{pair}": FAILURES_PER_ACCOUNT_AND_ADDRESS,
        f"signin:{alone}": FAILURES_PER_ADDRESS,
    }
