"""Ask for the generation of a pool only where it is read.

Of now Postgres leaves the join out, as the pool's key says that it finds one row; of a union of versions it cannot know.
"""

from importlib import import_module

from django.db import migrations

from objects.services.past import SCHEMA

BEFORE = import_module("pools.migrations.0011_device_uses").PAST
VIEW = """
CREATE OR REPLACE VIEW past.pools_device AS
SELECT d.cluster_id, d.id, u.device_id, d.pool_id, d.driver, d.pool_name, d.name, d.slice_object_id, d.node_name,
    (SELECT p.generation FROM past.pools_pool p WHERE p.cluster_id = d.cluster_id AND p.id = d.pool_id LIMIT 1) AS generation,
    u.state, u.is_partly_used, d.attributes, coalesce(u.capacity, d.capacity) AS capacity,
    coalesce(u.taints, d.taints) AS taints, u.problems, d.capacity_numbers, greatest(d.since, u.since) AS since
FROM past.pools_publisheddevice d
JOIN past.pools_deviceuse u ON u.cluster_id = d.cluster_id AND u.device_id = d.id
WHERE d.vanished_at IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0013_past_of_clusters_and_objects")]

    operations = [
        migrations.RunSQL(VIEW, reverse_sql=f"DROP VIEW {SCHEMA}.pools_device; {BEFORE}")
    ]
