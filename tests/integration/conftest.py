from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission, User
from django.core.cache import caches
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from pytest_django.fixtures import Settings

from tests.factories.api_rows import NOON
from tests.pages import Element, main, parse

SOON = NOON + timedelta(seconds=4)

Visit = Callable[..., Element]
Ask = Callable[..., Any]
Migrate = Callable[[str, str], Any]


@pytest.fixture
def plain_static(settings: Settings) -> None:
    """Static files as they are: the manifest of hashed names is made by collectstatic, which tests do not run."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


@pytest.fixture
def soon(db: None) -> Iterator[None]:
    """Four seconds after all that the factories make was read."""
    with time_machine.travel(SOON, tick=False):
        yield
    caches["memory"].clear()


@pytest.fixture
def viewer(soon: None, plain_static: None) -> Client:
    """Signed in, and allowed to look only."""
    client = Client()
    client.force_login(User.objects.create_user("viewer"))
    return client


@pytest.fixture
def operator(soon: None, plain_static: None) -> Client:
    """May change clusters; its requests need the token that the form holds."""
    user = User.objects.create_user("operator")
    user.user_permissions.add(Permission.objects.get(codename="change_cluster"))
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client


@pytest.fixture
def ask(viewer: Client) -> Ask:
    """The answer to a request of htmx: a live part that asks for itself."""

    def ask(path: str, **headers: str) -> Any:
        return viewer.get(path, headers={"HX-Request": "true", **headers})

    return ask


@pytest.fixture
def visit(viewer: Client) -> Visit:
    """What stands in the middle of a page, which must be there."""

    def visit(path: str) -> Element:
        response = viewer.get(path)
        assert (response.status_code, response["Content-Type"]) == (
            200,
            "text/html; charset=utf-8",
        )
        return main(response)

    return visit


@pytest.fixture
def fragment(ask: Ask) -> Visit:
    """What htmx gets, which must be there."""

    def fragment(path: str) -> Element:
        response = ask(path)
        assert response.status_code == 200
        return parse(response)

    return fragment


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Migrate]:
    """Brings an app to a migration, and returns its models as they were; at the end everything is as it is now."""
    with connection.cursor() as cursor:
        # Other tests leave rows there: what Django does not manage it does not empty.
        cursor.execute("TRUNCATE objects_objectevent, objects_checkpoint")

    def migrate(app: str, name: str) -> Any:
        executor = MigrationExecutor(connection)
        return executor.migrate([(app, name)]).apps

    yield migrate
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
