from pathlib import Path

import pytest
from environs import EnvError

from dradash import config
from dradash.config import DradashConfig

NAMES = (
    "CLUSTERS",
    "SIMULATED",
    "SIMULATOR_URL",
    "POOL_STATUS_REQUESTS",
    "WATCH_WINDOW_SECONDS",
)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(f"DRADASH_{name}", raising=False)
    monkeypatch.setenv("DRADASH_HOME", "/somewhere")


def test_read_config_without_variables_returns_defaults() -> None:
    assert config.read_config() == DradashConfig(
        home=Path("/somewhere"),
        clusters=(),
        simulated=False,
        simulator_url=None,
        watch_window_seconds=20,
        stale_after_seconds=30,
        page_refresh_seconds=1,
        retention_days=30,
        rollup_retention_days=400,
        pool_status_requests="auto",
        pool_status_interval_seconds=300,
        pool_status_timeout_seconds=30,
    )


def test_read_config_with_clusters_drops_spaces_and_empty_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRADASH_CLUSTERS", "prod, /etc/kube/lab.yaml,,")

    assert config.read_config().clusters == ("prod", "/etc/kube/lab.yaml")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DRADASH_WATCH_WINDOW_SECONDS", "4"),
        ("DRADASH_WATCH_WINDOW_SECONDS", "soon"),
        ("DRADASH_POOL_STATUS_REQUESTS", "maybe"),
        ("DRADASH_RETENTION_DAYS", "0"),
    ],
)
def test_read_config_with_wrong_value_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(EnvError, match=name):
        config.read_config()


def test_socket_folder_of_short_path_is_inside() -> None:
    assert config.socket_folder(Path("/home/someone/data")) == Path("/home/someone/data/run")


def test_socket_folder_of_long_path_leaves_room_for_every_socket() -> None:
    folder = config.socket_folder(Path("/home") / ("x" * 100))

    assert folder.parent == Path("/tmp")
    assert len(str(folder / config.LONGEST_SOCKET_NAME)) <= config.SOCKET_PATH_LIMIT_BYTES


def test_socket_folder_of_two_long_paths_differs() -> None:
    first, second = (config.socket_folder(Path("/home") / (letter * 100)) for letter in "xy")

    assert first != second


def test_read_secret_key_prefers_variable_then_named_file_then_made_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / config.KEY_FILE_NAME).write_text("made\n")
    (tmp_path / "named").write_text("named\n")
    monkeypatch.delenv("SECRET_KEY", raising=False)

    made = config.read_secret_key(tmp_path)
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "named"))
    named = config.read_secret_key(tmp_path)
    monkeypatch.delenv("SECRET_KEY_FILE")
    monkeypatch.setenv("SECRET_KEY", "given")
    given = config.read_secret_key(tmp_path)

    assert (made, named, given) == ("made", "named", "given")


def test_read_secret_key_without_any_is_empty(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)

    assert config.read_secret_key(tmp_path) == ""


def test_postgres_settings_keep_what_libpq_is_told() -> None:
    settings = config.postgres_settings(
        "postgresql://dra%40x:p%2Fw@db.example.com:6432/fleet?sslmode=verify-full",
        connect_timeout_seconds=5,
        statement_timeout_seconds=60,
        lock_timeout_seconds=10,
    )

    assert settings == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "fleet",
        "USER": "dra@x",
        "PASSWORD": "p/w",
        "HOST": "db.example.com",
        "PORT": "6432",
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            "application_name": "dradash",
            "sslmode": "verify-full",
            "options": (
                "-c statement_timeout=60s -c lock_timeout=10s "
                "-c idle_in_transaction_session_timeout=300s -c jit=off"
            ),
            "prepare_threshold": None,
        },
    }


def test_postgres_settings_of_another_database_are_refused() -> None:
    with pytest.raises(EnvError, match="must start with postgresql://"):
        config.postgres_settings(
            "mysql://db/fleet",
            connect_timeout_seconds=5,
            statement_timeout_seconds=60,
            lock_timeout_seconds=10,
        )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://redis:6379/0", "redis://redis:6379/0"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
    ],
)
def test_broker_url_names_the_same_redis(url: str, expected: str) -> None:
    assert config.broker_url(url) == expected
