"""Kills of the worker at random moments, and what is stored afterwards: `python -m bench.kills 100`.

A simulated cluster changes all the time; a worker follows it and is killed (SIGKILL) again and again, first while it reads
everything, then while it watches. At the end the log must have each change exactly once, what is stored must be what a fresh list
tells, and the figures must be those of the core over that list.

Needs a Postgres that DATABASE_URL names and that no running DRA-Dash uses; `python -m bench kills` starts one.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

DRIVER = "gpu.example.com"
KINDS = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
WINDOW_SECONDS = 5


def clock() -> datetime:
    return datetime.now(UTC)


@dataclass
class Report:
    """What the run found; nothing in `wrong` is what it is for."""

    kills: int = 0
    changes: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        verdict = (
            "\n".join(["WRONG:", *self.wrong[:20]])
            if self.wrong
            else "nothing lost, nothing twice"
        )
        return f"{self.kills} kills, {self.changes} changes, {self.seconds:.0f} s: {verdict}"


class Worker:
    """A process that follows one cluster. Killed, its parent starts the next one at once, as Celery's does."""

    def __init__(self, cluster_id: int, environment: dict[str, str]) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "bench.kills", "--follow", str(cluster_id)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self._child = self._next()

    def _next(self) -> int:
        assert self._parent.stdout is not None
        line = self._parent.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError("the worker ended by itself; its error stands above")
        return int(line)

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        self._child = self._next()

    def stop(self) -> None:
        """The whole group: whatever child there is."""
        with suppress(ProcessLookupError):
            os.killpg(self._parent.pid, signal.SIGKILL)
        self._parent.wait()
        assert self._parent.stdout is not None
        self._parent.stdout.close()


def follow(cluster_id: int) -> None:
    """The parent of workers: forks one, waits for its end, forks the next."""
    import django

    django.setup()
    from importlib import import_module

    from django.db import connections

    # Before the fork, so that no child has to.
    import_module("ingest.services")

    while True:
        connections.close_all()
        child = os.fork()
        if child == 0:
            follow_on(cluster_id)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("the worker ended by itself")


def follow_on(cluster_id: int) -> None:
    """As a worker does that takes the place of the one before."""
    from ingest import leases, services

    leases.begin_as("kills")
    seconds: float | None = None
    while True:
        seconds = services.follow_cluster(
            cluster_id, seconds=seconds or WINDOW_SECONDS, longest=WINDOW_SECONDS, clock=clock
        )
        if seconds is None:
            time.sleep(0.5)


class Churn(threading.Thread):
    """Claims, slices and taint rules that come, change and go."""

    def __init__(
        self, simulator: Any, *, seed: int, pools: int, changes_per_second: float
    ) -> None:
        super().__init__(daemon=True)
        self._simulator = simulator
        self._random = random.Random(seed)
        self._pools = pools
        self._pause = 1 / changes_per_second
        self._claims: dict[str, bool] = {}
        self._generations = [1] * pools
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.wait(self._random.expovariate(1 / self._pause)):
            self._step(self._random.random())

    def _step(self, chance: float) -> None:
        number = self._random.randrange(self._pools)
        if chance < 0.35 or not self._claims:
            name = f"claim-{uuid.UUID(int=self._random.getrandbits(128)).hex[:10]}"
            self._claims[name] = False
            self._simulator.put(resource_claim(name, holds=None))
        elif chance < 0.6:
            name = self._random.choice(list(self._claims))
            device = None if self._claims[name] else (number, self._random.randrange(4))
            self._claims[name] = device is not None
            self._simulator.put(resource_claim(name, holds=device))
        elif chance < 0.8:
            name = self._random.choice(list(self._claims))
            del self._claims[name]
            self._simulator.delete("ResourceClaim", name, namespace="default")
        elif chance < 0.95:
            self._generations[number] += 1
            devices = self._random.randrange(1, 6)
            self._simulator.put(
                resource_slice(number, generation=self._generations[number], devices=devices)
            )
        elif self._simulator.get("DeviceTaintRule", "broken"):
            self._simulator.delete("DeviceTaintRule", "broken")
        else:
            self._simulator.put(taint_rule("broken", pool=pool_name(number)))


def pool_name(number: int) -> str:
    return f"node-{number:04}"


def resource_slice(number: int, *, generation: int = 1, devices: int = 4) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"slice-{number:04}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": pool_name(number),
            "pool": {"name": pool_name(number), "generation": generation, "resourceSliceCount": 1},
            "devices": [
                {"name": f"gpu-{index}", "attributes": {"index": {"int": index}}}
                for index in range(devices)
            ],
        },
    }


def resource_claim(name: str, *, holds: tuple[int, int] | None) -> dict[str, Any]:
    claim: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}
        },
    }
    if holds is not None:
        number, device = holds
        result = {
            "request": "gpu",
            "driver": DRIVER,
            "pool": pool_name(number),
            "device": f"gpu-{device}",
        }
        claim["status"] = {"allocation": {"devices": {"results": [result]}}}
    return claim


def taint_rule(name: str, *, pool: str) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"pool": pool},
            "taint": {"key": "example.com/broken", "effect": "NoSchedule"},
        },
    }


def run(
    cluster_id: int,
    simulator: Any,
    *,
    kills: int,
    seed: int,
    environment: dict[str, str],
    pools: int = 200,
    longest_life_seconds: float = 1.5,
) -> Report:
    """Kill a worker `kills` times, a tenth of them in the first read. `simulator` is empty, `cluster_id` is new."""
    began = time.monotonic()
    moments = random.Random(seed)
    simulator.put_all(resource_slice(number) for number in range(pools))
    worker = Worker(cluster_id, environment)
    report = Report()
    try:
        for _ in range(kills // 10 or 1):
            time.sleep(moments.uniform(0, longest_life_seconds / 3))
            worker.kill()
            report.kills += 1
        wait_until(lambda: is_followed(cluster_id))
        first = len(simulator.log)
        churn = Churn(simulator, seed=seed, pools=pools, changes_per_second=40)
        churn.start()
        while report.kills < kills:
            time.sleep(moments.uniform(0, longest_life_seconds))
            worker.kill()
            report.kills += 1
        churn.is_over.set()
        churn.join()
        changes = [change for change in simulator.log[first:] if change.kind in KINDS]
        report.changes = len(changes)
        wait_until(lambda: len(logged_changes(cluster_id)) >= len(changes))
        time.sleep(WINDOW_SECONDS)
    finally:
        worker.stop()
    report.wrong = [
        *wrong_log(cluster_id, changes),
        *wrong_objects(cluster_id, simulator),
        *wrong_figures(cluster_id, simulator),
    ]
    report.seconds = time.monotonic() - began
    return report


def wait_until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Give up silently: what is missing then is found by the checks."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not condition():
        time.sleep(0.2)


def is_followed(cluster_id: int) -> bool:
    from clusters.models import ClusterKind
    from pools.models import DirtyPool

    states = ClusterKind.objects.filter(cluster_id=cluster_id).values_list("state", flat=True)
    is_derived = not DirtyPool.objects.filter(cluster_id=cluster_id).exists()
    return set(states) == {"watching"} and is_derived


def logged_changes(cluster_id: int) -> list[tuple[str, str, str, int]]:
    """What watches told, as stored: operation, kind, name, resourceVersion."""
    from objects import queries
    from objects.choices import Op

    told = [Op.ADDED, Op.MODIFIED, Op.DELETED]

    logged = queries.rows(
        "SELECT e.op, o.kind, CASE o.namespace WHEN '' THEN o.name ELSE o.namespace || '/' || o.name END,"
        " e.resource_version::int8 FROM objects_objectevent e"
        " JOIN objects_kubeobject o ON o.cluster_id = e.cluster_id AND o.id = e.object_id"
        " WHERE e.cluster_id = %s AND e.op = ANY(%s) ORDER BY 4",
        (cluster_id, told),
    )
    return [(Op(op).name.lower(), kind, name, version) for op, kind, name, version in logged]


def wrong_log(cluster_id: int, changes: list[Any]) -> Iterator[str]:
    told = Counter((c.type.lower(), c.kind, c.name, c.resource_version) for c in changes)
    stored = Counter(logged_changes(cluster_id))
    for change, count in sorted((told - stored).items()):
        yield f"lost {count} times: {change}"
    for change, count in sorted((stored - told).items()):
        yield f"stored {count} times too often: {change}"


def wrong_objects(cluster_id: int, simulator: Any) -> Iterator[str]:
    from clusters.models import Gap
    from objects import queries
    from objects.models import KubeObject

    for kind in KINDS:
        rows = KubeObject.objects.filter(cluster_id=cluster_id, kind=kind, deleted_at__isnull=True)
        stored = {str(row.uid): row for row in rows}
        fresh = {obj["metadata"]["uid"]: obj["metadata"] for obj in simulator.objects(kind)}
        for uid in stored.keys() ^ fresh.keys():
            yield f"{kind} {uid} is only in one of store and cluster"
        for uid in stored.keys() & fresh.keys():
            if stored[uid].resource_version != fresh[uid]["resourceVersion"]:
                yield f"{kind} {uid} is stored at another version"
        digests = {row.digest for row in stored.values()}
        for digest in digests - queries.bodies(cluster_id, digests).keys():
            yield f"{kind}: no body {digest}"
    if Gap.objects.filter(cluster_id=cluster_id, ended_at__isnull=True).exists():
        yield "a gap is still open"


def wrong_figures(cluster_id: int, simulator: Any) -> Iterator[str]:
    """The stored state of each device, and each latest sample, against the core over a fresh list."""
    from dra.parsing import parse_resource_claim, parse_resource_slice, parse_taint_rule
    from dra.pools import assess_fleet
    from dra.values import Release
    from pools.models import Device, Pool, PoolSample

    slices = [parse_resource_slice(obj).value for obj in simulator.objects("ResourceSlice")]
    claims = [parse_resource_claim(obj).value for obj in simulator.objects("ResourceClaim")]
    rules = [parse_taint_rule(obj).value for obj in simulator.objects("DeviceTaintRule")]
    fleet = assess_fleet(
        [each for each in slices if each],
        claims=[each for each in claims if each],
        taint_rules=[each for each in rules if each],
        release=Release(1, 37),
    )
    fresh = {
        (str(pool.key.pool), str(device.key.device)): (device.state, device.generation)
        for pool in fleet.pools
        for device in pool.devices
    }
    rows = Device.objects.filter(cluster_id=cluster_id)
    stored = {(row.pool_name, row.name): (row.state, row.generation) for row in rows}
    for key in sorted(fresh.keys() | stored.keys()):
        if fresh.get(key) != stored.get(key):
            yield f"device {key} is {stored.get(key)} and should be {fresh.get(key)}"
    for pool in Pool.objects.filter(cluster_id=cluster_id):
        sample = PoolSample.objects.filter(cluster_id=cluster_id, pool_id=pool.id).latest("at")
        figures = (sample.generation, sample.total, sample.allocated, sample.available)
        if figures != (
            pool.generation,
            pool.devices_total,
            pool.devices_allocated,
            pool.devices_available,
        ):
            yield f"the latest sample of {pool.name} is not its figures"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--follow", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.follow is not None:
        follow(arguments.follow)
    import django

    django.setup()
    from clusters import services
    from clusters.choices import Source
    from clusters.models import Cluster
    from kube.targets import Target
    from simulator import server

    with server.start() as simulator:
        name = f"kills {clock():%Y-%m-%d %H:%M:%S}"
        wanted = services.WatchedCluster(name, Source.SIMULATED, Target("url", url=simulator.url))
        others = [
            services.WatchedCluster(each.name, Source(each.source), services.target_of(each))
            for each in Cluster.objects.filter(is_watched=True)
        ]
        cluster = next(
            each
            for each in services.ensure_clusters([*others, wanted], now=clock())
            if each.name == name
        )
        report = run(
            cluster.pk,
            simulator,
            kills=arguments.kills,
            seed=arguments.seed,
            environment=dict(os.environ),
        )
        services.ensure_clusters(others, now=clock())
    print(report)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
