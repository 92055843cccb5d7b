"""The simulated cluster: its objects, its time, its API and its troubles, all in one hand."""

import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Self

from simulator import objects
from simulator.access import Access
from simulator.clock import Schedule
from simulator.faults import Fault, Faults, How
from simulator.kinds import RESOURCES, Surface
from simulator.listing import Lists
from simulator.pool_status import PoolStatusController
from simulator.routing import Router
from simulator.serving import Server
from simulator.store import LOG_KEPT, LogLine, Store
from simulator.watching import Watches
from simulator.writing import Writes

DEFAULT_USER: Final = "system:serviceaccount:dradash:dradash"
_TICK_SECONDS: Final = 0.1
# More than the fleet's life writes, so that revisions grow from one run to the next.
_REVISIONS_PER_SECOND: Final = 10
_REVISIONS_FROM: Final = 1_700_000_000


class Simulator:
    """A cluster that serves its API on loopback while it is up. Everything here may be called from any thread."""

    def __init__(
        self,
        *,
        surface: Surface,
        port: int,
        seed: int,
        token: str | None = None,
        user: str = DEFAULT_USER,
        start_at: datetime | None = None,
        has_progress_notifications: bool = False,
        log_kept: int = LOG_KEPT,
    ) -> None:
        # Time begins now unless it is given, and then stands still until it is stepped.
        self.schedule = Schedule(start_at or datetime.fromtimestamp(int(time.time()), UTC))
        self.store = Store(
            stamp=self.schedule.stamp,
            seed=seed,
            first_revision=_first_revision(self.schedule.now()) - 1,
            log_kept=log_kept,
        )
        self.store.put(_kube_system(seed))
        self.store.log.clear()
        self.surface = surface
        self.faults = Faults()
        self.access = Access(token=token, user=user)
        self._router = Router(
            surface=surface,
            access=self.access,
            lists=Lists(self.store, surface),
            watches=Watches(
                self.store,
                surface,
                seed=seed,
                has_progress_notifications=has_progress_notifications,
            ),
            writes=Writes(self.store, surface, seed=seed),
            address=f"127.0.0.1:{port}",
        )
        self.http = Server(self._router.answer, self.faults, port=port)
        self.pool_status = PoolStatusController(self.store, surface, self.schedule, seed=seed)

        self._is_stopping = threading.Event()
        self._ticker: threading.Thread | None = None

    def start(self) -> None:
        self.pool_status.start()
        self.http.up()

    def run(self, *, speed: float) -> None:
        """Let simulated time pass by itself from now on, `speed` times as fast as real time."""
        self._ticker = threading.Thread(
            target=self._tick, args=(speed,), name="simulated time", daemon=True
        )
        self._ticker.start()

    def _tick(self, speed: float) -> None:
        seen = time.monotonic()
        while not self._is_stopping.wait(_TICK_SECONDS):
            now = time.monotonic()
            self.schedule.step((now - seen) * speed)
            seen = now

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.port}"

    @property
    def log(self) -> list[LogLine]:
        """Every change that ever was, in order: what a client must have seen."""
        return self.store.log

    def put(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Create or replace an object, and return it as stored. Writes that change nothing are no change."""
        return _complete(obj["kind"], self.surface, self.store.put(obj).decoded())

    def put_all(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for obj in objects:
            self.store.put(obj)

    def delete(self, kind: str, name: str, *, namespace: str | None = None) -> bool:
        """Delete at once, whatever the finalizers; whether there was such an object."""
        key = f"{namespace}/{name}" if namespace else name
        return self.store.delete(kind, key, is_forced=True) is not None

    def objects(self, kind: str) -> list[dict[str, Any]]:
        """The ground truth, in key order."""
        return [
            _complete(kind, self.surface, stored.decoded()) for stored in self.store.items(kind)
        ]

    def get(self, kind: str, name: str, *, namespace: str | None = None) -> dict[str, Any] | None:
        stored = self.store.get(kind, f"{namespace}/{name}" if namespace else name)
        return None if stored is None else _complete(kind, self.surface, stored.decoded())

    def step(self, seconds: float) -> None:
        """Let simulated time pass, with everything that happens in it. Watch windows run in real time."""
        self.schedule.step(seconds)

    def fail(
        self,
        path_pattern: str,
        how: int | How,
        *,
        method: str | None = None,
        times: int | None = None,
        seconds: float | None = None,
        after_bytes: int = 200,
        bytes_per_second: float = 0.0,
    ) -> Fault:
        """Arm an error for the next matching request, for so many, or for so many real seconds."""
        return self.faults.arm(
            path_pattern,
            how,
            method=method,
            times=times,
            seconds=seconds,
            after_bytes=after_bytes,
            bytes_per_second=bytes_per_second,
        )

    def slow(
        self, path_pattern: str, bytes_per_second: float, *, seconds: float | None = None
    ) -> Fault:
        """Send matching answers slowly: the next one, or all for so many real seconds."""
        return self.fail(path_pattern, "slow", seconds=seconds, bytes_per_second=bytes_per_second)

    def heal(self) -> None:
        """Disarm every fault."""
        self.faults.disarm()

    def revoke(self, verb: str, resource: str) -> None:
        self.access.revoke(verb, resource)

    def grant(self, verb: str, resource: str) -> None:
        self.access.grant(verb, resource)

    def forget_history(self) -> None:
        """Every resourceVersion before now is too old for a watch, though nothing was restarted."""
        self.store.forget_history()

    def down(self, *, is_abrupt: bool = True) -> None:
        """The API server goes away; the cluster's life goes on without it."""
        self.http.down(is_abrupt=is_abrupt)

    def up(self) -> None:
        """The API server starts: on the same port, and with no history."""
        self.store.forget_history()
        self.http.up()

    def restart(self, *, is_abrupt: bool = True) -> None:
        """SIGKILL and start (abrupt), or SIGTERM and start."""
        self.down(is_abrupt=is_abrupt)
        self.up()

    def restore(self, revision: int) -> None:
        """Etcd is restored from a backup taken at `revision`, and the API server restarted on it."""
        self.http.down(is_abrupt=True)
        self.store.restore(revision)
        self.http.up()

    def stop(self) -> None:
        self.http.down(is_abrupt=True)
        self.pool_status.stop()
        self._is_stopping.set()
        if self._ticker is not None:
            self._ticker.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _kube_system(seed: int) -> dict[str, Any]:
    """By its uid clients know a cluster: the same seed is the same cluster, also when it is started again elsewhere."""
    uid = uuid.uuid5(uuid.NAMESPACE_OID, f"simulated cluster {seed}")
    return objects.namespace("kube-system", uid=str(uid))


def _first_revision(now: datetime) -> int:
    """A cluster that is started again must not give out revisions it gave out before."""
    return max(int(now.timestamp()) - _REVISIONS_FROM, 100) * _REVISIONS_PER_SECOND


def _complete(kind: str, surface: Surface, body: dict[str, Any]) -> dict[str, Any]:
    resource = RESOURCES[kind]
    version = surface.newest_version(resource)
    prefix = f"{resource.group}/" if resource.group else ""
    return {"kind": kind, "apiVersion": f"{prefix}{version}", **body}
