"""Nothing of a cluster leaves without a session, whatever the address and whatever goes wrong."""

from typing import Any, Never

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.test import Client
from django.urls import include, path
from pytest_django import Settings

from clusters.choices import Reach
from tests.addresses import addresses
from tests.factories import api_rows

NUMBER = 4711
NAMES = ("kiwi-cluster", "mango.example.com", "papaya-pool", "lychee-0", "quince-node", "10.9.8.7")


@pytest.fixture
def stored(soon: None, plain_static: None) -> None:
    """A cluster in trouble, with something of everything that has an address of its own."""
    cluster = api_rows.cluster(
        "kiwi-cluster",
        id=NUMBER,
        reach=Reach.UNREACHABLE,
        reach_failure=api_rows.said("10.9.8.7:6443 refused the connection."),
        url="https://10.9.8.7:6443",
    )
    pool = api_rows.pool(
        cluster, "papaya-pool", id=NUMBER, driver="mango.example.com", node_name="quince-node"
    )
    api_rows.device(pool, "lychee-0", id=NUMBER)
    api_rows.resource_slice(pool, "slice-of-papaya-pool", object_id=NUMBER)
    api_rows.status_request(cluster, "for-papaya-pool", id=NUMBER)


@pytest.fixture
def stranger(stored: None) -> Client:
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


def told(answer: Any) -> list[str]:
    """Which of the names stand in an answer, its headers included."""
    text = answer.serialize().decode()
    return [name for name in NAMES if name in text]


def test_page_that_is_missing_names_clusters_to_whoever_is_signed_in(stranger: Client) -> None:
    stranger.force_login(User.objects.create_user("somebody"))

    answer = stranger.get("/nothing/")

    assert (answer.status_code, told(answer)) == (404, ["kiwi-cluster", "10.9.8.7"])


@pytest.mark.parametrize("query", ["", f"?cluster={NUMBER}"])
@pytest.mark.parametrize("method", ["get", "post", "head", "options", "delete"])
def test_no_address_names_anything_of_a_cluster(stranger: Client, method: str, query: str) -> None:
    found = {
        address: told(getattr(stranger, method)(f"{address}{query}"))
        for address in addresses(number=NUMBER)
    }

    assert {"/", f"/pools/{NUMBER}/", f"/api/v1/devices/{NUMBER}/", "/api/something"} <= set(found)
    assert {address: names for address, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "address",
    ["/nothing", "/pools/nothing/", "/static/nothing", "/admin/", "/%00", "/api"],
)
def test_unknown_address_names_nothing_and_is_not_kept(stranger: Client, address: str) -> None:
    answer = stranger.get(address, follow=True)

    assert (answer.status_code, answer["Cache-Control"], told(answer)) == (404, "no-store", [])


def test_missing_page_stands_alone_and_leads_to_sign_in(stranger: Client) -> None:
    answer = stranger.get("/nothing/")

    page = answer.content.decode()
    assert (answer.status_code, answer["Cache-Control"]) == (404, "no-store")
    assert ('class="alone"' in page, '<a href="/accounts/login/">' in page) == (True, True)
    assert "app-nav" not in page


def test_form_without_its_token_is_refused_in_words_and_names_nothing(stranger: Client) -> None:
    answer = stranger.post("/accounts/login/", {"username": "kim", "password": "wrong"})

    assert (answer.status_code, answer["Cache-Control"], told(answer)) == (403, "no-store", [])
    assert "Form refused" in answer.content.decode()


@pytest.mark.parametrize("address", ["/", "/nothing", "/accounts/login/", "/pools/"])
def test_too_many_parameters_are_refused_in_words(stranger: Client, address: str) -> None:
    answer = stranger.get(f"{address}?{'x=1&' * 1001}")

    assert (answer.status_code, answer["Cache-Control"], told(answer)) == (400, "no-store", [])
    assert "More than 1,000 parameters. Ask for less at once." in answer.content.decode()


@pytest.mark.parametrize("address", ["/api/v1/pools/", "/api/v1/", "/api/nothing"])
def test_too_many_parameters_of_the_api_are_a_problem_document(
    stranger: Client, address: str
) -> None:
    answer = stranger.get(f"{address}?{'x=1&' * 1001}")

    assert answer.json() == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "code": "bad_request",
        "detail": "More than 1,000 parameters. Ask for less at once.",
        "instance": address,
    }


@pytest.mark.parametrize(
    "query", ["q=%ff", "q=%c3%28", "%ff=1", "at=-2h&driver=a%80", "a=%ED%A0%80"]
)
@pytest.mark.parametrize("address", ["/pools/", "/nothing", "/accounts/login/"])
def test_parameter_that_is_no_text_is_refused_in_words(
    stranger: Client, caplog: pytest.LogCaptureFixture, address: str, query: str
) -> None:
    answer = stranger.get(f"{address}?{query}")

    assert [each for each in caplog.records if each.exc_info] == []
    assert (answer.status_code, answer["Cache-Control"], told(answer)) == (400, "no-store", [])
    assert "A parameter is no text. Write it in UTF-8." in answer.content.decode()


@pytest.mark.parametrize("address", ["/api/v1/pools/", "/api/v1/devices/42/", "/api/nothing"])
def test_parameter_of_the_api_that_is_no_text_is_a_problem_document(
    stranger: Client, address: str
) -> None:
    answer = stranger.get(f"{address}?q=%ff")

    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "A parameter is no text. Write it in UTF-8.",
    )


def test_form_with_too_many_fields_is_refused_in_words(stored: None) -> None:
    fields = {f"field-{number}": "1" for number in range(1001)}

    answer = Client().post("/accounts/login/", fields)

    assert (answer.status_code, told(answer)) == (400, [])
    assert "More than 1,000 parameters. Ask for less at once." in answer.content.decode()


def fail(request: HttpRequest) -> Never:
    raise {
        "403": PermissionDenied("kiwi-cluster"),
        "404": Http404("kiwi-cluster"),
        "500": RuntimeError("kiwi-cluster"),
    }[request.path.strip("/")]


fail.login_required = False  # type: ignore[attr-defined]  # what Django's decorator sets

urlpatterns = [
    *(path(f"{status}/", fail) for status in ("403", "404", "500")),
    path("", include("dradash.urls")),
]
handler400 = "dradash.errors.bad_request"
handler403 = "dradash.errors.permission_denied"
handler404 = "dradash.errors.not_found"
handler500 = "dradash.errors.server_error"


@pytest.mark.parametrize("status", [403, 404, 500])
def test_page_of_a_failure_names_nothing_and_is_not_kept(
    stranger: Client, settings: Settings, status: int
) -> None:
    settings.ROOT_URLCONF = __name__

    answer = stranger.get(f"/{status}/")

    assert (answer.status_code, answer["Cache-Control"], told(answer)) == (status, "no-store", [])
    assert 'class="alone"' in answer.content.decode()
