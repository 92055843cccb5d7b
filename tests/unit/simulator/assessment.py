"""The simulated fleet as the product's core and as its own scheduler see it."""

from dra.parsing import parse_resource_claim, parse_resource_slice, parse_taint_rule
from dra.pools import assess_fleet
from dra.values import AssessedPool, Release
from simulator.cluster import Simulator
from simulator.scheduling import Inventory, results_of, survey


def assessed_pools(simulator: Simulator) -> tuple[AssessedPool, ...]:
    slices = [parse_resource_slice(obj).value for obj in simulator.objects("ResourceSlice")]
    claims = [parse_resource_claim(obj).value for obj in simulator.objects("ResourceClaim")]
    rules = [parse_taint_rule(obj).value for obj in simulator.objects("DeviceTaintRule")]
    fleet = assess_fleet(
        [one for one in slices if one],
        claims=[one for one in claims if one],
        taint_rules=[one for one in rules if one],
        release=Release(1, 37),
    )
    return fleet.pools


def taken_inventory(simulator: Simulator) -> Inventory:
    pools = survey(
        simulator.objects("ResourceSlice"),
        simulator.objects("DeviceTaintRule"),
        simulator.objects("Node"),
    )
    claims = simulator.objects("ResourceClaim")
    return Inventory(pools, [result for claim in claims for result in results_of(claim)])
