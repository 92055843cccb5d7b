from django.db import migrations

# What their slices say of nodes was kept in words; it is derived anew.
DIRTY = """
INSERT INTO pools_dirtypool (cluster_id, driver, name)
SELECT cluster_id, driver, name FROM pools_pool WHERE node_kind = 'mixed' AND vanished_at IS NULL
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0018_past_of_replaced_clusters")]

    operations = [migrations.RunSQL(DIRTY, reverse_sql=migrations.RunSQL.noop)]
