"""Wrong combinations of settings, found by `manage.py check --deploy` and at every start."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

# From the end of one window until what the next one tells is stored, on a busy machine.
BETWEEN_WINDOWS_SECONDS = 5


@register(Tags.security)
def secret_key_exists(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    del app_configs, kwargs
    try:
        settings.SECRET_KEY  # noqa: B018 -- reading it is what fails
    except ImproperlyConfigured:
        return [_no_secret_key()]
    return []


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


@register(Tags.compatibility)
def worker_has_room(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    del app_configs, kwargs
    count = len(settings.DRADASH.clusters)
    if count <= settings.WORKER_CLUSTERS:
        return []
    return [
        Warning(
            f"One worker cannot follow {count} clusters and do everything else besides.",
            hint=f"Set WORKER_CONCURRENCY to {-(-count * 4 // 3)} or more, or start more workers.",
            id="dradash.W002",
        )
    ]


@register(Tags.compatibility)
def windows_end_before_data_is_stale(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Where nothing changes, the end of a window is what tells how fresh a cluster's data is."""
    del app_configs, kwargs
    window = settings.DRADASH.watch_window_seconds
    least = window + BETWEEN_WINDOWS_SECONDS
    if settings.DRADASH.stale_after_seconds >= least:
        return []
    return [
        Warning(
            f"With watch windows of {window} s, data that is fresh is called stale.",
            hint=f"Set DRADASH_STALE_AFTER_SECONDS to {least} or more, or shorten the windows.",
            id="dradash.W003",
        )
    ]


def _no_secret_key() -> CheckMessage:
    return Error(
        "SECRET_KEY is not set.",
        hint=(
            "Set SECRET_KEY or SECRET_KEY_FILE to 50 random characters. `make run` makes its own in DRADASH_HOME, "
            f"which is {settings.DRADASH.home} here: if it was started with another, set that one."
        ),
        id="dradash.E001",
    )
