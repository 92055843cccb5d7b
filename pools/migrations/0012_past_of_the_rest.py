import django.db.models.deletion
from django.db import migrations, models

from objects.services.past import ShowPast

# When a request that was not answered was given up is not known; it was so soon after.
FILL = """
UPDATE pools_poolstatusrequest SET ended_at = coalesce(answered_at, created_at + interval '30 seconds')
WHERE outcome <> 'pending'
"""


def then(column: str, before: str = "NULL") -> str:
    """What a column of a request was while it waited."""
    return f"CASE WHEN t.ended_at <= past.moment() THEN t.{column} ELSE {before} END"


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0007_fewer_indexes"),
        ("pools", "0011_device_uses"),
    ]

    # Each of these tables has another index that begins with the cluster.
    operations = [
        migrations.AlterField(
            "pool",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "resourceslice",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "allocation",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "dirtypool",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "poolstatusrequest",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "poolstatusanswer",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AddField("poolstatusrequest", "ended_at", models.DateTimeField(null=True)),
        migrations.RunSQL(FILL, reverse_sql=migrations.RunSQL.noop),
        ShowPast("pools_poolsample", where="t.at <= past.moment()"),
        ShowPast("pools_poolhour", where="t.hour + interval '1 hour' <= past.moment()"),
        ShowPast(
            "pools_poolstatusrequest",
            where="t.created_at <= past.moment()",
            columns={
                "outcome": then("outcome", "'pending'"),
                "notes": then("notes", "'[]'"),
                "blocked_by": then("blocked_by", "'[]'"),
                "is_removed": then("is_removed", "false"),
                **{
                    name: then(name)
                    for name in (
                        "answered_at",
                        "ended_at",
                        "pool_count",
                        "pools_answered",
                        "pools_differing",
                        "answer",
                    )
                },
            },
        ),
        ShowPast("pools_poolstatusanswer", where="t.observed_at <= past.moment()"),
        ShowPast(
            "clusters_gap",
            where="t.started_at <= past.moment()",
            columns={
                "ended_at": "CASE WHEN t.ended_at <= past.moment() THEN t.ended_at END",
            },
        ),
        # These keep no past: what is watched, how it is reached and what is read of it is told as it is now.
        ShowPast("clusters_cluster"),
        ShowPast("clusters_clusterkind"),
        ShowPast("clusters_revision"),
    ]
