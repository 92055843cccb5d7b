"""Clusters and objects as of a moment. Of how each kind was read then, gaps tell; the rest of it is not kept, and not shown."""

from django.db import migrations

from objects.services.past import ShowPast

# Of a kind at the moment: the gap that it was in, if it was in one.
GAP = """
SELECT {0} FROM public.clusters_gap g
WHERE g.cluster_id = t.cluster_id AND g.kind = t.kind AND g.started_at <= past.moment()
  AND (g.ended_at IS NULL OR g.ended_at > past.moment()) ORDER BY g.started_at LIMIT 1
"""
WAS_READ = "coalesce(t.first_synced_at <= past.moment(), false)"
STATE = f"""
CASE WHEN t.state = 'not_served' THEN 'not_served' WHEN NOT {WAS_READ} THEN 'waiting'
     ELSE CASE ({GAP.format("g.reason")}) WHEN 'forbidden' THEN 'forbidden'
          WHEN 'api_unreachable' THEN 'failing' ELSE 'watching' END END
"""
SYNCED = f"""
CASE WHEN {WAS_READ} THEN least(past.moment(), t.last_synced_at, ({GAP.format("g.started_at")})) END
"""
REACH = """
CASE WHEN EXISTS (
    SELECT FROM public.clusters_gap g WHERE g.cluster_id = t.id AND g.reason = 'api_unreachable'
      AND g.started_at <= past.moment() AND (g.ended_at IS NULL OR g.ended_at > past.moment())
) THEN 'unreachable' ELSE 'ok' END
"""


def then(column: str, event: str) -> str:
    """Of an object that has changed since, what the log has."""
    return f"""
CASE WHEN t.changed_at <= past.moment() THEN t.{column} ELSE (
    SELECT {event} FROM public.objects_objectevent e
    WHERE e.cluster_id = t.cluster_id AND e.object_id = t.id AND e.at <= past.moment()
    ORDER BY e.at DESC LIMIT 1
) END
"""  # noqa: S608 -- a migration's own names


class Migration(migrations.Migration):
    dependencies = [("pools", "0012_past_of_the_rest"), ("clusters", "0008_first_synced")]

    operations = [
        ShowPast(
            "clusters_cluster",
            where="t.created_at <= past.moment()",
            columns={
                "is_watched": "true",
                "is_paused": "false",
                "reach": REACH,
                "reach_failure": "'{}'",
                "reach_changed_at": "NULL",
            },
        ),
        ShowPast(
            "clusters_clusterkind",
            columns={
                "state": STATE,
                "failure": f"coalesce(({GAP.format('g.failure')}), '{{}}')",
                "resource_version": "''",
                "object_count": "NULL",
                "read_count": "NULL",
                "last_synced_at": SYNCED,
                "last_changed_at": "NULL",
                "failing_since": GAP.format("g.started_at"),
                "failures": "0",
                "retry_at": "NULL",
                "relists": "0",
            },
        ),
        ShowPast(
            "objects_kubeobject",
            where="t.first_seen_at <= past.moment()",
            columns={
                "resource_version": then("resource_version", "e.resource_version"),
                "digest": then("digest", "e.digest"),
                "generation": then("generation", "e.generation"),
                "changed_at": then("changed_at", "e.at"),
                "deleted_at": then(
                    "deleted_at", "CASE WHEN e.op IN ('deleted', 'resync_deleted') THEN e.at END"
                ),
            },
        ),
    ]
