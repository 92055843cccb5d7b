import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Coalesce

from objects.services.past import SCHEMA, KeepVersions

# The columns that pages and API read, of the tables as they are now or as they were.
VIEW = """
CREATE VIEW {schema}.pools_device AS
SELECT d.cluster_id, d.id, u.device_id, d.pool_id, d.driver, d.pool_name, d.name, d.slice_object_id,
    d.node_name, p.generation, u.state, u.is_partly_used, d.attributes,
    coalesce(u.capacity, d.capacity) AS capacity, coalesce(u.taints, d.taints) AS taints,
    u.problems, d.capacity_numbers, greatest(d.since, u.since) AS since
FROM {schema}.pools_publisheddevice d
JOIN {schema}.pools_deviceuse u ON u.cluster_id = d.cluster_id AND u.device_id = d.id
LEFT JOIN {schema}.pools_pool p ON p.cluster_id = d.cluster_id AND p.id = d.pool_id
WHERE d.vanished_at IS NULL
"""
# A rule's taint names the rule. What a device's claims left of its capacity stays where it is until its pool is derived anew, as
# every pool is after the migration of problems.
FILL_USES = """
INSERT INTO pools_deviceuse (cluster_id, device_id, state, is_partly_used, taints, problems, since)
SELECT cluster_id, id, state, is_partly_used,
    CASE WHEN taints @? '$[*] ? (@.rule != null)' THEN taints END, problems, since
FROM pools_publisheddevice
"""
KEEP_PUBLISHED_TAINTS = """
UPDATE pools_publisheddevice SET taints = jsonb_path_query_array(taints, '$[*] ? (@.rule == null)')
WHERE taints @? '$[*] ? (@.rule != null)'
"""
PRESENT = VIEW.format(schema="public")
PAST = VIEW.format(schema=SCHEMA)


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0001_initial"),
        ("pools", "0010_request_notes_as_codes"),
    ]

    operations = [
        migrations.RenameModel("Device", "PublishedDevice"),
        migrations.RunSQL(
            "ALTER SEQUENCE pools_device_id_seq RENAME TO pools_publisheddevice_id_seq",
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            "publisheddevice",
            "id",
            models.BigIntegerField(
                db_default=models.Func(
                    models.Value("pools_publisheddevice_id_seq"), function="nextval"
                )
            ),
        ),
        migrations.RunSQL(
            migrations.RunSQL.noop,
            reverse_sql="ALTER SEQUENCE pools_publisheddevice_id_seq RENAME TO pools_device_id_seq",
        ),
        migrations.CreateModel(
            name="DeviceUse",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "cluster_id",
                        "device_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("device_id", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("allocated", "allocated"),
                            ("available", "available"),
                            ("blocked", "blocked"),
                            ("unavailable", "unavailable"),
                            ("unknown", "unknown"),
                        ],
                        max_length=16,
                    ),
                ),
                ("is_partly_used", models.BooleanField(null=True)),
                ("capacity", models.JSONField(null=True)),
                ("taints", models.JSONField(null=True)),
                ("problems", models.JSONField(default=list)),
                ("since", models.DateTimeField()),
                ("vanished_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="clusters.cluster",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FILL_USES, reverse_sql="DELETE FROM pools_deviceuse"),
        migrations.RunSQL(KEEP_PUBLISHED_TAINTS, reverse_sql=migrations.RunSQL.noop),
        migrations.AddIndex(
            "deviceuse", models.Index(fields=["state", "device_id"], name="device_use_state")
        ),
        migrations.RemoveIndex("publisheddevice", "device_state"),
        migrations.RemoveIndex("publisheddevice", "device_list"),
        migrations.RemoveIndex("publisheddevice", "device_node"),
        migrations.RemoveField("publisheddevice", "state"),
        migrations.RemoveField("publisheddevice", "is_partly_used"),
        migrations.RemoveField("publisheddevice", "problems"),
        migrations.RemoveField("publisheddevice", "generation"),
        migrations.AddField("publisheddevice", "vanished_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "publisheddevice",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AddIndex(
            "publisheddevice",
            models.Index(
                condition=Q(("vanished_at__isnull", True)),
                fields=["driver", "pool_name", "name", "id"],
                name="device_list",
            ),
        ),
        migrations.AddIndex(
            "publisheddevice",
            models.Index(
                Coalesce("node_name", models.Value("")),
                models.F("driver"),
                models.F("pool_name"),
                models.F("name"),
                models.F("id"),
                name="device_node",
                condition=Q(("vanished_at__isnull", True)),
            ),
        ),
        KeepVersions(
            "pools_publisheddevice",
            indexes=[
                "(driver, pool_name, name, id)",
                "(coalesce(node_name, ''), driver, pool_name, name, id)",
                "(id)",
                "(since)",
            ],
        ),
        KeepVersions("pools_deviceuse", indexes=["(device_id)", "(since)"]),
        migrations.RunSQL(PRESENT, reverse_sql="DROP VIEW public.pools_device"),
        migrations.RunSQL(PAST, reverse_sql=f"DROP VIEW {SCHEMA}.pools_device"),
        migrations.CreateModel(
            name="Device",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "cluster_id",
                        "id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("id", models.BigIntegerField()),
                ("device_id", models.BigIntegerField()),
                ("pool_id", models.BigIntegerField()),
                ("driver", models.TextField()),
                ("pool_name", models.TextField()),
                ("name", models.TextField()),
                ("slice_object_id", models.BigIntegerField()),
                ("node_name", models.TextField(null=True)),
                ("generation", models.BigIntegerField(null=True)),
                ("state", models.CharField(max_length=16)),
                ("is_partly_used", models.BooleanField(null=True)),
                ("attributes", models.JSONField()),
                ("capacity", models.JSONField()),
                ("taints", models.JSONField()),
                ("problems", models.JSONField()),
                ("capacity_numbers", models.JSONField()),
                ("since", models.DateTimeField()),
            ],
            options={"db_table": "pools_device", "managed": False},
        ),
    ]
