from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db.models import F

from clusters.models import Lease
from ingest import leases
from ingest.leases import LEASE_SECONDS, Holder

pytestmark = pytest.mark.django_db

Named = Callable[[str], Holder]


@pytest.fixture
def named() -> Iterator[Named]:
    """Workers by their names, which give back at the end what they still hold."""
    made: list[Holder] = []

    def make(name: str) -> Holder:
        made.append(Holder(name))
        return made[-1]

    yield make
    for holder in made:
        holder.end_all()


def let_run_out(name: str) -> None:
    Lease.objects.filter(name=name).update(expires_at=F("expires_at") - timedelta(days=1))


def test_lease_is_held_by_one_at_a_time_and_free_after_its_block(named: Named) -> None:
    one, another = named("one"), named("another")

    with one.held("sync 1") as first, another.held("sync 1") as second:
        while_held = leases.held_names("sync ")
    with another.held("sync 1") as third:
        pass

    assert (first, second, third) == (True, False, True)
    assert while_held == {"1"}
    assert leases.held_names("sync ") == set()


def test_lease_of_one_holder_is_not_given_to_it_twice(named: Named) -> None:
    holder = named("one")

    with holder.held("sync 1") as first, holder.held("sync 1") as second:
        still_held = leases.held_names("sync ")

    assert (first, second, still_held) == (True, False, {"1"})


def test_lease_of_a_killed_worker_runs_out(named: Named) -> None:
    killed, another = named("killed"), named("another")
    killed.take("sync 1")
    while_it_lasts = another.take("sync 1")
    let_run_out("sync 1")

    taken = another.take("sync 1")
    killed.end("sync 1")

    assert (while_it_lasts, taken) == (False, True)
    assert Lease.objects.get(name="sync 1").holder == "another"
    assert leases.held_names("sync ") == {"1"}


def test_worker_that_starts_again_takes_up_what_it_held_at_once(named: Named) -> None:
    killed, again, another = named("worker@host"), named("worker@host"), named("another")
    killed.take("sync 1")
    another.take("sync 2")

    again.replace_predecessor()

    assert leases.held_names("sync ") == {"2"}


def test_lease_is_renewed_before_it_runs_out_and_not_sooner(named: Named) -> None:
    holder = named("one")
    holder.take("short", seconds=5)
    holder.take("long", seconds=100)
    before = dict(Lease.objects.values_list("name", "expires_at"))

    holder.renew()

    after = dict(Lease.objects.values_list("name", "expires_at"))
    assert after["long"] == before["long"]
    assert after["short"] - before["short"] > timedelta(seconds=LEASE_SECONDS - 5 - 1)


def test_lease_that_another_took_meanwhile_is_not_renewed(named: Named) -> None:
    late, another = named("late"), named("another")
    late.take("sync 1", seconds=5)
    let_run_out("sync 1")
    another.take("sync 1", seconds=5)
    before = Lease.objects.get(name="sync 1").expires_at

    late.renew()

    assert Lease.objects.get(name="sync 1").expires_at == before
    assert (late.holds("sync 1"), another.holds("sync 1")) == (False, True)
