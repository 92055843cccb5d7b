"""The controller that answers pool status requests, with its patience and its silences.

A request is tried six times within 155 ms. If a pool that would be returned is then still incomplete, or of generation 0, the
request stays without a word until it is changed or, after a day, deleted.
"""

import heapq
import random
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from dra import server as arithmetic
from dra.parsing import parse_resource_claim, parse_resource_slice, parse_taint_rule
from dra.server_views import PartitionStatus, ShareableStatus
from dra.values import AllocationResult, ResourceSlice, TaintRule
from simulator import gates
from simulator.clock import Schedule
from simulator.kinds import POOL_STATUS_REQUEST, Surface
from simulator.store import Store, Stored

# After the first try, in seconds: each wait is twice the one before.
_RETRY_SECONDS: Final = (0.005, 0.01, 0.02, 0.04, 0.08)
_SWEEP_SECONDS: Final = 600.0
_ANSWERED_TTL: Final = timedelta(hours=1)
_PENDING_TTL: Final = timedelta(hours=24)
_LOOK_SECONDS: Final = 0.5
_V1: Final = "resource.k8s.io/v1"


class _Try(NamedTuple):
    due: float
    key: str
    number: int


class PoolStatusController:
    """Runs in a thread of its own from `start` to `stop`; does nothing where its gate is off."""

    def __init__(self, store: Store, surface: Surface, schedule: Schedule, *, seed: int) -> None:
        self._store = store
        self._surface = surface
        self._schedule = schedule
        self._seed = seed
        self._tries: list[_Try] = []
        self._position = store.revision
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="pool status", daemon=True)

    @property
    def _is_on(self) -> bool:
        is_served = self._surface.find("resource.k8s.io", "v1alpha3", POOL_STATUS_REQUEST.plural)
        return is_served is not None and gates.is_on(self._surface, "DRAResourcePoolStatus")

    def start(self) -> None:
        if self._is_on:
            self._schedule.every(_SWEEP_SECONDS, self.sweep)
            self._thread.start()

    def stop(self) -> None:
        with self._store.changed:
            self._is_stopping = True
            self._store.changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_stopping:
            self._notice()
            now = time.monotonic()
            while self._tries and self._tries[0].due <= now:
                self._work(heapq.heappop(self._tries))

    def _notice(self) -> None:
        """Wait for a request to be written, or for the next try to fall due."""
        kind = POOL_STATUS_REQUEST.kind
        with self._store.changed:
            if self._store.revision < self._position:
                # The cluster went back in time: all that is pending is looked at anew.
                self._position = self._store.revision
                for stored in self._store.items(kind):
                    self._enqueue(stored)
            events = self._store.events_after(kind, self._position)
            self._position = self._store.revision
            if events or self._is_stopping:
                for event in events:
                    if event.type != "DELETED":
                        self._enqueue(event.stored)
                return
            wait = _LOOK_SECONDS
            if self._tries:
                wait = max(self._tries[0].due - time.monotonic(), 0.0)
            self._store.changed.wait(wait)

    def _enqueue(self, stored: Stored) -> None:
        self._tries = [one for one in self._tries if one.key != stored.key]
        heapq.heapify(self._tries)
        heapq.heappush(self._tries, _Try(time.monotonic(), stored.key, 0))

    def _work(self, one: _Try) -> None:
        with self._store.changed:
            stored = self._store.get(POOL_STATUS_REQUEST.kind, one.key)
            if stored is None or (obj := stored.decoded()).get("status") is not None:
                return
            status = self.answer(obj["spec"], shuffle=f"{self._seed} {stored.uid} {one.number}")
            if status is not None:
                obj["kind"] = POOL_STATUS_REQUEST.kind
                self._store.put({**obj, "status": status})
            elif one.number < len(_RETRY_SECONDS):
                due = time.monotonic() + _RETRY_SECONDS[one.number]
                heapq.heappush(self._tries, _Try(due, one.key, one.number + 1))

    def answer(self, spec: dict[str, Any], *, shuffle: str) -> dict[str, Any] | None:
        """The status for a request, None where none is written.

        The server walks slices in no order, and asks the first for the size of the pool; `shuffle` seeds that order.
        """
        request = arithmetic.StatusRequest(
            driver=spec["driver"],
            pool=spec.get("poolName"),
            limit=spec["limit"],
            default_partition_type_attribute=spec.get("defaultPartitionTypeAttribute"),
        )
        slices = self._slices(spec["driver"])
        random.Random(shuffle).shuffle(slices)  # noqa: S311 -- repeatable, not secret
        if self._surface.release < (1, 37):
            answer = arithmetic.answer_1_36(slices, self._allocations(), request=request)
        else:
            answer = arithmetic.answer_1_37(
                slices, self._allocations(), taint_rules=self._taint_rules(), request=request
            )
        return self._status(answer) if answer.is_written else None

    def _slices(self, driver: str) -> list[ResourceSlice]:
        parsed = (
            parse_resource_slice(stored.decoded(), api_version=_V1).value
            for stored in self._store.items("ResourceSlice")
            if stored.fields["spec.driver"] == driver
        )
        return [value for value in parsed if value is not None]

    def _allocations(self) -> list[AllocationResult]:
        parsed = (
            parse_resource_claim(stored.decoded(), api_version=_V1).value
            for stored in self._store.items("ResourceClaim")
        )
        return [result for claim in parsed if claim is not None for result in claim.results]

    def _taint_rules(self) -> list[TaintRule]:
        if not gates.is_on(self._surface, "DRADeviceTaintRules"):
            return []
        parsed = (
            parse_taint_rule(stored.decoded(), api_version=_V1).value
            for stored in self._store.items("DeviceTaintRule")
        )
        return [rule for rule in parsed if rule is not None]

    def _status(self, answer: arithmetic.Answer) -> dict[str, Any]:
        status: dict[str, Any] = {"poolCount": answer.pool_count}
        if answer.pools:
            status["pools"] = [_pool(pool) for pool in answer.pools]
        status["conditions"] = [
            {
                "type": "Complete",
                "status": "True",
                "lastTransitionTime": self._schedule.stamp(),
                "reason": "CalculationComplete",
                "message": answer.message,
            }
        ]
        return status

    def sweep(self) -> None:
        """Delete what is too old: answered for an hour, or pending for a day."""
        now = self._schedule.now()
        for stored in self._store.items(POOL_STATUS_REQUEST.kind):
            if _is_expired(stored.decoded(), now):
                self._store.delete(stored.kind, stored.key)


def _is_expired(obj: dict[str, Any], now: datetime) -> bool:
    created = _moment(obj["metadata"]["creationTimestamp"])
    status = obj.get("status")
    if status is None:
        return now - created > _PENDING_TTL
    moments = [
        _moment(condition["lastTransitionTime"])
        for condition in status.get("conditions") or ()
        if condition["type"] in {"Complete", "Failed"}
    ]
    return now - (moments[0] if moments else created) > _ANSWERED_TTL


def _moment(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def _pool(pool: arithmetic.PoolStatus) -> dict[str, Any]:
    """In the order of the API's fields; what is unknown is left out."""
    fields: dict[str, Any] = {
        "driver": pool.driver,
        "poolName": pool.pool,
        "generation": pool.generation,
        "resourceSliceCount": pool.resource_slice_count,
        "totalDevices": pool.total,
        "allocatedDevices": pool.allocated,
        "availableDevices": pool.available,
        "unavailableDevices": pool.unavailable,
        "nodeName": pool.node_name,
        "validationError": pool.validation_error,
        "partitionSummary": _partitions(pool.partitions),
        "shareableSummary": _shareable(pool.shareable),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _partitions(partitions: tuple[PartitionStatus, ...] | None) -> list[dict[str, Any]] | None:
    if not partitions:
        return None
    return [
        {
            "attribute": partition.attribute,
            "type": partition.type,
            "total": partition.total,
            "allocatable": partition.allocatable,
        }
        for partition in partitions
    ]


def _shareable(shareable: ShareableStatus | None) -> dict[str, Any] | None:
    if shareable is None:
        return None
    summary: dict[str, Any] = {
        "fullyAvailableDevices": shareable.fully_available,
        "partiallyAvailableDevices": shareable.partially_available,
    }
    if shareable.capacity:
        summary["capacity"] = [
            {
                "name": row.name,
                "total": str(row.total),
                "consumed": str(row.consumed),
                "available": str(row.available),
            }
            for row in shareable.capacity
        ]
    return summary
