"""Starting a simulated cluster."""

import random
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from simulator import workloads
from simulator.claims import first_claims
from simulator.cluster import DEFAULT_USER, Simulator
from simulator.fleet import Fleet, fleet_objects, plan_fleet
from simulator.gates import POOL_STATUS_GATES
from simulator.kinds import Surface
from simulator.life import Life
from simulator.scheduling import Inventory, survey
from simulator.store import LOG_KEPT

RunningSimulator = Simulator
Objects = Iterable[Mapping[str, Any]]
Named = Literal["fleet", "S", "L", "X"]

_FIRST_CLAIMS: Final = 150


def start(
    fleet: Objects | Named = (),
    *,
    port: int = 0,
    life: bool = False,
    seed: int = 7,
    speed: float = 0.0,
    token: str | None = None,
    user: str = DEFAULT_USER,
    release: tuple[int, int] = (1, 37),
    versions: tuple[str, ...] = ("v1", "v1alpha3"),
    gates: Mapping[str, bool] = POOL_STATUS_GATES,
    start_at: datetime | None = None,
    has_progress_notifications: bool = False,
    log_kept: int = LOG_KEPT,
) -> RunningSimulator:
    """Serve a cluster on loopback; a port of 0 is chosen.

    `fleet`: the objects it begins with, or "fleet" for the believable one, or a reference workload. `life` needs
    "fleet". With a speed of 0 time passes only by `step`.
    """
    simulator = Simulator(
        surface=Surface(release, versions, gates=gates),
        port=port,
        seed=seed,
        token=token,
        user=user,
        start_at=start_at,
        has_progress_notifications=has_progress_notifications,
        log_kept=log_kept,
    )
    if fleet == "fleet":
        plan = _populate(simulator, seed=seed)
        if life:
            Life(simulator.store, simulator.schedule, plan, seed=seed).begin()
    elif life:
        message = 'only the fleet named "fleet" has a life'
        raise ValueError(message)
    elif isinstance(fleet, str):
        simulator.put_all(workloads.make(fleet))
    else:
        simulator.put_all(fleet)
    simulator.start()
    if speed:
        simulator.run(speed=speed)
    return simulator


def _populate(simulator: Simulator, *, seed: int) -> Fleet:
    rng = random.Random(f"fleet {seed}")  # noqa: S311 -- repeatable, not secret
    stamp = simulator.schedule.stamp()
    plan = plan_fleet(rng, stamp=stamp)
    simulator.put_all(fleet_objects(plan, rng, stamp=stamp))
    pools = survey(
        simulator.objects("ResourceSlice"),
        simulator.objects("DeviceTaintRule"),
        plan.nodes.values(),
    )
    inventory = Inventory(pools)
    nodes = sorted(plan.nodes)
    simulator.put_all(first_claims(inventory, nodes, rng, count=_FIRST_CLAIMS, stamp=stamp))
    return plan
