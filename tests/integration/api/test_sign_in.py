from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from api import tokens
from api.models import APIToken
from tests.factories.api_rows import NOON

LATER = NOON + timedelta(days=1)


def ask(token: str, path: str = "/api/v1/pools/") -> Any:
    return Client().get(path, headers={"Authorization": f"Bearer {token}"})


def command(*arguments: str) -> str:
    output = StringIO()
    call_command("token", *arguments, stdout=output)
    return output.getvalue().strip()


@pytest.fixture(autouse=True)
def _no_failures_counted(redis_client: Any) -> None:
    del redis_client


def test_token_of_the_command_signs_in_and_is_stored_as_a_digest_only(user: User) -> None:
    token = command("create", "--user", "ada", "--name", "ci", "--expires-days", "7")

    row = APIToken.objects.get()
    assert ask(token).status_code == 200
    assert (token[:8], len(token), row.prefix, row.name) == ("dradash_", 51, token[8:16], "ci")
    assert token.encode() not in bytes(row.digest)
    assert row.expires_at == row.created_at + timedelta(days=7)


def test_revoked_token_is_listed_and_signs_in_no_more(user: User) -> None:
    token = command("create", "--user", "ada", "--name", "ci")

    assert command("revoke", token[:16]) == f"Revoked {token[8:16]}."

    answer = ask(token)

    assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")
    assert command("list").startswith(f"{token[8:16]}  ada  revoked 20")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create", "--user", "bob"), "There is no user bob."),
        (("revoke", "dradash_abcdefgh"), "No token that is in force begins with abcdefgh."),
        (("list", "--user", "bob"), "There is no user bob."),
        (
            ("create", "--user", "ada", "--expires-days", "0"),
            "Error: argument --expires-days: write a number of days from 1 to 36500",
        ),
    ],
)
def test_command_with_a_wrong_word_says_so(
    user: User, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandError) as raised:
        call_command("token", *arguments)

    assert str(raised.value) == message


def test_command_for_an_inactive_user_refuses(user: User) -> None:
    User.objects.update(is_active=False)

    with pytest.raises(CommandError, match="ada is not active"):
        call_command("token", "create", "--user", "ada")


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer dradash_" + "a" * 43,
        "Bearer dradash_short",
        "Bearer ",
        "Bearer",
        "bearer é",
        "Bearer " + "a" * 5000,
    ],
)
def test_wrong_token_is_refused_with_a_challenge(user: User, authorization: str) -> None:
    response = Client().get("/api/v1/pools/", headers={"Authorization": authorization})

    assert (response.status_code, response["WWW-Authenticate"], response["Content-Type"]) == (
        401,
        'Bearer realm="dradash", error="invalid_token"',
        "application/problem+json",
    )
    assert response.json()["code"] == "authentication_failed"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YWRhOmFkYQ=="}])
def test_no_token_and_no_session_is_refused(db: None, headers: dict[str, str]) -> None:
    response = Client().get("/api/v1/pools/", headers=headers)

    assert (response.status_code, response.json()["code"], response["Cache-Control"]) == (
        401,
        "not_authenticated",
        "no-store",
    )


def test_expired_token_is_refused(user: User) -> None:
    _row, token = tokens.create_token(user, name="", expires_at=LATER, now=NOON)

    assert tokens.valid_token(token, now=LATER - timedelta(seconds=1)) is not None
    assert tokens.valid_token(token, now=LATER) is None


@pytest.mark.parametrize("with_session", [True, False])
def test_inactive_user_is_refused(user: User, token: str, with_session: bool) -> None:
    client = Client(headers={} if with_session else {"Authorization": f"Bearer {token}"})
    client.force_login(user)
    User.objects.update(is_active=False)

    answer = client.get("/api/v1/pools/")

    assert (answer.status_code, answer.json()["title"]) == (401, "Unauthorized")


def test_session_of_the_pages_signs_in(user: User) -> None:
    client = Client()
    client.force_login(user)

    assert client.get("/api/v1/pools/").json()["results"] == []


def test_use_of_a_token_is_written_once_a_minute(user: User) -> None:
    row, _token = tokens.create_token(user, name="", expires_at=None, now=NOON)

    def used_after(seconds: int) -> datetime | None:
        tokens.record_use(row, now=NOON + timedelta(seconds=seconds))
        row.refresh_from_db()
        return row.last_used_at

    written = [used_after(seconds) for seconds in (0, 59, 61)]

    assert written == [NOON, NOON, NOON + timedelta(seconds=61)]


def test_many_wrong_tokens_are_throttled_and_a_right_one_is_not(user: User, token: str) -> None:
    statuses = [ask("dradash_" + "b" * 43).status_code for _ in range(21)]
    last = ask("dradash_" + "b" * 43)

    assert statuses == [401] * 20 + [429]
    assert (last["Retry-After"], last.json()["code"]) == ("60", "throttled")
    assert ask(token).status_code == 200
    assert cache.get("nothing") is None


def test_token_appears_in_no_log(user: User, token: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")

    ask(token)
    ask("dradash_" + "c" * 43)

    assert "status=401" in caplog.text or "Unauthorized" in caplog.text
    assert token[16:] not in caplog.text
    assert "c" * 43 not in caplog.text


def test_method_that_writes_is_not_allowed(api: Client) -> None:
    response = api.post("/api/v1/pools/")

    assert (response.status_code, response["Allow"], response.json()["code"]) == (
        405,
        "GET, HEAD, OPTIONS",
        "method_not_allowed",
    )


def test_options_names_the_methods(api: Client) -> None:
    response = api.options("/api/v1/pools/")

    assert (response.status_code, response["Allow"], response.content) == (
        204,
        "GET, HEAD, OPTIONS",
        b"",
    )


def test_head_has_the_headers_of_get_and_no_body(api: Client) -> None:
    got, head = api.get("/api/v1/pools/"), api.head("/api/v1/pools/")

    assert (head.status_code, head["ETag"], head.content) == (200, got["ETag"], b"")


def test_now_of_the_clock_is_what_expiry_is_held_against(user: User) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    _row, token = tokens.create_token(user, name="", expires_at=past, now=NOON)

    answer = ask(token)

    assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")
