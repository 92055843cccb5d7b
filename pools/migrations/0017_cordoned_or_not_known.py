from django.db import migrations, models

DROP = "ALTER TABLE pools_node_closed ALTER COLUMN is_unschedulable DROP NOT NULL"
SET = """
UPDATE pools_node_closed SET is_unschedulable = false WHERE is_unschedulable IS NULL;
ALTER TABLE pools_node_closed ALTER COLUMN is_unschedulable SET NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0016_devices_that_vanished")]

    operations = [
        migrations.AlterField(
            "node", "is_unschedulable", models.BooleanField(default=False, null=True)
        ),
        migrations.RunSQL(DROP, reverse_sql=SET),
    ]
