import hypothesis
import pytest
from django.conf import settings

from tests import services

# A busy machine is no failure: properties are judged by what they say, not by how long one example takes.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_configure() -> None:
    # A hash that is slow on purpose takes a second of every test that signs in.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """pytest-django asks for this before it makes its databases."""
    del django_db_modify_db_settings_parallel_suffix
    services.start_postgres()


@pytest.fixture(autouse=True)
def _redis_beside_database(request: pytest.FixtureRequest) -> None:
    """What may use the database may use Redis; tests of the core start neither."""
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("redis_server_url")
