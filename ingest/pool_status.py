"""One round of pool status requests in one cluster: make, wait, record, compare, and always take away."""

from __future__ import annotations

import hashlib
import secrets
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog
from django.conf import settings
from django.db import transaction

from clusters import queries as cluster_queries
from clusters import registry
from clusters import services as cluster_services
from clusters.models import Cluster, ClusterKind
from dra.catalogue import Statement
from dra.values import DriverName, PoolKey, PoolName, Release
from ingest import leases
from ingest.database import give_back
from ingest.stopping import is_stopping, pause, stopped_by
from ingest.writing import read_knowledge
from kube import pool_status
from kube.capabilities import Capabilities
from kube.connect import Connection, connect
from kube.failures import Forbidden, KubeFailure, Unauthorized, Unreachable
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, ServedResource
from objects.queries import decoded
from objects.services.staging import as_text, open_cursor
from pools.choices import Outcome
from pools.models import PoolStatusAnswer, PoolStatusRequest
from pools.services import moments, status_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kube.pool_status import RequestAnswer
    from pools.services.status_requests import PoolState

log = structlog.get_logger()

# Prefix of the lease by which one task at a time asks a cluster.
_STATUS_LEASE: Final = "pool status "
_PARTITIONS_SINCE: Final = Release(1, 37)
# Single pools that are asked about in one round, beside whole drivers.
_MOST_SINGLE_POOLS: Final = 20
_QUICK_SECONDS: Final = 1.0
# How much longer than a window the sync may take to come past an answer, so that it can be compared.
_CATCH_UP_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.5
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_INSTANCE: Final = "app.kubernetes.io/instance"
_ANSWERING_GATE: Final = ("kube-controller-manager", "DRAResourcePoolStatus")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that is in the cluster."""

    row: PoolStatusRequest
    made: RequestAnswer
    since: datetime


@dataclass(frozen=True, slots=True)
class _Answered:
    """A request that has its answer, for the comparison."""

    row: PoolStatusRequest
    answers: list[PoolStatusAnswer]
    moment: moments.Moment


def clusters_to_ask() -> list[int]:
    """Clusters in which we make requests."""
    wanted = Cluster.objects.filter(is_watched=True, is_paused=False, capabilities__isnull=False)
    return [each.pk for each in wanted if cluster_queries.makes_pool_status_requests(each)]


def request_pool_status(cluster_id: int, *, clock: Callable[[], datetime]) -> None:
    """Ask about the drivers that are due; nothing when none is, or when another worker asks already."""
    cluster = Cluster.objects.get(pk=cluster_id)
    now = clock()
    interval = timedelta(seconds=settings.DRADASH.pool_status_interval_seconds)
    drivers = status_requests.due_drivers(cluster_id, made_before=now - interval)
    leftovers = status_requests.unremoved_names(cluster_id)
    if cluster.capabilities is None or not (drivers or leftovers):
        return
    with leases.holder().held(f"{_STATUS_LEASE}{cluster_id}") as is_ours:
        if is_ours:
            capabilities = Capabilities.from_json(cluster.capabilities)
            _Round(cluster, capabilities, clock).run(drivers)


def instance_id() -> str:
    """Tells our requests from those of another installation in the same cluster."""
    return hashlib.sha256(f"dradash instance {settings.SECRET_KEY}".encode()).hexdigest()[:16]


def _labels() -> dict[str, str]:
    return {_MANAGED_BY: "dradash", _INSTANCE: instance_id()}


class _Round:
    def __init__(
        self, cluster: Cluster, capabilities: Capabilities, clock: Callable[[], datetime]
    ) -> None:
        self._cluster = cluster
        self._capabilities = capabilities
        self._clock = clock
        self._release = capabilities.release
        self._answered: list[_Answered] = []

    def run(self, drivers: Sequence[str]) -> None:
        served = self._capabilities.resources.get(RESOURCE_POOL_STATUS_REQUEST.name)
        if served is None:
            self._none_made(drivers, Outcome.NOT_SERVED, Statement("request_not_served"))
            status_requests.note_removed(
                self._cluster.pk, status_requests.unremoved_names(self._cluster.pk)
            )
            return
        try:
            with closing(connect(cluster_services.target_of(self._cluster))) as connection:
                self._remove_leftovers(connection, served)
                asker = _Asker(self._cluster, connection, served, self._clock)
                with stopped_by(asker.stop_waiting):
                    self._ask_drivers(asker, drivers)
        except (Forbidden, Unauthorized) as refused:
            self._none_made(drivers, Outcome.REFUSED, refused.statement)
        except KubeFailure as failure:
            self._none_made(drivers, Outcome.FAILED, failure.statement)
        else:
            self._compare()

    def _none_made(self, drivers: Sequence[str], outcome: Outcome, note: Statement) -> None:
        for driver in drivers:
            status_requests.note_not_made(
                self._cluster.pk,
                driver,
                name=new_name(),
                outcome=outcome,
                note=note,
                now=self._clock(),
            )

    def _remove_leftovers(self, connection: Connection, served: ServedResource) -> None:
        """What a crash left. Nobody else of this installation is at it: the lease is ours."""
        selector = ",".join(f"{key}={value}" for key, value in _labels().items())
        for left in pool_status.list_ours(connection, served, label_selector=selector):
            pool_status.delete(connection, served, left.name, uid=left.uid)
        cluster_id = self._cluster.pk
        names = status_requests.unremoved_names(cluster_id)
        # Also those that were taken away before their answer was stored.
        for row in PoolStatusRequest.objects.filter(
            cluster_id=cluster_id, outcome=Outcome.PENDING
        ):
            note = Statement("ended_before_answer")
            status_requests.end_request(
                row, outcome=Outcome.FAILED, notes=[note], now=self._clock()
            )
        status_requests.note_removed(cluster_id, names)

    def _ask_drivers(self, asker: _Asker, drivers: Sequence[str]) -> None:
        asked = [made for driver in drivers if (made := asker.ask(driver)) is not None]
        singles: list[tuple[PoolKey, str]] = []
        for each, answer in asker.wait_for(asked):
            states = status_requests.pool_states(self._cluster.pk, each.row.driver)
            if answer is None:
                self._end_unanswered(each.row, states)
                singles += self._beside_blockers(each.row, states)
            else:
                self._end_answered(each, answer)
                singles += self._left_out(answer, states)
        asked = [
            made
            for key, attribute in singles[:_MOST_SINGLE_POOLS]
            if (made := asker.ask(key.driver, pool=key.pool, attribute=attribute)) is not None
        ]
        for each, answer in asker.wait_for(asked):
            if answer is None:
                self._end_unanswered(each.row, [])
            else:
                self._end_answered(each, answer)

    def _end_answered(self, asked: _Asked, answer: RequestAnswer) -> None:
        now = self._clock()
        answers = status_requests.end_request(
            asked.row,
            outcome=Outcome.FAILED if answer.is_failed else Outcome.ANSWERED,
            notes=_notes_of(answer),
            answer=decoded(answer.body),
            now=now,
        )
        moment = moments.Moment(
            asked_at=asked.since,
            created=asked.made.resource_version,
            answered=answer.resource_version,
        )
        if answers:
            self._answered.append(_Answered(asked.row, answers, moment))

    def _end_unanswered(self, row: PoolStatusRequest, states: Sequence[PoolState]) -> None:
        blockers = [state for state in states if state.blocker]
        component, gate = _ANSWERING_GATE
        gates = (self._capabilities.gates or {}).get(component, {})
        if gates.get(gate) is False:
            outcome = Outcome.NOBODY_ANSWERS
            note = Statement.of("gate_off", gate=gate, component=component)
        elif blockers:
            outcome = Outcome.BLOCKED
            note = Statement("pools_block_answer")
        elif not status_requests.was_ever_answered(row.cluster_id):
            outcome = Outcome.NOBODY_ANSWERS
            note = Statement.of("never_answered", gate=gate, component=component)
        else:
            outcome = Outcome.UNANSWERED
            note = Statement("no_answer_came")
        status_requests.end_request(
            row,
            outcome=outcome,
            notes=[note],
            blocked_by=blockers,
            now=self._clock(),
        )

    def _beside_blockers(
        self, row: PoolStatusRequest, states: Sequence[PoolState]
    ) -> Iterator[tuple[PoolKey, str]]:
        if row.outcome == Outcome.BLOCKED:
            yield from ((s.key, self._attribute(s)) for s in states if not s.blocker)

    def _left_out(
        self, answer: RequestAnswer, states: Sequence[PoolState]
    ) -> Iterator[tuple[PoolKey, str]]:
        """Pools behind the limit, and pools with partitions that the answer says nothing of."""
        summed = {
            name: "partitionSummary" in entry or "validationError" in entry
            for entry in answer.pools
            if isinstance(name := entry.get("poolName"), str)
        }
        for state in states:
            attribute = self._attribute(state)
            is_missing = answer.is_truncated and state.key.pool not in summed
            lacks_partitions = bool(attribute) and summed.get(state.key.pool) is False
            if is_missing or lacks_partitions:
                yield state.key, attribute

    def _attribute(self, state: PoolState) -> str:
        """Only where it makes sense: plain pools would be answered with an error."""
        knows = self._release is None or self._release >= _PARTITIONS_SINCE
        return state.partition_type_attribute if knows else ""

    def _compare(self) -> None:
        if not self._answered or not self._catch_up(self._clock()):
            return
        for each in self._answered:
            keys = [
                PoolKey(DriverName(answer.driver), PoolName(answer.pool_name))
                for answer in each.answers
            ]
            with transaction.atomic(), open_cursor() as cursor:
                knowledge = read_knowledge(
                    self._cluster.pk,
                    served=frozenset(self._capabilities.resources),
                    release=self._release,
                )
                ours = moments.pools_at(
                    cursor, self._cluster.pk, keys, knowledge, moment=each.moment
                )
            status_requests.record_comparison(each.row, each.answers, ours, release=self._release)

    def _catch_up(self, answered_at: datetime) -> bool:
        """Wait until everything up to the answers is stored: windows have ended that were open then."""
        deadline = time.monotonic() + settings.DRADASH.watch_window_seconds + _CATCH_UP_SECONDS
        rows = ClusterKind.objects.filter(
            cluster_id=self._cluster.pk, kind__in=registry.figure_kinds(), state="watching"
        )
        while time.monotonic() < deadline:
            moments_ = list(rows.values_list("last_synced_at", flat=True))
            if moments_ and all(m is not None and m > answered_at for m in moments_):
                return True
            give_back()
            if not pause(_LOOK_SECONDS):
                break
        log.info("answers not compared: the sync has not come past them", cluster=self._cluster.pk)
        return False


def _notes_of(answer: RequestAnswer) -> list[Statement]:
    """What an answer says beside its pools."""
    if answer.is_truncated:
        total = answer.pool_count
        return [Statement.of("answer_truncated", answered=len(answer.pools), total=total)]
    failed = next((c for c in answer.conditions if c.get("type") == "Failed"), None)
    said = str(failed.get("message", "")) if answer.is_failed and failed else ""
    return [Statement.of("server_said", text=as_text(said))] if said else []


def new_name() -> str:
    """A name that nobody else takes, and by which a person knows whose it is."""
    return f"dradash-{secrets.token_hex(5)}"


class _Asker:
    """Makes requests, waits for their answers, and takes them away whatever happens."""

    def __init__(
        self,
        cluster: Cluster,
        connection: Connection,
        served: ServedResource,
        clock: Callable[[], datetime],
    ) -> None:
        self._cluster = cluster
        self._connection = connection
        self._served = served
        self._clock = clock
        self._seconds = settings.DRADASH.pool_status_timeout_seconds

    def ask(self, driver: str, *, pool: str = "", attribute: str = "") -> _Asked | None:
        """Make a request; None where it could not be made, or where this process ends."""
        if is_stopping():
            return None
        since = self._clock()
        row = status_requests.begin_request(
            self._cluster.pk,
            driver,
            name=new_name(),
            pool=pool,
            partition_type_attribute=attribute,
            now=since,
        )
        try:
            made = pool_status.create(
                self._connection,
                self._served,
                name=row.name,
                labels=_labels(),
                driver=driver,
                pool_name=pool or None,
                default_partition_type_attribute=attribute or None,
            )
        except KubeFailure as failure:
            self._end(row, failure)
            is_surely_not_made = not failure.retriable
            if is_surely_not_made:
                status_requests.note_removed(self._cluster.pk, [row.name])
            return None
        return _Asked(row, made, since)

    def _end(self, row: PoolStatusRequest, failure: KubeFailure) -> None:
        is_refused = isinstance(failure, Forbidden | Unauthorized)
        outcome = Outcome.REFUSED if is_refused else Outcome.FAILED
        status_requests.end_request(
            row, outcome=outcome, notes=[failure.statement], now=self._clock()
        )

    def wait_for(self, asked: Sequence[_Asked]) -> Iterator[tuple[_Asked, RequestAnswer | None]]:
        """Each request with its answer, None when there is none in time. All wait side by side."""
        deadline = time.monotonic() + self._seconds
        waiting = list(asked)
        try:
            # Most answers come within milliseconds: one that does not come must not hold up the others.
            for seconds in (_QUICK_SECONDS, None):
                late = []
                for each in waiting:
                    left = seconds or max(1.0, deadline - time.monotonic())
                    try:
                        answer = self._wait(each, seconds=left)
                    except KubeFailure as failure:
                        self._end(each.row, failure)
                        continue
                    if answer.is_answered:
                        yield each, answer
                    else:
                        late.append(each)
                waiting = late
            yield from ((each, None) for each in waiting)
        finally:
            for each in asked:
                self._remove(each)

    def stop_waiting(self) -> None:
        """Go on without the answers that have not come; requests are taken away as always."""
        self._connection.interrupt()

    def _wait(self, asked: _Asked, *, seconds: float) -> RequestAnswer:
        if is_stopping():
            raise Unreachable(Statement("ended_before_answer"))
        give_back()
        try:
            return pool_status.wait(
                self._connection,
                self._served,
                asked.made.name,
                resource_version=asked.made.resource_version,
                timeout_seconds=seconds,
                pause=pause,
            )
        except KubeFailure as failure:
            if is_stopping() and failure.retriable:
                raise Unreachable(Statement("ended_before_answer")) from failure
            raise

    def _remove(self, asked: _Asked) -> None:
        """What cannot be removed now is found by its label the next time."""
        with suppress(KubeFailure):
            pool_status.delete(self._connection, self._served, asked.made.name, uid=asked.made.uid)
            status_requests.note_removed(self._cluster.pk, [asked.made.name])
