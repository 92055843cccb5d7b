"""Reads of pool status requests and their answers."""

from collections.abc import Sequence

from django.db.models import (
    Func,
    JSONField,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce

from pools.models import (
    Pool,
    PoolStatusAnswer,
    PoolStatusRequest,
)
from pools.queries.conditions import places
from pools.queries.wanted import StatusFilter
from ui.snapshot import Snapshot


def status_requests(snapshot: Snapshot, wanted: StatusFilter) -> QuerySet[PoolStatusRequest]:
    """Pool status requests that match."""
    condition = places(wanted.clusters, wanted.drivers, ())
    if wanted.pools:
        condition &= Q(pool_name__in=wanted.pools)
    if wanted.names:
        condition &= Q(name__in=wanted.names)
    if wanted.outcomes:
        condition &= Q(outcome__in=wanted.outcomes)
    if wanted.is_differing is not None:
        condition &= Q(pools_differing__gt=0) if wanted.is_differing else Q(pools_differing=0)
    if wanted.text:
        condition &= (
            Q(name__icontains=wanted.text)
            | Q(driver__icontains=wanted.text)
            | Q(pool_name__icontains=wanted.text)
        )
    return PoolStatusRequest.objects.filter(condition)


def latest_comparisons(snapshot: Snapshot, cluster_ids: Sequence[int]) -> list[PoolStatusRequest]:
    """Of each driver the newest request about all its pools whose answer was compared with our figures; one query."""
    rows = PoolStatusRequest.objects.filter(
        cluster_id__in=cluster_ids, pool_name="", pools_differing__isnull=False
    )
    return list(
        rows.order_by("cluster_id", "driver", "-created_at", "-id").distinct(
            "cluster_id", "driver"
        )
    )


def status_request(snapshot: Snapshot, request_id: int) -> PoolStatusRequest:
    """One pool status request; raises PoolStatusRequest.DoesNotExist."""
    return PoolStatusRequest.objects.get(pk=request_id)


def answers(snapshot: Snapshot, request_id: int) -> QuerySet[PoolStatusAnswer]:
    """What one request's answer says of each pool, those that differ first."""
    return PoolStatusAnswer.objects.filter(request_id=request_id).order_by(
        Func(
            Coalesce("differences", Value([], JSONField())),
            function="jsonb_array_length",
        ).desc(),
        "driver",
        "pool_name",
        "id",
    )


def latest_answer(snapshot: Snapshot, found: Pool) -> PoolStatusAnswer | None:
    """The newest answer of the server about one pool, with its request."""
    return (
        PoolStatusAnswer.objects.filter(
            cluster_id=found.cluster_id, driver=found.driver, pool_name=found.name
        )
        .select_related("request")
        .order_by("-observed_at", "-id")
        .first()
    )


def latest_status_request(snapshot: Snapshot, found: Pool) -> PoolStatusRequest | None:
    """The newest pool status request that covers one pool, answered or not."""
    return (
        PoolStatusRequest.objects.filter(cluster_id=found.cluster_id, driver=found.driver)
        .filter(Q(pool_name="") | Q(pool_name=found.name))
        .order_by("-created_at", "-id")
        .first()
    )
