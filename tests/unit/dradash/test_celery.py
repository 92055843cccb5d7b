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


def test_every_task_of_ours_has_an_explicit_name_and_a_queue_that_workers_take_from() -> None:
    ours = sorted(name for name in loaded().tasks if not name.startswith("celery."))

    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in ours}

    assert queues == {
        "ingest.discover_cluster": "upkeep",
        "ingest.discover_clusters": "upkeep",
        "ingest.start_syncs": "sync",
        "ingest.sync_cluster": "sync",
        "objects.keep_storage": "upkeep",
        "pools.request_pool_status": "upkeep",
        "pools.request_pool_status_of_cluster": "upkeep",
    }
    assert set(queues.values()) == set(app.amqp.queues)


def test_queues_share_no_message() -> None:
    bound = {
        name: (queue.exchange.name, queue.routing_key) for name, queue in app.amqp.queues.items()
    }

    assert bound == {"sync": ("sync", "sync"), "upkeep": ("upkeep", "upkeep")}
