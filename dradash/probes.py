"""Is this process alive, and can it do its work? Without sign-in, and without naming a host or a version."""

import threading
from concurrent.futures import Future

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError, InterfaceError
from django.http import HttpResponse, JsonResponse
from redis.exceptions import RedisError

LIMIT_SECONDS = 2.0
SILENT = {
    "database": "Postgres does not answer",
    "migrations": "unknown while Postgres does not answer",
}


def healthz() -> HttpResponse:
    """Alive: touches no database, so that an outage of Postgres restarts nothing."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def readyz() -> JsonResponse:
    """503 with the names of what is missing, else 200; within seconds, also when Postgres is frozen."""
    asked = _database_probe.ask()
    redis = _redis()
    missing = _problems_of_database(asked) | ({"redis": redis} if redis else {})
    status = 503 if missing else 200
    return JsonResponse({"ready": not missing, "missing": missing}, status=status)


class _DatabaseProbe:
    """Asks in a thread of its own with a fresh connection, one at a time: a frozen Postgres holds one thread, not many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: Future[dict[str, str]] | None = None

    def ask(self) -> Future[dict[str, str]]:
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                threading.Thread(
                    target=_answer, args=[self._asked], name="readyz", daemon=True
                ).start()
            return self._asked


_database_probe = _DatabaseProbe()


def _answer(asked: Future[dict[str, str]]) -> None:
    try:
        trouble = _database()
    except Exception as error:
        connection.close()
        asked.set_exception(error)
    else:
        connection.close()
        asked.set_result(trouble)


def _problems_of_database(asked: Future[dict[str, str]]) -> dict[str, str]:
    try:
        return asked.result(timeout=LIMIT_SECONDS)
    except TimeoutError:
        return SILENT


def _database() -> dict[str, str]:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError):
        return SILENT
    return {"migrations": f"{len(pending)} migrations are not applied"} if pending else {}


def _redis() -> str | None:
    try:
        cache.get("readyz")
    except (RedisError, OSError):
        return "Redis does not answer"
    return None
