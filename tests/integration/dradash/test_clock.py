from collections.abc import Iterator

import pytest
from celery.schedules import schedule

from dradash.celery import CLOCK_LEASE, LeasedScheduler, app
from ingest import leases
from ingest.leases import Holder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


class Recording(LeasedScheduler):
    """Notes what it would send."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        super().__init__(app=app, lazy=True)

    def apply_entry(self, entry: object, producer: object = None) -> None:
        del producer
        self.sent.append(str(getattr(entry, "name", entry)))


@pytest.fixture
def clock() -> Iterator[Recording]:
    """That of this process; one task is always due."""
    made = Recording()
    made.add(name="due", task="due", schedule=schedule(run_every=0))
    yield made
    leases.holder().end_all()


@pytest.fixture
def another() -> Iterator[Holder]:
    """Another worker."""
    made = Holder("another")
    yield made
    made.end_all()


def test_clock_of_the_worker_that_holds_the_lease_counts(clock: Recording) -> None:
    clock.tick()
    clock.tick()

    assert "due" in clock.sent


def test_clock_of_another_worker_waits(clock: Recording, another: Holder) -> None:
    another.take(CLOCK_LEASE)

    seconds = clock.tick()

    assert (seconds, clock.sent) == (1.0, [])


def test_clock_gives_its_lease_back_when_its_worker_ends(
    clock: Recording, another: Holder
) -> None:
    clock.tick()
    while_it_runs = another.take(CLOCK_LEASE)

    clock.close()

    assert (while_it_runs, another.take(CLOCK_LEASE)) == (False, True)
