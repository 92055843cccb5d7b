from django.db import migrations

from objects.services.past import KeepVersions


class Migration(migrations.Migration):
    dependencies = [
        ("objects", "0004_past"),
        ("pools", "0006_problems_as_codes"),
    ]

    operations = [
        migrations.RenameField("pool", "changed_at", "since"),
        migrations.RenameField("resourceslice", "changed_at", "since"),
        migrations.RenameField("device", "changed_at", "since"),
        migrations.RenameField("allocation", "changed_at", "since"),
        KeepVersions("pools_pool", indexes=["(id)", "(since)", "(driver, name)"]),
    ]
