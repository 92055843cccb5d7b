import re

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command


def prepare(capsys: pytest.CaptureFixture[str]) -> str:
    call_command("prepare")
    return capsys.readouterr().out


@pytest.mark.django_db
def test_prepare_makes_one_account_and_shows_its_password_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = prepare(capsys)
    second = prepare(capsys)

    shown = re.search(r"Sign in as admin with the password (\S+)\n", first)
    assert shown
    assert authenticate(username="admin", password=shown[1]) == User.objects.get()
    assert second == ""


@pytest.mark.django_db
def test_prepare_takes_the_password_that_is_given_and_does_not_show_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRADASH_ADMIN_PASSWORD", "given by hand")

    told = prepare(capsys)

    assert told == "Sign in as admin with the password in DRADASH_ADMIN_PASSWORD.\n"
    assert authenticate(username="admin", password="given by hand") == User.objects.get()


@pytest.mark.django_db
def test_prepare_with_a_weak_password_makes_nobody_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRADASH_ADMIN_PASSWORD", "a")

    with pytest.raises(
        CommandError, match=r"^DRADASH_ADMIN_PASSWORD is not accepted: .* too short"
    ):
        call_command("prepare")

    assert not User.objects.exists()


@pytest.mark.django_db
def test_prepare_where_somebody_may_administer_makes_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    User.objects.create_superuser("ada", password="x")

    assert (prepare(capsys), User.objects.get().username) == ("", "ada")
