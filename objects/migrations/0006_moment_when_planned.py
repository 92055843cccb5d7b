"""Say the moment when a query is planned, not when it starts, so that partitions that ended before it cost no planning."""

from django.db import migrations

from objects.services.past import SCHEMA

MOMENT = f"ALTER FUNCTION {SCHEMA}.moment() {{0}}"


class Migration(migrations.Migration):
    dependencies = [("objects", "0005_fewer_indexes")]

    operations = [
        migrations.RunSQL(MOMENT.format("IMMUTABLE"), reverse_sql=MOMENT.format("STABLE"))
    ]
