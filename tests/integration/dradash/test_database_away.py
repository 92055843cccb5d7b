"""What a person sees while Postgres is away; the connection goes to a folder without a server."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import Client
from pytest_django import DjangoDbBlocker


@pytest.fixture
def away(client: Client, django_db_blocker: DjangoDbBlocker) -> Iterator[Client]:
    """A browser of somebody who is signed in, while no server listens."""
    connection = connections["default"]
    host = connection.settings_dict["HOST"]
    client.raise_request_exception = False
    client.cookies["sessionid"] = "a" * 32
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict["HOST"] = "/nowhere"
        yield client
        connection.settings_dict["HOST"] = host


@pytest.mark.parametrize("path", ["/pools/", "/?at=2h+ago", "/pools/1/?at=2026-03-01T12:00:00Z"])
def test_page_without_database_is_503_and_comes_back_by_itself(away: Client, path: str) -> None:
    answer = away.get(path)

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database does not answer." in answer.content.decode()


def test_api_without_database_is_a_problem_document(away: Client) -> None:
    answer = away.get("/api/v1/pools/")

    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")


def test_readyz_without_database_names_what_is_missing(away: Client) -> None:
    answer = away.get("/readyz")

    assert (answer.status_code, answer.json()["missing"]["database"]) == (
        503,
        "Postgres does not answer",
    )


def test_healthz_without_database_is_ok(away: Client) -> None:
    answer = away.get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok\n")
