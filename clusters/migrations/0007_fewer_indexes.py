import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0006_failures_as_codes")]

    # Each of these tables has another index that begins with the cluster.
    operations = [
        migrations.AlterField(
            "clusterkind",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="kinds",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "gap",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="gaps",
                to="clusters.cluster",
            ),
        ),
    ]
