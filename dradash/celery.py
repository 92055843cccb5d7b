"""The Celery application: which tasks run when. The tasks themselves belong to the apps."""

import os
import time
from typing import Any

from celery import Celery, bootsteps
from celery.beat import EmbeddedService, Scheduler
from celery.signals import setup_logging
from django.db.utils import Error as DatabaseError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")
# Django's checks load every page, which takes 20 MB; `manage.py check` and `prepare` run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

app = Celery("dradash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

CLOCK_LEASE = "clock"
# How often a worker tries to become the one whose clock counts.
TRY_SECONDS = 5.0


@setup_logging.connect
def _keep_our_logging(**_kwargs: object) -> None:
    """Having a receiver keeps Celery from replacing the logging that the settings configured."""


class LeasedScheduler(Scheduler):
    """Every worker has a clock, and one of them counts: that of the worker that holds the lease.

    So nothing has to be started only once, and no file remembers what ran when: all that is scheduled may run again.
    """

    _next_try = 0.0

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """How long to sleep; a second at most, so that the worker can end."""
        if not self._is_ours():
            return 1.0
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def _is_ours(self) -> bool:
        from ingest import leases  # noqa: PLC0415 -- reads settings, which come after the application

        holder = leases.holder()
        if holder.holds(CLOCK_LEASE):
            return True
        if time.monotonic() < self._next_try:
            return False
        self._next_try = time.monotonic() + TRY_SECONDS
        try:
            return holder.take(CLOCK_LEASE)
        except DatabaseError:
            return False

    def close(self) -> None:
        """Another worker's clock may count at once."""
        from ingest import leases  # noqa: PLC0415 -- reads settings, which come after the application

        leases.holder().end(CLOCK_LEASE)
        super().close()


class ClockStep(bootsteps.StartStopStep):
    """Celery's beat as a thread of the worker. Its own `--beat` forks a process, which takes a hundred megabytes in time."""

    requires = ("celery.worker.components:Pool",)

    def create(self, parent: Any) -> Any:
        return EmbeddedService(parent.app, thread=True, scheduler_cls=LeasedScheduler)


app.steps["worker"].add(ClockStep)
