from django.db import migrations, models

from objects.services.past import KeepVersions

# Every slice is in the log; one that is not would keep all others from being migrated.
FILL = """
UPDATE pools_resourceslice s SET digest = coalesce((
    SELECT digest FROM objects_kubeobject o WHERE o.cluster_id = s.cluster_id AND o.id = s.object_id
), '00000000-0000-0000-0000-000000000000')
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0007_pool_versions")]

    operations = [
        migrations.AddField("resourceslice", "digest", models.UUIDField(null=True)),
        migrations.RunSQL(FILL, reverse_sql=migrations.RunSQL.noop),
        migrations.AlterField("resourceslice", "digest", models.UUIDField()),
        KeepVersions("pools_resourceslice", indexes=["(object_id)", "(driver, pool_name, name)"]),
        KeepVersions(
            "pools_allocation",
            indexes=["(driver, pool_name, device)", "(claim_object_id)", "(since)"],
        ),
    ]
