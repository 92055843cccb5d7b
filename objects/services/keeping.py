"""What keeps the log small and readable for long: checkpoints, and the removal of what nothing names any more."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db import transaction

from clusters import registry
from kube.kinds import KINDS
from objects.services.log import BODIES_LOCK
from objects.services.staging import Cursor, open_cursor

if TYPE_CHECKING:
    from uuid import UUID

# At least this often, so that an object that never changes outlives the partitions that tell of it.
_LONGEST: Final = timedelta(days=1)
_CHUNK: Final = 50_000
# Clocks of workers on several hosts differ.
_CLOCK_SLACK: Final = timedelta(minutes=5)

_ORPHANS: Final = """
SELECT digest FROM objects_body b WHERE cluster_id = %(cluster)s
  AND NOT EXISTS (SELECT FROM objects_kubeobject o
                  WHERE o.cluster_id = b.cluster_id AND o.digest = b.digest)
  AND NOT EXISTS (SELECT FROM objects_objectevent e
                  WHERE e.cluster_id = b.cluster_id AND e.digest = b.digest)
  AND NOT EXISTS (SELECT FROM objects_checkpoint c
                  WHERE c.cluster_id = b.cluster_id AND c.digest = b.digest)
  AND NOT EXISTS (SELECT FROM objects_body d
                  WHERE d.cluster_id = b.cluster_id AND d.base = b.digest)
"""


def write_checkpoint(cluster_id: int, kind: str, *, now: datetime) -> int | None:
    """Write down what is live, if it is due; returns how many objects, None when it was not due.

    The kind's row is locked meanwhile, so that no batch of changes is half before and half after.
    """
    with transaction.atomic(), open_cursor() as cursor:
        cursor.execute(
            "SELECT FROM clusters_clusterkind WHERE cluster_id = %s AND kind = %s FOR UPDATE",
            (cluster_id, kind),
        )
        if not _is_due(cursor, cluster_id, kind, now=now):
            return None
        cursor.execute(
            "INSERT INTO objects_checkpoint (cluster_id, kind, at, object_id, digest, generation)"
            " SELECT cluster_id, kind, %s, id, digest, generation FROM objects_kubeobject"
            " WHERE cluster_id = %s AND kind = %s AND deleted_at IS NULL",
            (now, cluster_id, kind),
        )
        return cursor.rowcount


def _is_due(cursor: Cursor, cluster_id: int, kind: str, *, now: datetime) -> bool:
    cursor.execute(
        "SELECT (SELECT max(at) FROM objects_checkpoint WHERE cluster_id = %(c)s AND kind = %(k)s),"
        " (SELECT count(*) FROM objects_kubeobject"
        "  WHERE cluster_id = %(c)s AND kind = %(k)s AND deleted_at IS NULL)",
        {"c": cluster_id, "k": kind},
    )
    latest, live = cursor.fetchone() or (None, 0)
    if latest is None:
        return bool(live)
    age = now - latest
    if age >= _LONGEST:
        return True
    entry = registry.watched_kind(kind)
    # Due when the log since the latest one is as long as what is live, but not more often than this.
    if entry is None or age < entry.shortest_checkpoint_interval:
        return False
    cursor.execute(
        "SELECT count(*) FROM objects_objectevent WHERE cluster_id = %s AND kind = %s AND at > %s",
        (cluster_id, KINDS[kind].number, latest),
    )
    (events,) = cursor.fetchone() or (0,)
    return bool(events >= live)


def remove_orphans(cluster_id: int, *, gone_before: datetime, now: datetime) -> tuple[int, int]:
    """Objects that went before a moment and have no log left, then bodies that nothing names. Returns how many of each."""
    with open_cursor() as cursor:
        cursor.execute(
            "DELETE FROM objects_kubeobject o WHERE cluster_id = %s AND deleted_at < %s"
            " AND NOT EXISTS (SELECT FROM objects_objectevent e"
            "                 WHERE e.cluster_id = o.cluster_id AND e.object_id = o.id)",
            (cluster_id, gone_before),
        )
        objects = cursor.rowcount
        cursor.execute(_ORPHANS, {"cluster": cluster_id}, binary=True)
        candidates = [digest for (digest,) in cursor.fetchall()]
        bodies = sum(
            _remove_bodies(cursor, cluster_id, candidates[at : at + _CHUNK], looked_at=now)
            for at in range(0, len(candidates), _CHUNK)
        )
    return objects, bodies


def _remove_bodies(
    cursor: Cursor, cluster_id: int, digests: list[UUID], *, looked_at: datetime
) -> int:
    """Only what nothing has named since it was looked at: an object may have become what it once was."""
    with transaction.atomic():
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s)", (BODIES_LOCK, cluster_id & 0x7FFF_FFFF)
        )
        cursor.execute(
            "DELETE FROM objects_body b WHERE cluster_id = %(cluster)s AND digest = ANY(%(digests)s)"
            " AND NOT EXISTS (SELECT FROM objects_kubeobject o"
            "  WHERE o.cluster_id = b.cluster_id AND o.digest = b.digest)"
            " AND NOT EXISTS (SELECT FROM objects_objectevent e"
            "  WHERE e.cluster_id = b.cluster_id AND e.digest = b.digest AND e.at >= %(since)s)"
            # A base is removed in a later upkeep than the differences to it.
            " AND NOT EXISTS (SELECT FROM objects_body d"
            "  WHERE d.cluster_id = b.cluster_id AND d.base = b.digest)",
            {"cluster": cluster_id, "digests": digests, "since": looked_at - _CLOCK_SLACK},
        )
        return cursor.rowcount
