import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0001_initial"),
        ("objects", "0004_past"),
    ]

    # Each of these tables has another index that begins with the cluster.
    operations = [
        migrations.AlterField(
            "bodydictionary",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "body",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.AlterField(
            "kubeobject",
            "cluster",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
    ]
