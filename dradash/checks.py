"""Wrong combinations of settings, found by `manage.py check --deploy` and at every start."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

MINIMUM_SECRET_KEY_LENGTH = 32


@register(Tags.security)
def secret_key_exists(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    del app_configs, kwargs
    if settings._wrapped.SECRET_KEY:
        return []
    return [
        Error(
            "SECRET_KEY is not set.",
            hint=(
                "Set SECRET_KEY or SECRET_KEY_FILE to 50 random characters; `make run` makes its own "
                f"in {settings.DRADASH.home}."
            ),
            id="dradash.E001",
        )
    ]


@register(Tags.security, deploy=True)
def https_is_on(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    del app_configs, kwargs
    if settings.HTTPS or settings.DEBUG:
        return []
    return [
        Warning(
            "Passwords and tokens travel in clear text.",
            hint="Put a proxy that speaks https in front and set DRADASH_HTTPS=true.",
            id="dradash.W001",
        )
    ]
