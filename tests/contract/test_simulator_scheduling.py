"""Which devices the simulated cluster would give out, held to what the real scheduler did on random fleets."""

from typing import Any

import pytest

from simulator.scheduling import Inventory, Key, results_of, survey
from tests.unit.dra.recorded import fleets


def of_kind(fleet: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [obj for obj in fleet["objects"] if obj["kind"] == kind]


def tried(rows: list[list[Any]]) -> set[tuple[Key, int]]:
    return {(Key(*row[:3]), row[3]) for row in rows}


def newest_generations(slices: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    newest: dict[tuple[str, str], int] = {}
    for item in slices:
        pool = item["spec"]["pool"]
        key = (item["spec"]["driver"], pool["name"])
        newest[key] = max(newest.get(key, 0), pool["generation"])
    return newest


# Of 1.36 a rule without a selector blocks everything; the simulated cluster schedules as 1.37.
@pytest.mark.parametrize("name", [name for name in fleets() if name.startswith("1.37.2/")])
def test_inventory_gives_exactly_what_the_real_scheduler_gave(name: str) -> None:
    fleet = fleets()[name]
    slices = of_kind(fleet, "ResourceSlice")
    inventory = Inventory(
        survey(slices, of_kind(fleet, "DeviceTaintRule"), of_kind(fleet, "Node")),
        [result for claim in of_kind(fleet, "ResourceClaim") for result in results_of(claim)],
    )
    newest = newest_generations(slices)
    placed, refused = tried(fleet["placed"]), tried(fleet["refused"])

    given = {
        (key, generation)
        for key, generation in placed | refused
        if newest[key.driver, key.pool] == generation and inventory.gives(key)
    }

    assert given == placed
