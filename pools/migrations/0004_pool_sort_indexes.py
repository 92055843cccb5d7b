import django.db.models.functions.comparison
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0001_initial"),
        ("pools", "0003_dirtypool"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="pool",
            index=models.Index(fields=["name", "driver", "id"], name="pool_by_pool_name"),
        ),
        migrations.AddIndex(
            model_name="pool",
            index=models.Index(
                django.db.models.functions.comparison.Coalesce("node_name", models.Value("")),
                models.F("driver"),
                models.F("name"),
                models.F("id"),
                name="pool_by_node",
            ),
        ),
    ]
