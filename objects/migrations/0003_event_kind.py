from django.db import migrations, models

ADD = "ALTER TABLE objects_objectevent ADD COLUMN kind varchar(64)"
# An object is kept as long as the log tells of it, so each of its events finds it. Events of no object cannot be read by anybody.
FILL = """
UPDATE objects_objectevent e SET kind = o.kind
FROM objects_kubeobject o WHERE o.cluster_id = e.cluster_id AND o.id = e.object_id
"""
REMOVE_REST = "DELETE FROM objects_objectevent WHERE kind IS NULL"
DEMAND = "ALTER TABLE objects_objectevent ALTER COLUMN kind SET NOT NULL"
DROP = "ALTER TABLE objects_objectevent DROP COLUMN kind"


class Migration(migrations.Migration):
    dependencies = [("objects", "0002_partitions")]

    operations = [
        migrations.RunSQL([ADD, FILL, REMOVE_REST, DEMAND], reverse_sql=DROP),
        # The table is not managed by Django, so this tells it of the column and changes nothing.
        migrations.AddField("objectevent", "kind", models.CharField(max_length=64, default="")),
    ]
