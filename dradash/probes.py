"""Is this process alive, and can it do its work? Without sign-in, and without naming a host or a version."""

from collections.abc import Callable

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError, InterfaceError
from django.http import HttpResponse, JsonResponse
from redis.exceptions import RedisError


def healthz() -> HttpResponse:
    """Alive: touches no database, so that an outage of Postgres restarts nothing."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def readyz() -> JsonResponse:
    """503 with the names of what is missing, else 200."""
    missing = {name: problem for name, probe in PROBES.items() if (problem := probe())}
    status = 503 if missing else 200
    return JsonResponse({"ready": not missing, "missing": missing}, status=status)


def _database() -> str | None:
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        connection.close()
        return "Postgres does not answer"
    return None


def _migrations() -> str | None:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError):
        return "unknown while Postgres does not answer"
    return f"{len(pending)} migrations are not applied" if pending else None


def _redis() -> str | None:
    try:
        cache.get("readyz")
    except (RedisError, OSError):
        return "Redis does not answer"
    return None


PROBES: dict[str, Callable[[], str | None]] = {
    "database": _database,
    "migrations": _migrations,
    "redis": _redis,
}
