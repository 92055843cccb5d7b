"""The scheduler is the judge: what it gives to a claim for one device alone is what we call available or partly used."""

import pytest

from dra.pools import assess_fleet
from tests.unit.dra import recorded


@pytest.mark.parametrize("name", recorded.fleets())
def test_devices_that_we_offer_are_those_that_the_scheduler_gave(name: str) -> None:
    fleet = recorded.fleets()[name]
    objects = recorded.read_objects(fleet["objects"])

    assessed = assess_fleet(
        objects.slices,
        claims=objects.claims,
        taint_rules=objects.rules,
        release=recorded.RELEASES[name.split("/")[0]],
    )

    devices = [device for pool in assessed.pools for device in pool.devices]
    offered = [d for d in devices if d.state == "available" or d.is_partly_used]
    assert sorted([*d.key, d.generation] for d in offered) == sorted(fleet["placed"])


def test_recorded_fleets_are_many_and_mixed() -> None:
    fleets = recorded.fleets().values()

    trials = [(len(fleet["placed"]), len(fleet["refused"])) for fleet in fleets]
    assert len(trials) == 70
    assert (sum(given for given, _ in trials), sum(refused for _, refused in trials)) == (756, 595)
