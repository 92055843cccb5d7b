from django.db import migrations, models

from objects.services.past import ForgetView, ShowPast


class Migration(migrations.Migration):
    dependencies = [("objects", "0006_moment_when_planned")]

    operations = [
        ForgetView("objects_body"),
        migrations.AddField("body", "base", models.UUIDField(null=True)),
        # What is compressed says itself how long it is.
        migrations.RemoveField("body", "size_bytes"),
        migrations.AlterField("body", "dictionary_id", models.IntegerField(null=True)),
        ShowPast("objects_body"),
        # Nothing looks an object up by its name: what does has a table of its kind.
        migrations.RemoveIndex("kubeobject", "object_name"),
    ]
