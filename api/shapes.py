"""Rows as JSON. Pools and devices have the shapes that `dra.shapes` gives to values of the core; a test holds both together."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.known import Known
from dra.series import FIGURES, Figures
from pools.models import (
    Allocation,
    Device,
    Pool,
    PoolStatusAnswer,
    PoolStatusRequest,
    ResourceSlice,
)
from pools.queries import History, HistoryPoint
from ui.words import reason_of, words_of

Json = dict[str, Any]


def pool(row: Pool, known: Known) -> Json:
    fresh = known.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "cluster": fresh.cluster_name,
        "driver": row.driver,
        "pool": row.name,
        "generation": row.generation,
        "complete": row.is_complete,
        "slices": {"seen": row.slices_seen, "expected": row.slices_expected},
        "node": row.node_name,
        "node_selection": {"kind": row.node_kind, "text": row.node_name or row.node_selection},
        "devices": {
            "total": row.devices_total,
            "seen": row.devices_seen,
            "allocated": row.devices_allocated,
            "partly_used": row.devices_partly_used,
            "unavailable": row.devices_unavailable,
            "blocked": row.devices_blocked,
            "available": row.devices_available,
            "admin_access": row.devices_admin_access,
        },
        "partitions": row.partitions,
        "capacity": row.capacity,
        "problems": _problems(row.problems),
        "observed_at": fresh.observed_at,
        "source": fresh.source,
    }


def device(row: Device, known: Known) -> Json:
    fresh = known.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "cluster": fresh.cluster_name,
        "driver": row.driver,
        "pool": row.pool_name,
        "device": row.name,
        "node": row.node_name,
        "generation": row.generation,
        "state": row.state,
        "partly_used": row.is_partly_used,
        "attributes": _sorted(row.attributes),
        "capacity": row.capacity,
        "taints": row.taints,
        "problems": _problems(row.problems),
        "observed_at": fresh.observed_at,
    }


def device_with_holders(row: Device, known: Known, *, holders: Sequence[Allocation]) -> Json:
    return {
        **device(row, known),
        "holders": [allocation(each) for each in holders],
        "source": known.freshness[row.cluster_id].source,
    }


def allocation(row: Allocation) -> Json:
    return {
        "driver": row.driver,
        "pool": row.pool_name,
        "device": row.device,
        "namespace": row.claim_namespace,
        "claim": row.claim_name,
        "claim_uid": str(row.claim_uid),
        "request": row.request,
        "share_id": row.share_id or None,
        "admin_access": row.has_admin_access,
        "consumed_capacity": _sorted(row.consumed_capacity),
    }


def _problems(stored: Sequence[Json]) -> list[Json]:
    return [
        {"code": each["code"], "message": words_of(each), "parameters": each["parameters"]}
        for each in stored
    ]


def resource_slice(row: ResourceSlice, known: Known) -> Json:
    fresh = known.freshness[row.cluster_id]
    return {
        "id": str(row.object_id),
        "cluster": fresh.cluster_name,
        "name": row.name,
        "api_version": row.api_version,
        "driver": row.driver,
        "pool": row.pool_name,
        "generation": row.generation,
        "resource_slice_count": row.resource_slice_count,
        "node": row.node_name,
        "node_kind": row.node_kind,
        "device_count": row.device_count,
        "problems": _problems(row.problems),
        "changed_at": row.since,
        "observed_at": fresh.observed_at,
        "source": fresh.source,
    }


def status_request(row: PoolStatusRequest, known: Known) -> Json:
    return {
        "id": str(row.pk),
        "cluster": known.freshness[row.cluster_id].cluster_name,
        "name": row.name,
        "driver": row.driver,
        "pool": row.pool_name or None,
        "partition_type_attribute": row.partition_type_attribute or None,
        "outcome": row.outcome,
        "message": row.message,
        "created_at": row.created_at,
        "answered_at": row.answered_at,
        "removed": row.is_removed,
        "pool_count": row.pool_count,
        "pools_answered": row.pools_answered,
        "pools_differing": row.pools_differing,
        "blocked_by": [_blocker(each) for each in row.blocked_by],
    }


def _blocker(stored: Json) -> Json:
    return {
        "driver": stored["driver"],
        "pool": stored["pool"],
        "code": stored["code"],
        "reason": words_of(stored),
        "parameters": stored["parameters"],
    }


def _difference(stored: Json) -> Json:
    """Of a row that an earlier release stored there is only the sentence."""
    return {
        "field": stored["field"],
        "ours": stored["ours"],
        "server": stored["server"],
        "reason": reason_of(stored),
        "reasons": stored["reasons"],
    }


def answered_status_request(
    row: PoolStatusRequest,
    known: Known,
    *,
    answers: Sequence[PoolStatusAnswer],
    pool_ids: Mapping[tuple[str, str], int],
) -> Json:
    pools = [
        {
            "id": _text_or_null(pool_ids.get((each.driver, each.pool_name))),
            "driver": each.driver,
            "pool": each.pool_name,
            "observed_at": each.observed_at,
            "server": each.server,
            "ours": each.ours and {**each.ours, "problems": _problems(each.ours["problems"])},
            "differences": each.differences and [_difference(found) for found in each.differences],
        }
        for each in answers
    ]
    return {**status_request(row, known), "pools": pools, "answer": row.answer}


def history(row: Pool, found: History, known: Known) -> Json:
    fresh = known.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "cluster": fresh.cluster_name,
        "driver": row.driver,
        "pool": row.name,
        "from": found.start,
        "to": found.end,
        "step_seconds": int(found.step.total_seconds()) if found.step else None,
        "points": [_point(each) for each in found.points],
        "gaps": [{"started_at": each.start, "ended_at": each.end} for each in found.gaps],
        "observed_at": fresh.observed_at,
        "source": fresh.source,
    }


def _point(found: HistoryPoint) -> Json:
    return {
        "at": found.at,
        "generation": found.generation,
        "complete": found.is_complete,
        "devices": _figures(found.figures),
        "least": _figures(found.least) if found.least else None,
        "most": _figures(found.most) if found.most else None,
    }


def _figures(found: Figures) -> Json:
    return {name: getattr(found, name) for name in FIGURES}


def _sorted(members: Mapping[str, Any]) -> Json:
    """In order of name, as the core gives them; jsonb keeps an order of its own."""
    return dict(sorted(members.items()))


def _text_or_null(number: int | None) -> str | None:
    return None if number is None else str(number)
