import pytest
import redis
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from pytest_django import Settings

from dradash import signin
from tests.pages import parse
from tests.series import for_each
from ui.addresses import client_address

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _account(db: None, redis_client: redis.Redis) -> None:
    User.objects.create_user("ada", password=PASSWORD)


def sign_in(
    client: Client, *, name: str = "ada", password: str = PASSWORD, address: str = "192.0.2.7"
) -> bytes:
    answer = client.post(
        "/accounts/login/", {"username": name, "password": password}, REMOTE_ADDR=address
    )
    return b"signed in" if answer.status_code == 302 else answer.content


def fail(client: Client, times: int, *, address: str = "192.0.2.7") -> None:
    for _ in range(times):
        sign_in(client, password="wrong", address=address)


def test_sign_in_with_the_password_leads_to_the_overview(client: Client) -> None:
    answer = client.post("/accounts/login/", {"username": "ada", "password": PASSWORD})

    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_sign_in_leads_to_no_other_site(client: Client) -> None:
    answer = client.post(
        "/accounts/login/?next=https://evil.example.com/",
        {"username": "ada", "password": PASSWORD},
    )

    assert answer["Location"] == "/"


def test_sign_in_after_nine_failures_is_taken(client: Client) -> None:
    fail(client, 9)

    assert sign_in(client) == b"signed in"


def test_sign_in_after_ten_failures_is_refused_with_the_right_password(client: Client) -> None:
    fail(client, 10)

    assert b"Too many failed sign-ins" in sign_in(client)


def test_sign_in_after_failures_counts_another_spelling_of_the_account(client: Client) -> None:
    fail(client, 5)
    for_each(range(5), lambda _: sign_in(client, name="ADA", password="wrong"))

    assert b"Too many failed sign-ins" in sign_in(client)


def test_sign_in_from_another_address_is_not_locked_out(client: Client) -> None:
    fail(client, 10, address="192.0.2.66")

    assert sign_in(client, address="192.0.2.1") == b"signed in"


def test_sign_in_from_an_address_that_tries_many_accounts_is_refused(
    client: Client, redis_client: redis.Redis
) -> None:
    for_each(
        range(signin.FAILURES_PER_ADDRESS),
        lambda number: sign_in(client, name=f"guess-{number}", password="wrong"),
    )

    assert b"Too many failed sign-ins" in sign_in(client)
    assert all(0 < redis_client.ttl(key) <= 3600 for key in redis_client.keys("*signin:*"))


def test_sign_in_while_redis_is_away_is_closed(client: Client, settings: Settings) -> None:
    settings.CACHES = {
        "default": settings.CACHES["default"] | {"LOCATION": "unix:///nowhere/redis.sock"}
    }

    assert b"Sign-in is closed while Redis does not answer" in sign_in(client)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.1, 203.0.113.9", "198.51.100.1"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "", "192.0.2.1"),
    ],
)
def test_client_address_believes_trusted_proxies_only(
    rf: RequestFactory, settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    settings.TRUSTED_PROXY_COUNT = proxies
    request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)

    assert client_address(request) == address


@pytest.mark.django_db
def test_browser_of_a_language_that_is_not_offered_gets_all_in_english(client: Client) -> None:
    page = parse(client.get("/accounts/login/", headers={"accept-language": "zh-CN,zh;q=0.9"}))

    labels = [label.text for label in page.all("label")]
    assert (page.one("html").attributes["lang"], labels) == ("en", ["Name", "Password"])
