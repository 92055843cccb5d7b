"""Since when the problems of pools are there, from the versions that are kept of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from pools.models import Pool
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ProblemStart:
    """When a problem began."""

    at: datetime
    # It was there before `at` already; how long is not looked for.
    is_earlier: bool = False


# By id of the pool and code of the problem.
ProblemStarts = Mapping[tuple[int, str], ProblemStart]

# A problem began where the latest version without it ends. Versions of one day before the present one are looked at: a pool that
# changes each second has very many, and those of long ago are not kept.
_STARTS = """
SELECT p.id, code, p.first_seen_at, max(c.until) FILTER (WHERE NOT c.problem_codes ? code), least(min(c.since), p.since)
FROM pools_pool p CROSS JOIN LATERAL jsonb_array_elements_text(p.problem_codes) AS code
LEFT JOIN public.pools_pool_closed c ON c.cluster_id = p.cluster_id AND c.id = p.id
    AND c.until <= %(moment)s AND c.until > p.since - interval '1 day'
WHERE p.id = ANY(%(ids)s)
GROUP BY 1, 2, 3, p.since
"""


def problem_starts(snapshot: Snapshot, pools: Sequence[Pool]) -> ProblemStarts:
    """When each problem of these pools began; one query, or none where there is no problem."""
    ids = [pool.id for pool in pools if pool.problem_codes]
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_STARTS, {"ids": ids, "moment": snapshot.moment})
        return {
            (pool_id, code): _start(first_seen_at, without_until=without_until, oldest=oldest)
            for pool_id, code, first_seen_at, without_until, oldest in cursor.fetchall()
        }


def _start(
    first_seen_at: datetime, *, without_until: datetime | None, oldest: datetime
) -> ProblemStart:
    if without_until is not None:
        return ProblemStart(without_until)
    return ProblemStart(oldest, is_earlier=oldest > first_seen_at)
