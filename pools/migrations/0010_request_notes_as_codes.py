from django.db import migrations, models

_NOTES = """
UPDATE pools_poolstatusrequest SET notes = jsonb_build_array(jsonb_build_object(
    'code', 'said_before', 'parameters', jsonb_build_object('said_before', message)))
WHERE message <> ''
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0009_orders_of_one_direction")]

    operations = [
        migrations.AddField(
            model_name="poolstatusrequest",
            name="notes",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.RunSQL(_NOTES, reverse_sql=migrations.RunSQL.noop),
        migrations.RemoveField(model_name="poolstatusrequest", name="message"),
    ]
