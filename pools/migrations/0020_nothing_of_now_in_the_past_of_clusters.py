"""Of a cluster as of a moment, nothing that is only known of now: what it serves and allows, how it is reached, counts of failures."""

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
WAS_REPLACED = "coalesce(t.replaced_at <= past.moment(), false)"


class Migration(migrations.Migration):
    dependencies = [("pools", "0019_terms_of_mixed_nodes")]

    operations = [
        ShowPast(
            "clusters_cluster",
            where="t.created_at <= past.moment()",
            columns={
                "is_watched": f"NOT {WAS_REPLACED}",
                "reach": REACH,
                "reach_failure": "'{}'",
                "reach_changed_at": "NULL",
                "replaced_at": f"CASE WHEN {WAS_REPLACED} THEN t.replaced_at END",
                "is_paused": "NULL",
                "pool_status_mode": "NULL",
                "context": "''",
                "url": "''",
                "server_version": "''",
                "discovered_at": "NULL",
                "capabilities": "NULL",
            },
        ),
        ShowPast(
            "clusters_clusterkind",
            columns={
                "state": STATE,
                "failure": f"coalesce(({GAP.format('g.failure')}), '{{}}')",
                "api_version": "''",
                "resource_version": "''",
                "object_count": "NULL",
                "read_count": "NULL",
                "last_synced_at": SYNCED,
                "last_changed_at": "NULL",
                "failing_since": GAP.format("g.started_at"),
                "failures": "NULL",
                "retry_at": "NULL",
                "relists": "NULL",
            },
        ),
    ]
