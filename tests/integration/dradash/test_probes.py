import pytest
from django.db import connections
from django.test import Client
from pytest_django import Settings


def test_healthz_without_database_is_ok(client: Client) -> None:
    answer = client.get("/healthz", headers={"host": "10.0.0.7:8000"})

    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_readyz_with_everything_there_is_ready(client: Client) -> None:
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"ready": True, "missing": {}})


@pytest.mark.django_db
def test_readyz_without_redis_names_it(client: Client, settings: Settings) -> None:
    settings.CACHES = {
        "default": settings.CACHES["default"] | {"LOCATION": "unix:///nowhere/redis.sock"}
    }

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (
        503,
        {"ready": False, "missing": {"redis": "Redis does not answer"}},
    )


@pytest.mark.django_db(transaction=True)
def test_readyz_with_a_migration_missing_counts_it(client: Client) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE app = 'sessions' RETURNING name, applied"
        )
        removed = cursor.fetchall()

    answer = client.get("/readyz")

    with connections["default"].cursor() as cursor:
        cursor.executemany(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('sessions', %s, %s)",
            removed,
        )
    assert (answer.status_code, answer.json()["missing"]) == (
        503,
        {"migrations": "1 migrations are not applied"},
    )
