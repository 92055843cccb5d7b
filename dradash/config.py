"""Our own settings, read once from the environment into one frozen value.

Reads variables and files that variables name. Knows no Django, so that programs which start without it can use it.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from environs import Env, EnvValidationError, FileAwareEnv, validate
from platformdirs import user_data_path

PoolStatusRequestMode = Literal["auto", "on", "off"]

# sockaddr_un holds 108 bytes on Linux and 104 on macOS, the closing zero included.
SOCKET_PATH_LIMIT_BYTES = 103
LONGEST_SOCKET_NAME = ".s.PGSQL.5432.lock"
KEY_FILE_NAME = "secret_key"


@dataclass(frozen=True, slots=True)
class DradashConfig:
    """Everything about DRA-Dash that a person may set, apart from what Django itself needs."""

    home: Path
    """Folder that holds the private Postgres, Redis, keys and logs; only its owner can read it."""

    clusters: tuple[str, ...]
    """Kubeconfig contexts or paths of kubeconfig files; empty means: find one."""

    simulated: bool
    """Watch the bundled simulated cluster, whatever else is there."""

    simulator_url: str | None
    """Where the simulated cluster listens; set by `dradash up` when it has started one."""

    watch_window_seconds: int
    """How long one watch stays open at most, where nothing changes; the server sends no bookmark in windows shorter than 5 s."""

    stale_after_seconds: int
    """Age from which a cluster's data is called stale."""

    page_refresh_seconds: int
    """How often the live parts of a page ask for news."""

    retention_days: int
    """Days of object history; older partitions are dropped."""

    rollup_retention_days: int
    """Days of hourly pool figures, kept longer than the objects they came from."""

    pool_status_requests: PoolStatusRequestMode
    """Whether ResourcePoolStatusRequests are created; `auto` leaves a person's own kubeconfig read-only."""

    pool_status_interval_seconds: int
    pool_status_timeout_seconds: int


def read_config() -> DradashConfig:
    """What the environment says; raises `environs.EnvError` naming the variable that is wrong."""
    env = FileAwareEnv(strip_whitespace=True)
    with env.prefixed("DRADASH_"):
        return DradashConfig(
            home=_home(env),
            clusters=_clusters(env),
            simulated=env.bool("SIMULATED", False),
            simulator_url=env.str("SIMULATOR_URL", "") or None,
            watch_window_seconds=env.int(
                "WATCH_WINDOW_SECONDS", 20, validate=validate.Range(min=5, max=300)
            ),
            stale_after_seconds=env.int("STALE_AFTER_SECONDS", 30, validate=_AT_LEAST_ONE),
            page_refresh_seconds=env.int("PAGE_REFRESH_SECONDS", 1, validate=_AT_LEAST_ONE),
            retention_days=env.int("RETENTION_DAYS", 30, validate=_AT_LEAST_ONE),
            rollup_retention_days=env.int("ROLLUP_RETENTION_DAYS", 400, validate=_AT_LEAST_ONE),
            pool_status_requests=_pool_status_request_mode(env),
            pool_status_interval_seconds=env.int(
                "POOL_STATUS_INTERVAL_SECONDS", 300, validate=validate.Range(min=30)
            ),
            pool_status_timeout_seconds=env.int(
                "POOL_STATUS_TIMEOUT_SECONDS", 30, validate=_AT_LEAST_ONE
            ),
        )


def socket_folder(home: Path) -> Path:
    """Where the private servers' sockets are: in `home`, or under /tmp if the path would be too long for a socket."""
    inside = home / "run"
    if len(os.fsencode(inside / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_LIMIT_BYTES:
        return inside
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    return Path("/tmp") / f"dradash-{os.getuid()}-{digest}"  # noqa: S108 -- made with mode 0700 and checked before use


def read_secret_key(home: Path) -> str:
    """`SECRET_KEY`, or the file that `SECRET_KEY_FILE` names, or the key made at the first start; empty if there is none."""
    env = FileAwareEnv(strip_whitespace=True)
    if given := env.str("SECRET_KEY", ""):
        return given
    made = home / KEY_FILE_NAME
    try:
        return made.read_text(encoding="utf-8").strip() if made.is_file() else ""
    except OSError as error:
        raise _wrong(
            f"{made} cannot be read: {error.strerror}. Run this as the user who started DRA-Dash, or set SECRET_KEY."
        ) from error


def given_database_url() -> str:
    """A Postgres of one's own; empty where the private one is meant."""
    return FileAwareEnv(strip_whitespace=True).str("DATABASE_URL", "")


def given_redis_url() -> str:
    """A Redis of one's own; empty where the private one is meant."""
    return FileAwareEnv(strip_whitespace=True).str("REDIS_URL", "")


def database_url(home: Path) -> str:
    """`DATABASE_URL`, or the private server of `dradash up`."""
    return given_database_url() or f"postgresql://dradash@/dradash?host={socket_folder(home)}"


def redis_url(home: Path) -> str:
    """`REDIS_URL`, or the private server of `dradash up`."""
    url = given_redis_url() or f"unix://{socket_folder(home)}/redis.sock?db=0"
    parts = _address("REDIS_URL", url)
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise _wrong("REDIS_URL must start with redis://, rediss:// or unix://.")
    return url


def broker_url(url: str) -> str:
    """The same Redis in the words of Celery, which spells a socket `redis+socket://` and its database `virtual_host`."""
    if not url.startswith("unix://"):
        return url
    parts = urlsplit(url)
    return f"redis+socket://{parts.path}?virtual_host={dict(parse_qsl(parts.query)).get('db', 0)}"


def postgres_settings(
    url: str,
    *,
    connect_timeout_seconds: int,
    statement_timeout_seconds: int,
    lock_timeout_seconds: int,
    pool_size: int = 0,
) -> dict[str, Any]:
    """Django's entry for a `postgresql://` URL; what stands after its `?` goes to libpq as it is.

    With a `pool_size` connections are shared by all threads of the process; without, each thread keeps its own open.
    """
    parts = _address("DATABASE_URL", url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise _wrong(
            "DATABASE_URL must start with postgresql://, as in postgresql://user@host/name."
        )
    given = dict(parse_qsl(parts.query))
    if not parts.path.strip("/") and "service" not in given:
        raise _wrong("DATABASE_URL names no database: postgresql://user@host/name ends with one.")
    host = given.pop("host", None) or unquote(parts.hostname or "")
    limits = (
        f"-c statement_timeout={statement_timeout_seconds}s "
        f"-c lock_timeout={lock_timeout_seconds}s "
        "-c idle_in_transaction_session_timeout=300s "
        # To compile a query of a page takes longer than to run it.
        "-c jit=off"
    )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0 if pool_size else 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": connect_timeout_seconds,
            "application_name": "dradash",
            **given,
            "options": f"{limits} {given.get('options', '')}".strip(),
            # A plan that is kept would go on answering for the moment it was made for (docs/adr/0108).
            "prepare_threshold": None,
            **({"pool": _pool(pool_size, connect_timeout_seconds)} if pool_size else {}),
        },
    }


def _pool(size: int, connect_timeout_seconds: int) -> dict[str, Any]:
    """Of psycopg: one that gives up soon when Postgres is away, since its own attempts come ever further apart."""
    return {
        "min_size": 0,
        "max_size": size,
        "timeout": 30,
        "max_idle": 60,
        "reconnect_timeout": connect_timeout_seconds,
        "num_workers": 1,
    }


_AT_LEAST_ONE = validate.Range(min=1)


def _wrong(sentence: str) -> EnvValidationError:
    return EnvValidationError(sentence, [sentence])


def _address(name: str, url: str) -> SplitResult:
    """The parts of a URL; neither the sentence nor its cause repeats what may hold a password."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- reading it is what fails
    except ValueError:
        raise _wrong(f"{name} is no valid address: look at its host and port.") from None
    return parts


def _home(env: Env) -> Path:
    named = env.str("HOME", "")
    return Path(named).expanduser().absolute() if named else user_data_path("dradash")


def _clusters(env: Env) -> tuple[str, ...]:
    named: list[str] = env.list("CLUSTERS", [])
    return tuple(part.strip() for part in named if part.strip())


def _pool_status_request_mode(env: Env) -> PoolStatusRequestMode:
    one_of = validate.OneOf(["auto", "on", "off"])
    return cast("PoolStatusRequestMode", env.str("POOL_STATUS_REQUESTS", "auto", validate=one_of))
