"""Starting a simulated cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from simulator.cluster import Simulator
from simulator.gates import POOL_STATUS_GATES
from simulator.kinds import Surface

RunningSimulator = Simulator


def start(
    fleet: Iterable[Mapping[str, Any]] = (),
    *,
    port: int = 0,
    seed: int = 7,
    token: str | None = None,
    release: tuple[int, int] = (1, 37),
    versions: tuple[str, ...] = ("v1", "v1alpha3"),
    gates: Mapping[str, bool] = POOL_STATUS_GATES,
    start_at: datetime | None = None,
    has_progress_notifications: bool = False,
) -> RunningSimulator:
    """Serve a cluster on loopback; a port of 0 is chosen. `fleet`: the objects it begins with."""
    simulator = Simulator(
        surface=Surface(release, versions, gates=gates),
        port=port,
        seed=seed,
        token=token,
        start_at=start_at,
        has_progress_notifications=has_progress_notifications,
    )
    simulator.put_all(fleet)
    simulator.start()
    return simulator
