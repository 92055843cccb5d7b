"""The clusters that an answer covers: how fresh each is, and which gaps are open.

Read in the snapshot of the rows, so that an ETag names what the answer shows.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.utils.http import parse_etags
from rest_framework.request import Request

from clusters import queries
from clusters.choices import CLUSTER
from clusters.models import Cluster, Gap
from clusters.queries import Freshness
from ui.snapshot import Snapshot

# Counted up when shapes change, so that no reader keeps an answer of the old shape.
SHAPES = 8


@dataclass(frozen=True, slots=True)
class Coverage:
    """The clusters of an answer and their freshness, by id, and the gaps that last."""

    snapshot: Snapshot
    clusters: dict[int, Cluster]
    freshness: dict[int, Freshness]
    gaps: tuple[Gap, ...]

    @property
    def now(self) -> datetime:
        """When the answer is made."""
        return self.snapshot.now

    @property
    def moment(self) -> datetime:
        """What the answer is about: a moment of the past, or now."""
        return self.snapshot.moment

    def named(self, names: Sequence[str]) -> Self:
        """The same for the clusters that a filter names, by name or number; for all without names."""
        if not names:
            return self
        return self.of(
            number
            for number, each in self.clusters.items()
            if each.address_name in names or str(number) in names
        )

    def of(self, cluster_ids: Iterable[int]) -> Self:
        """The same for these clusters alone."""
        kept = [number for number in cluster_ids if number in self.clusters]
        return type(self)(
            snapshot=self.snapshot,
            clusters={number: self.clusters[number] for number in kept},
            freshness={number: self.freshness[number] for number in kept},
            gaps=tuple(gap for gap in self.gaps if gap.cluster_id in kept),
        )

    def observed_at(self) -> datetime | None:
        """The moment for which all of it was known; None as soon as one cluster has none."""
        moments = [fresh.observed_at for fresh in self.freshness.values()]
        known = [moment for moment in moments if moment is not None]
        return min(known) if known and len(known) == len(moments) else None

    def is_stale(self) -> bool:
        """Whether figures of any of these clusters are older than they should be; of no cluster nothing is known at all."""
        known = self.freshness.values()
        return not known or any(fresh.is_stale(self.moment) for fresh in known)


def read_coverage(snapshot: Snapshot) -> Coverage:
    """Three queries, whatever the number of clusters."""
    clusters = {each.pk: each for each in queries.all_clusters(snapshot)}
    gaps = tuple(gap for gap in queries.open_gaps(snapshot) if gap.cluster_id in clusters)
    freshness = queries.freshness(clusters.values())
    return Coverage(snapshot=snapshot, clusters=clusters, freshness=freshness, gaps=gaps)


def etag(
    request: Request, coverage: Coverage, *, subjects: Sequence[str], also: Sequence[Any] = ()
) -> str:
    """Weak: the same tag means the same figures and the same trust in them, though observed since.

    So `observed_at` and the resource versions of `source` are no part of it. A 304 tells the newer moment in Dradash-Observed-At.
    """
    parts = (
        SHAPES,
        request.build_absolute_uri(),
        request.accepted_renderer.format,
        getattr(request, "LANGUAGE_CODE", ""),
        coverage.snapshot.viewer,
        coverage.snapshot.at,
        [_state(fresh, subjects, now=coverage.moment) for fresh in coverage.freshness.values()],
        [gap.pk for gap in coverage.gaps],
        list(also),
    )
    return 'W/"' + hashlib.sha256(repr(parts).encode()).hexdigest()[:32] + '"'


def has_etag(request: Request, tag: str) -> bool:
    """Whether the reader already has what the tag names."""
    given = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in given or tag in [f"W/{each.removeprefix('W/')}" for each in given]


def _state(fresh: Freshness, subjects: Sequence[str], *, now: datetime) -> tuple[object, ...]:
    failures = [(kind.kind, kind.state, kind.failure) for kind in fresh.failures]
    return (
        fresh.cluster_id,
        fresh.cluster_name,
        fresh.replaced_at,
        [fresh.revisions.get(subject, 0) for subject in (CLUSTER, *subjects)],
        fresh.observed_at is None,
        fresh.is_stale(now),
        fresh.is_simulated,
        fresh.is_paused,
        fresh.is_watched,
        fresh.is_reading,
        sorted(fresh.resource_versions),
        failures,
    )
