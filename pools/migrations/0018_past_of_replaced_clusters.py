"""Clusters as of a moment, of which each had its name until another one got it."""

from django.db import migrations

from objects.services.past import ShowPast

REACH = """
CASE WHEN EXISTS (
    SELECT FROM public.clusters_gap g WHERE g.cluster_id = t.id AND g.reason = 'api_unreachable'
      AND g.started_at <= past.moment() AND (g.ended_at IS NULL OR g.ended_at > past.moment())
) THEN 'unreachable' ELSE 'ok' END
"""
WAS_REPLACED = "coalesce(t.replaced_at <= past.moment(), false)"


class Migration(migrations.Migration):
    dependencies = [
        ("pools", "0017_cordoned_or_not_known"),
        ("clusters", "0009_replaced_at"),
    ]

    operations = [
        ShowPast(
            "clusters_cluster",
            where="t.created_at <= past.moment()",
            columns={
                "is_watched": f"NOT {WAS_REPLACED}",
                "is_paused": "false",
                "reach": REACH,
                "reach_failure": "'{}'",
                "reach_changed_at": "NULL",
                "replaced_at": f"CASE WHEN {WAS_REPLACED} THEN t.replaced_at END",
            },
        ),
    ]
