from django.db import migrations, models
from django.db.models import Q

# The earlier cluster was named "NAME (until MOMENT)".
FILL = """
UPDATE clusters_cluster c SET name = s.name, replaced_at = s.created_at
FROM clusters_cluster s WHERE s.replaces_id = c.id
"""
EMPTY = """
UPDATE clusters_cluster
SET name = name || to_char(replaced_at AT TIME ZONE 'UTC', ' "(until "YYYY-MM-DD HH24:MI:SS")"')
WHERE replaced_at IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("clusters", "0008_first_synced")]

    operations = [
        migrations.AlterModelOptions(name="cluster", options={"ordering": ("name", "id")}),
        migrations.AddField(
            model_name="cluster", name="replaced_at", field=models.DateTimeField(null=True)
        ),
        migrations.AlterField(model_name="cluster", name="name", field=models.TextField()),
        migrations.RunSQL(FILL, reverse_sql=EMPTY),
        migrations.AddConstraint(
            model_name="cluster",
            constraint=models.UniqueConstraint(
                name="cluster_name_once",
                fields=("name",),
                condition=Q(replaced_at__isnull=True),
            ),
        ),
    ]
