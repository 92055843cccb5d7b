from django.db import migrations, models

from objects.services.past import ShowPast


class Migration(migrations.Migration):
    dependencies = [("objects", "0005_fewer_indexes")]

    operations = [
        migrations.AddField("body", "base", models.UUIDField(null=True)),
        ShowPast("objects_body"),
    ]
