"""Clusters as JSON: how each is reached, what it serves, what we may do there, and how far each kind was read."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.known import Known
from clusters import queries
from clusters.choices import Source
from clusters.models import Cluster, ClusterKind, Gap

Json = dict[str, Any]


def cluster(row: Cluster, known: Known) -> Json:
    # A cluster that came up since is not among the known ones.
    fresh = known.freshness.get(row.pk) or queries.freshness([row])[row.pk]
    return {
        "id": str(row.pk),
        "name": row.name,
        "origin": row.source,
        "simulated": row.source == Source.SIMULATED,
        "context": row.context or None,
        "url": row.url or None,
        "watched": row.is_watched,
        "paused": row.is_paused,
        "pool_status_requests": row.pool_status_mode,
        "reach": {
            "state": row.reach,
            "message": row.reach_message,
            "changed_at": row.reach_changed_at,
        },
        "server_version": row.server_version or None,
        "discovered_at": row.discovered_at,
        **_capabilities(row.capabilities),
        "kinds": [_kind(each) for each in row.kinds.all()],
        "observed_at": fresh.observed_at,
        "stale": fresh.is_stale(known.now),
        "source": fresh.source,
    }


def cluster_with_gaps(row: Cluster, known: Known, *, gaps: Sequence[Gap]) -> Json:
    """With the latest gaps, those that have ended among them, newest first."""
    return {**cluster(row, known), "gaps": [gap(each, cluster_name=row.name) for each in gaps]}


def gap(row: Gap, *, cluster_name: str) -> Json:
    return {
        "cluster": cluster_name,
        "kind": row.kind,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "reason": row.reason,
        "message": row.message,
    }


def freshness(known: Known) -> list[Json]:
    """How old the figures of each cluster are, in order of name."""
    return [
        {
            "cluster": fresh.cluster_name,
            "observed_at": fresh.observed_at,
            "stale": fresh.is_stale(known.now),
            "source": fresh.source,
        }
        for fresh in sorted(known.freshness.values(), key=lambda each: each.cluster_name)
    ]


def open_gaps(known: Known) -> list[Json]:
    """Gaps that last, earliest first."""
    return [gap(each, cluster_name=known.clusters[each.cluster_id].name) for each in known.gaps]


def _capabilities(found: Mapping[str, Any] | None) -> Json:
    """What discovery stored, in the words of `kube.discovery.Capabilities.to_json`; null before the first one."""
    if found is None:
        return {"versions": None, "rights": None, "gates": None}
    return {
        "versions": [
            {"kind": kind, "group_version": resource["group_version"]}
            for kind, resource in sorted(found["resources"].items())
        ],
        "rights": [
            {"kind": kind, "verb": verb, "allowed": is_allowed}
            for kind, verb, is_allowed in found["rights"]
        ],
        "gates": found["gates"],
    }


def _kind(row: ClusterKind) -> Json:
    return {
        "kind": row.kind,
        "state": row.state,
        "message": row.message,
        "api_version": row.api_version or None,
        "resource_version": row.resource_version or None,
        "object_count": row.object_count,
        "read_count": row.read_count,
        "last_synced_at": row.last_synced_at,
        "last_changed_at": row.last_changed_at,
        "failing_since": row.failing_since,
        "failures": row.failures,
        "retry_at": row.retry_at,
        "relists": row.relists,
    }
