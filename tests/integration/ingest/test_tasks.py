"""What the worker says of a database that is away."""

from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection
from structlog.testing import capture_logs

from ingest import tasks

pytestmark = pytest.mark.django_db


def away(*_: Any) -> NoReturn:
    raise OperationalError("connection refused")


def test_database_that_is_away_is_told_once_and_so_is_its_return() -> None:
    with capture_logs() as said:
        with connection.execute_wrapper(away):
            tasks.start_syncs()
            tasks.start_syncs()
        tasks.start_syncs()
        tasks.start_syncs()

    assert [entry["event"] for entry in said] == [
        "the database cannot be reached",
        "the database can be reached again",
    ]
