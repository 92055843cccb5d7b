from typing import Any

from celery import Celery
from django.conf import settings

from dradash.celery import app

SCHEDULE: dict[str, dict[str, Any]] = settings.CELERY_BEAT_SCHEDULE


def loaded() -> Celery:
    app.loader.import_default_modules()
    return app


def test_beat_starts_only_tasks_that_exist() -> None:
    scheduled = {entry["task"] for entry in SCHEDULE.values()}

    assert scheduled == {
        "ingest.start_syncs",
        "ingest.discover_clusters",
        "pools.request_pool_status",
        "objects.keep_storage",
    }
    assert scheduled - set(loaded().tasks) == set()


def test_task_that_no_worker_took_in_time_is_dropped() -> None:
    expiries = {name: entry["options"]["expires"] for name, entry in SCHEDULE.items()}

    assert expiries == {
        "ingest.start_syncs": 2,
        "ingest.discover_clusters": 60,
        "pools.request_pool_status": 30,
        "objects.keep_storage": 600,
    }


def test_every_task_of_ours_has_a_time_limit_and_an_explicit_name() -> None:
    ours = {name: task for name, task in loaded().tasks.items() if not name.startswith("celery.")}

    unlimited = [
        name
        for name, task in ours.items()
        if not (task.time_limit or settings.CELERY_TASK_TIME_LIMIT)
    ]
    assert (len(ours) >= 5, unlimited) == (True, [])
    assert [name for name in ours if ".tasks." in name] == []
