"""Rows of clusters as shapes: how each is reached, what it serves, what we may do there, and how far each kind was read."""

from collections.abc import Sequence
from typing import Any

from api.coverage import Coverage
from api.links import Links
from clusters import models, queries
from clusters.choices import Source
from dra import shapes
from ui.words import gap_words, source_words, words_of


def cluster(row: models.Cluster, coverage: Coverage, links: Links) -> shapes.Cluster:
    return shapes.Cluster(**_members(row, coverage, links))


def cluster_with_gaps(
    row: models.Cluster, coverage: Coverage, links: Links, *, gaps: Sequence[models.Gap]
) -> shapes.ClusterDetail:
    """With the latest gaps, those that have ended among them, newest first."""
    told_gaps = [gap(each, cluster_name=row.name) for each in gaps]
    return shapes.ClusterDetail(**_members(row, coverage, links), gaps=told_gaps)


def _members(row: models.Cluster, coverage: Coverage, links: Links) -> dict[str, Any]:
    # A cluster that came up since is not among those of the answer.
    fresh = coverage.freshness.get(row.pk) or queries.freshness([row])[row.pk]
    return {
        "id": str(row.pk),
        "url": links.cluster(row.pk),
        "name": row.name,
        "origin": row.source,
        "simulated": row.source == Source.SIMULATED,
        "context": row.context or None,
        "server": row.url or None,
        "watched": row.is_watched,
        "replaced_at": row.replaced_at,
        "paused": row.is_paused,
        "pool_status_requests": row.pool_status_mode,
        "reach": shapes.ClusterReach(
            state=row.reach,  # type: ignore[arg-type]  # one of its choices
            message=words_of(row.reach_failure),
            failure=failure(row.reach_failure),
            changed_at=row.reach_changed_at,
        ),
        "server_version": row.server_version or None,
        "discovered_at": row.discovered_at,
        **_capabilities(row.capabilities),
        "kinds": [_kind(each) for each in row.known_kinds],
        "observed_at": fresh.observed_at,
        "stale": fresh.is_stale(coverage.moment),
        "source": source_words(fresh.resource_versions, fresh.observed_at),
        "resource_versions": fresh.resource_versions,
    }


def gap(row: models.Gap, *, cluster_name: str) -> shapes.Gap:
    return shapes.Gap(
        cluster=cluster_name,
        cluster_id=str(row.cluster_id),
        kind=row.kind,
        started_at=row.started_at,
        ended_at=row.ended_at,
        reason=row.reason,
        message=gap_words(row.reason, row.failure),
        failure=failure(row.failure),
    )


def failure(stored: dict[str, Any]) -> shapes.Problem | None:
    """What failed; None where nothing did."""
    if not stored:
        return None
    return shapes.Problem(
        code=stored["code"], message=words_of(stored), parameters=stored["parameters"]
    )


def freshness(coverage: Coverage) -> list[shapes.Freshness]:
    """How old the figures of each cluster are, in order of name."""
    return [
        shapes.Freshness(
            cluster=fresh.cluster_name,
            cluster_id=str(fresh.cluster_id),
            observed_at=fresh.observed_at,
            stale=fresh.is_stale(coverage.moment),
            source=source_words(fresh.resource_versions, fresh.observed_at),
            resource_versions=fresh.resource_versions,
        )
        for fresh in sorted(coverage.freshness.values(), key=lambda each: each.cluster_name)
    ]


def open_gaps(coverage: Coverage) -> list[shapes.Gap]:
    """Gaps that last, earliest first."""
    return [
        gap(each, cluster_name=coverage.clusters[each.cluster_id].name) for each in coverage.gaps
    ]


def _capabilities(stored: dict[str, Any] | None) -> dict[str, Any]:
    """What discovery stored, in the words of `kube.discovery.Capabilities.to_json`; null before the first one."""
    if stored is None:
        return {"versions": None, "rights": None, "gates": None}
    return {
        "versions": [
            shapes.ServedVersion(kind=kind, group_version=resource["group_version"])
            for kind, resource in sorted(stored["resources"].items())
        ],
        "rights": [
            shapes.Right(kind=kind, verb=verb, allowed=is_allowed)
            for kind, verb, is_allowed in stored["rights"]
        ],
        "gates": stored["gates"],
    }


def _kind(row: models.ClusterKind) -> shapes.ClusterKind:
    return shapes.ClusterKind(
        kind=row.kind,
        state=row.state,  # type: ignore[arg-type]  # one of its choices
        message=words_of(row.failure),
        failure=failure(row.failure),
        api_version=row.api_version or None,
        resource_version=row.resource_version or None,
        object_count=row.object_count,
        read_count=row.read_count,
        last_synced_at=row.last_synced_at,
        last_changed_at=row.last_changed_at,
        failing_since=row.failing_since,
        failures=row.failures,
        retry_at=row.retry_at,
        relists=row.relists,
    )
