from django.db import migrations, models

from objects.services.past import ShowPast


class Migration(migrations.Migration):
    dependencies = [("objects", "0008_numbers_in_the_log")]

    operations = [
        migrations.AddField("bodydictionary", "sample_count", models.IntegerField(default=0)),
        ShowPast("objects_bodydictionary"),
    ]
