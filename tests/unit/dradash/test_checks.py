import dataclasses

import pytest
from django.core.checks import CheckMessage
from pytest_django import Settings

from dradash import checks


def ids(messages: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in messages]


def test_check_without_secret_key_says_what_to_set(settings: Settings) -> None:
    settings.SECRET_KEY = ""

    messages = checks.secret_key_exists(None)

    assert ids(messages) == ["dradash.E001"]
    assert str(messages[0].hint).startswith("Set SECRET_KEY or SECRET_KEY_FILE")


def test_check_with_secret_key_is_silent(settings: Settings) -> None:
    settings.SECRET_KEY = "given"

    assert checks.secret_key_exists(None) == []


@pytest.mark.parametrize(
    ("https", "debug", "expected"),
    [(False, False, ["dradash.W001"]), (True, False, []), (False, True, [])],
)
def test_check_of_https_warns_only_where_passwords_travel(
    settings: Settings, *, https: bool, debug: bool, expected: list[str]
) -> None:
    settings.HTTPS, settings.DEBUG = https, debug

    assert ids(checks.https_is_on(None)) == expected


@pytest.mark.parametrize(("slots", "expected"), [(3, []), (2, ["dradash.W002"])])
def test_check_of_worker_warns_where_clusters_would_take_every_slot(
    settings: Settings, slots: int, expected: list[str]
) -> None:
    settings.WORKER_CLUSTERS = slots
    settings.DRADASH = dataclasses.replace(settings.DRADASH, clusters=("a", "b", "c"))

    assert ids(checks.worker_has_room(None)) == expected


@pytest.mark.parametrize(("window", "expected"), [(25, []), (26, ["dradash.W003"])])
def test_check_of_windows_warns_where_fresh_data_would_be_called_stale(
    settings: Settings, window: int, expected: list[str]
) -> None:
    settings.DRADASH = dataclasses.replace(
        settings.DRADASH, watch_window_seconds=window, stale_after_seconds=30
    )

    assert ids(checks.windows_end_before_data_is_stale(None)) == expected
