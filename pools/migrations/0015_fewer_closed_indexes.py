from django.db import migrations

# A pool is found by its id; lists of the past read those that were there at the moment, by `since` and `until`, and sort them.
# Allocations of the past are asked for by device or by claim.
DROP = """
DROP INDEX IF EXISTS pools_pool_closed_3;
DROP INDEX IF EXISTS pools_allocation_closed_3;
"""
MAKE = """
CREATE INDEX IF NOT EXISTS pools_pool_closed_3 ON pools_pool_closed (driver, name);
CREATE INDEX IF NOT EXISTS pools_allocation_closed_3 ON pools_allocation_closed (since);
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0014_generation_of_the_past")]

    operations = [migrations.RunSQL(DROP, reverse_sql=MAKE)]
