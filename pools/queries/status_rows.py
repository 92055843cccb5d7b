"""Reads of pool status requests and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import (
    Count,
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many pools were compared with what a server says of them, and how many of these it counts otherwise."""

    compared: int
    differing: int


def _requests() -> QuerySet[PoolStatusRequest]:
    """Without what the server wrote, which names up to a thousand pools: only the page of one request shows it."""
    return PoolStatusRequest.objects.defer("answer")


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
    return _requests().filter(condition)


def agreement(snapshot: Snapshot, cluster_ids: Sequence[int]) -> Agreement:
    """By the newest compared answer about all pools of each driver; pools of it that were not compared are left out. One query."""
    about_all = PoolStatusRequest.objects.filter(
        cluster_id__in=cluster_ids, pool_name="", pools_differing__isnull=False
    )
    latest = about_all.order_by("cluster_id", "driver", "-created_at", "-id").distinct(
        "cluster_id", "driver"
    )
    compared = PoolStatusAnswer.objects.filter(
        request_id__in=latest.values("id"), differences__isnull=False
    )
    counts = compared.aggregate(
        compared=Count("id"), differing=Count("id", filter=~Q(differences=[]))
    )
    return Agreement(**counts)


def status_request(snapshot: Snapshot, request_id: int) -> PoolStatusRequest:
    """One pool status request; raises PoolStatusRequest.DoesNotExist."""
    return PoolStatusRequest.objects.get(pk=request_id)


def answers(snapshot: Snapshot, found: PoolStatusRequest) -> QuerySet[PoolStatusAnswer]:
    """What one request's answer says of each pool, those that differ first; each has the request, which is not read again."""
    return found.pools.order_by(
        Func(
            Coalesce("differences", Value([], JSONField())),
            function="jsonb_array_length",
        ).desc(),
        "driver",
        "pool_name",
        "id",
    )


def latest_answer(snapshot: Snapshot, pool: Pool) -> PoolStatusAnswer | None:
    """The newest answer of the server about one pool, with its request."""
    return (
        PoolStatusAnswer.objects.filter(
            cluster_id=pool.cluster_id, driver=pool.driver, pool_name=pool.name
        )
        .select_related("request")
        .defer("request__answer")
        .order_by("-observed_at", "-id")
        .first()
    )


def latest_status_request(snapshot: Snapshot, pool: Pool) -> PoolStatusRequest | None:
    """The newest pool status request that covers one pool, answered or not."""
    return (
        _requests()
        .filter(cluster_id=pool.cluster_id, driver=pool.driver)
        .filter(Q(pool_name="") | Q(pool_name=pool.name))
        .order_by("-created_at", "-id")
        .first()
    )
