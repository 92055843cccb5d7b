from django.db import migrations, models

from objects.services.past import ShowPast


class Migration(migrations.Migration):
    dependencies = [("objects", "0005_fewer_indexes")]

    operations = [
        migrations.AddField("body", "base", models.UUIDField(null=True)),
        ShowPast("objects_body"),
        # Nothing looks an object up by its name: what does has a table of its kind.
        migrations.RemoveIndex("kubeobject", "object_name"),
    ]
