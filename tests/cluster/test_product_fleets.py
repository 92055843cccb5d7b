"""The scheduler is the judge of random fleets: it gives out what the product calls available or partly used, and no other device.

FLEETS sets how many, FLEET_SEED the first seed.
"""

import os

import pytest

from tests.cluster import fleets
from tests.cluster.controlplane import ControlPlane
from tests.cluster.live import Tally
from tests.cluster.product import Product

FIRST_SEED = int(os.environ.get("FLEET_SEED", "1001"))
COUNT = int(os.environ.get("FLEETS", "50"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + COUNT))
def test_offered_devices_are_those_that_the_scheduler_gives(
    control_plane_default: ControlPlane, tally: Tally, seed: int
) -> None:
    fleets.apply_fleet(control_plane_default, fleets.random_fleet(seed))
    product = Product.watching(control_plane_default)

    product.sync()
    trials = fleets.try_each_device(control_plane_default)

    given = {(t.driver, t.pool, t.device, t.generation) for t in trials if t.is_placed}
    tally.note_fleet(given == product.offered(), trials)
    assert product.offered() == given
