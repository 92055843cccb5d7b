"""Samples over a long time: hours of each pool, with gaps as not known, and a sample a day of what never changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from clusters import registry
from clusters.choices import POOLS, ReadState
from clusters.services import raising_revisions
from dra.series import FIGURES
from objects.services.partitions import Partitioned
from objects.services.staging import Cursor, open_cursor

SAMPLES: Final = (Partitioned("pools_poolsample"),)
HOURS: Final = (Partitioned("pools_poolhour", by="month"),)

_HOUR: Final = timedelta(hours=1)
# A transaction that is under way may still write a sample of the hour before.
_SETTLED_AFTER: Final = timedelta(minutes=2)


def _array(expression: str) -> str:
    return f"jsonb_build_array({', '.join(expression.format(name) for name in FIGURES)})"


_ROLL_UP: Final = f"""
WITH known AS (
    SELECT tstzmultirange(tstzrange(%(start)s, %(stop)s)) - coalesce((
        SELECT range_agg(tstzrange(g.started_at, coalesce(g.ended_at, 'infinity')))
        FROM clusters_gap g
        WHERE g.cluster_id = %(cluster)s AND g.kind = ANY(%(kinds)s) AND g.started_at < %(stop)s
          AND (g.ended_at IS NULL OR g.ended_at > %(start)s)
    ), '{{}}'::tstzmultirange) AS times
), samples AS (
    SELECT held.* FROM pools_pool p CROSS JOIN LATERAL (
        SELECT * FROM pools_poolsample s
        WHERE s.cluster_id = p.cluster_id AND s.pool_id = p.id AND s.at <= %(start)s
        ORDER BY s.at DESC LIMIT 1
    ) held WHERE p.cluster_id = %(cluster)s
    UNION ALL
    SELECT * FROM pools_poolsample
    WHERE cluster_id = %(cluster)s AND at > %(start)s AND at < %(stop)s
), ranges AS (
    SELECT samples.*, tstzrange(
        greatest(at, %(start)s), coalesce(lead(at) OVER (PARTITION BY pool_id ORDER BY at), %(stop)s)
    ) AS held FROM samples
), pieces AS (
    SELECT ranges.*, (
        SELECT sum(extract(epoch FROM upper(r) - lower(r))) FROM unnest(known.times * tstzmultirange(held)) r
    ) AS seconds FROM ranges, known
)
INSERT INTO pools_poolhour (cluster_id, pool_id, hour, known_seconds, least, most, mean)
SELECT %(cluster)s, pool_id, %(start)s,
    round(sum(seconds) FILTER (WHERE num_nonnulls({", ".join(FIGURES)}) > 0)),
    {_array("min({0})")}, {_array("max({0})")},
    {_array("(sum({0} * seconds) / nullif(sum(seconds) FILTER (WHERE {0} IS NOT NULL), 0))::float8")}
FROM pieces WHERE seconds > 0 GROUP BY pool_id
HAVING sum(seconds) FILTER (WHERE num_nonnulls({", ".join(FIGURES)}) > 0) >= 0.5
ON CONFLICT DO NOTHING
"""  # noqa: S608 -- made of constants


def roll_up(cluster_id: int, *, now: datetime) -> int:
    """Write the hours that are over and not written yet; returns at how many hours it looked.

    An hour of which not all was read waits for that: only whoever reads on finds out what was missed in it. So a pause is no time in
    which nothing changed.
    """
    with open_cursor() as cursor:
        read_until = _read_until(cursor, cluster_id)
        if read_until is None:
            return 0
        latest = _floor(min(now - _SETTLED_AFTER, read_until)) - _HOUR
        hour = _first_missing(cursor, cluster_id)
        count = 0
        while hour is not None and hour <= latest:
            with raising_revisions(cluster_id) as subjects:
                cursor.execute(_ROLL_UP, _parameters(cluster_id, hour))
                is_known = bool(cursor.rowcount)
                if is_known:
                    subjects.add(POOLS)
            hour = hour + _HOUR if is_known else _next_known(cursor, cluster_id, hour + _HOUR)
            count += 1
    return count


def _next_known(cursor: Cursor, cluster_id: int, after: datetime) -> datetime | None:
    """Of an hour in which nothing was known: the next one in which that may be otherwise, by a sample or by the end of a gap."""
    kinds = list(registry.figure_kinds())
    cursor.execute(
        "SELECT least("
        "(SELECT min(at) FROM pools_poolsample WHERE cluster_id = %(cluster)s AND at >= %(after)s),"
        "(SELECT min(ended_at) FROM clusters_gap"
        " WHERE cluster_id = %(cluster)s AND kind = ANY(%(kinds)s) AND ended_at >= %(after)s))",
        {"cluster": cluster_id, "after": after, "kinds": kinds},
    )
    (moment,) = cursor.fetchone() or (None,)
    return None if moment is None else _floor(moment)


def _parameters(cluster_id: int, hour: datetime) -> dict[str, object]:
    kinds = list(registry.figure_kinds())
    return {"cluster": cluster_id, "start": hour, "stop": hour + _HOUR, "kinds": kinds}


def _read_until(cursor: Cursor, cluster_id: int) -> datetime | None:
    """The latest moment until which all was read that figures are made of; None: nothing was."""
    cursor.execute(
        "SELECT min(last_synced_at) FROM clusters_clusterkind"
        " WHERE cluster_id = %s AND kind = ANY(%s) AND state <> %s",
        (cluster_id, list(registry.figure_kinds()), ReadState.NOT_SERVED),
    )
    row = cursor.fetchone()
    return row[0] if row else None


def _first_missing(cursor: Cursor, cluster_id: int) -> datetime | None:
    cursor.execute("SELECT max(hour) FROM pools_poolhour WHERE cluster_id = %s", (cluster_id,))
    (latest,) = cursor.fetchone() or (None,)
    if latest is not None:
        return _floor(latest) + _HOUR
    cursor.execute("SELECT min(at) FROM pools_poolsample WHERE cluster_id = %s", (cluster_id,))
    (earliest,) = cursor.fetchone() or (None,)
    return None if earliest is None else _floor(earliest)


def _floor(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


_RENEW: Final = f"""
INSERT INTO pools_poolsample (
    cluster_id, pool_id, at, generation, is_complete, has_vanished, {", ".join(FIGURES)}
)
SELECT cluster_id, id, greatest(%(now)s, since + interval '1 microsecond'), generation, is_complete, false,
    {", ".join(f"devices_{name}" for name in FIGURES)}
FROM pools_pool p WHERE cluster_id = %(cluster)s AND vanished_at IS NULL AND NOT EXISTS (
    SELECT FROM pools_poolsample s
    WHERE s.cluster_id = p.cluster_id AND s.pool_id = p.id AND s.at > %(now)s - interval '1 day'
)
ON CONFLICT DO NOTHING
"""  # noqa: S608 -- made of constants


def renew_samples(cluster_id: int, *, now: datetime) -> int:
    """A sample of each pool that has had none for a day, so that its figures outlive the partition of their latest change."""
    with raising_revisions(cluster_id) as subjects, open_cursor() as cursor:
        cursor.execute(_RENEW, {"cluster": cluster_id, "now": now})
        if cursor.rowcount:
            subjects.add(POOLS)
        return cursor.rowcount
