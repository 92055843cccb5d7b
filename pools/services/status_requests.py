"""Pool status requests as rows: made, answered or not, compared with our figures, taken away."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Max
from msgspec import to_builtins

from clusters.services import raising_revisions
from dra import shapes
from dra.catalogue import Statement
from dra.compare import compare_with_server
from dra.server_json import parse_pool_statuses
from dra.values import AssessedPool, DriverName, PoolKey, PoolName, Release
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from objects.services.staging import storable
from pools.choices import Outcome
from pools.models import Pool, PoolStatusAnswer, PoolStatusRequest, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

# The first release whose servers answer at all.
_FIRST: Final = Release(1, 36)
# What revisions of these rows are counted by.
SUBJECT: Final = RESOURCE_POOL_STATUS_REQUEST.name


def due_drivers(cluster_id: int, *, made_before: datetime) -> list[str]:
    """Drivers with a slice, none of whose requests for all their pools was made since."""
    drivers = ResourceSlice.objects.filter(cluster_id=cluster_id).values_list("driver", flat=True)
    recent = PoolStatusRequest.objects.filter(
        cluster_id=cluster_id, pool_name="", created_at__gt=made_before
    ).values_list("driver", flat=True)
    return sorted(set(drivers.distinct()) - set(recent))


def note_not_made(
    cluster_id: int, driver: str, *, name: str, outcome: Outcome, note: Statement, now: datetime
) -> PoolStatusRequest:
    """Note that a request was not even made, and why. While that stays so, one row says it."""
    rows = PoolStatusRequest.objects.filter(cluster_id=cluster_id, driver=driver)
    latest = rows.defer("answer").first()
    notes = [shapes.statement_shape(note)]
    if latest is not None and (latest.outcome, latest.notes) == (outcome, notes):
        with raising_revisions(cluster_id, SUBJECT):
            PoolStatusRequest.objects.filter(pk=latest.pk).update(created_at=now)
        return latest
    with raising_revisions(cluster_id, SUBJECT):
        return PoolStatusRequest.objects.create(
            cluster_id=cluster_id,
            name=name,
            driver=driver,
            outcome=outcome,
            notes=notes,
            created_at=now,
            is_removed=True,
        )


def begin_request(
    cluster_id: int,
    driver: str,
    *,
    name: str,
    now: datetime,
    pool: str = "",
    partition_type_attribute: str = "",
) -> PoolStatusRequest:
    """Write the row before the object is made, so that no object of ours is in the cluster without one."""
    with raising_revisions(cluster_id, SUBJECT):
        return PoolStatusRequest.objects.create(
            cluster_id=cluster_id,
            name=name,
            driver=driver,
            pool_name=pool,
            partition_type_attribute=partition_type_attribute,
            created_at=now,
        )


def end_request(
    row: PoolStatusRequest,
    *,
    outcome: Outcome,
    notes: Sequence[Statement] = (),
    answer: Mapping[str, Any] | None = None,
    blocked_by: Sequence[PoolState] = (),
    now: datetime,
) -> list[PoolStatusAnswer]:
    """Store what became of a request: the whole answer, and each pool of it by itself, whatever a server wrote there."""
    answer = storable(answer)
    status = (answer or {}).get("status")
    count, pools = _pools_of(status) if isinstance(status, dict) else (None, [])
    row.outcome = outcome
    row.ended_at = now
    row.notes = [shapes.statement_shape(note) for note in notes]
    row.answer = answer
    row.blocked_by = [
        {"driver": each.key.driver, "pool": each.key.pool, **shapes.statement_shape(each.blocker)}
        for each in blocked_by
        if each.blocker is not None
    ]
    if outcome == Outcome.ANSWERED:
        row.answered_at = now
        row.pool_count = count
        row.pools_answered = len(pools)
    with raising_revisions(row.cluster_id, SUBJECT):
        row.save()
        return PoolStatusAnswer.objects.bulk_create(
            [
                PoolStatusAnswer(
                    request=row,
                    cluster_id=row.cluster_id,
                    driver=_text(entry.get("driver")) or row.driver,
                    pool_name=_text(entry.get("poolName")),
                    observed_at=now,
                    server=entry,
                )
                for entry in pools
            ]
        )


def _pools_of(status: Mapping[str, Any]) -> tuple[int | None, list[dict[str, Any]]]:
    """How many pools there are, and those of which the answer tells."""
    count, pools = status.get("poolCount"), status.get("pools")
    is_count = type(count) is int and 0 <= count < 2**31
    entries = pools if isinstance(pools, list) else []
    return count if is_count else None, [each for each in entries if isinstance(each, dict)]


def _text(value: object) -> str:
    """Empty for what is no text."""
    return value if isinstance(value, str) else ""


def note_removed(cluster_id: int, names: Sequence[str]) -> None:
    """These objects are not in the cluster any more."""
    rows = PoolStatusRequest.objects.filter(
        cluster_id=cluster_id, name__in=names, is_removed=False
    )
    with raising_revisions(cluster_id) as subjects:
        if rows.update(is_removed=True):
            subjects.add(SUBJECT)


def unremoved_names(cluster_id: int) -> list[str]:
    """Requests whose objects may still be in the cluster."""
    rows = PoolStatusRequest.objects.filter(cluster_id=cluster_id, is_removed=False)
    return list(rows.values_list("name", flat=True))


def record_comparison(
    row: PoolStatusRequest,
    answers: Sequence[PoolStatusAnswer],
    pools: Mapping[PoolKey, AssessedPool],
    *,
    release: Release | None,
) -> None:
    """Put our figures beside the server's. Pools that changed meanwhile are left for the next time."""
    compared = []
    for answer in answers:
        pool = pools.get(PoolKey(DriverName(answer.driver), PoolName(answer.pool_name)))
        statuses = parse_pool_statuses({"pools": [answer.server]}).value or ()
        if pool is None or not statuses:
            continue
        differences = compare_with_server(pool, statuses[0], release=release or _FIRST)
        answer.ours = _stored_pool(pool)
        answer.differences = [asdict(difference) for difference in differences]
        compared.append(answer)
    # Where nothing was compared it is not known whether anything differs.
    differing = sum(bool(answer.differences) for answer in compared)
    row.pools_differing = differing if compared else None
    left = len(answers) - len(compared)
    if left:
        note = Statement.of("pools_not_compared", pools=left)
        row.notes = [*row.notes, shapes.statement_shape(note)]
    with raising_revisions(row.cluster_id, SUBJECT):
        PoolStatusAnswer.objects.bulk_update(compared, ("ours", "differences"), batch_size=500)
        row.save(update_fields=("pools_differing", "notes"))


def _stored_pool(pool: AssessedPool) -> dict[str, Any]:
    """Our figures in their shape of the REST API, but for the words of problems, which are made when they are shown."""
    problems = [shapes.statement_shape(each) for each in pool.problems]
    return {**to_builtins(shapes.pool_figures(pool)), "problems": problems}


@dataclass(frozen=True, slots=True)
class PoolState:
    """What of a pool decides whether and how a server is asked about it."""

    key: PoolKey
    blocker: Statement | None
    """Why it keeps a request of its driver unanswered; None when it does not."""
    partition_type_attribute: str
    asked_at: datetime | None


def pool_states(cluster_id: int, driver: str) -> list[PoolState]:
    """The published pools of a driver, those first whose answer is the oldest."""
    latest = dict(
        PoolStatusAnswer.objects.filter(cluster_id=cluster_id, driver=driver)
        .values_list("pool_name")
        .annotate(latest=Max("observed_at"))
    )
    rows = Pool.objects.filter(cluster_id=cluster_id, driver=driver, vanished_at__isnull=True)
    states = [
        PoolState(
            key=PoolKey(DriverName(row.driver), PoolName(row.name)),
            blocker=_blocker(row),
            partition_type_attribute=row.partitions[0]["attribute"] if row.partitions else "",
            asked_at=latest.get(row.name),
        )
        for row in rows.order_by("name")
    ]
    return sorted(states, key=lambda s: (s.asked_at is not None, s.asked_at, s.key))


def _blocker(row: Pool) -> Statement | None:
    if row.generation == 0:
        return Statement("blocked_by_generation_zero")
    if row.is_complete:
        return None
    return Statement.of(
        "blocked_by_missing_slices", seen=row.slices_seen, expected=row.slices_expected
    )


def was_ever_answered(cluster_id: int) -> bool:
    """Whether any request of this cluster has had an answer."""
    rows = PoolStatusRequest.objects.filter(cluster_id=cluster_id, outcome=Outcome.ANSWERED)
    return rows.exists()
