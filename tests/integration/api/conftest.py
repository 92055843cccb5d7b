from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from api import tokens
from tests.factories.api_rows import NOON


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def token(user: User) -> str:
    """Used a moment ago, so that its use is not written again."""
    row, token = tokens.create_token(user, name="", expires_at=None, now=NOON)
    row.last_used_at = NOON + timedelta(days=100_000)
    row.save()
    return token


class WholeClient(Client):
    """Takes each answer to its end, as every server does: a body that is sent from a snapshot holds it until then."""

    def request(self, **request: Any) -> Any:
        response: Any = super().request(**request)
        if response.streaming:
            response.streaming_content = [response.getvalue()]
        return response


@pytest.fixture
def api(token: str) -> Client:
    return WholeClient(headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def get(api: Client) -> Any:
    """The JSON of an answer, which must be 200."""

    def get(path: str, **headers: str) -> Any:
        response = api.get(f"/api/v1/{path}", headers=headers)
        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        return response.json()

    return get


@pytest.fixture
def refused(api: Client) -> Any:
    """Status and problem of an answer, which must be a problem."""

    def refused(path: str, **headers: str) -> tuple[int, Any]:
        response = api.get(f"/api/v1/{path}", headers=headers)
        assert response["Content-Type"] == "application/problem+json"
        assert response.json()["status"] == response.status_code
        return response.status_code, response.json()

    return refused
