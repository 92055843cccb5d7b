from django.db import migrations

# Names of a pool and of a device find it, whatever the driver: pools of two drivers have one name on a node, but hardly a device of one name.
MAKE = "CREATE INDEX pools_allocation_closed_1 ON pools_allocation_closed (pool_name, device)"
BEFORE = (
    "CREATE INDEX pools_allocation_closed_1 ON pools_allocation_closed (driver, pool_name, device)"
)
DROP = "DROP INDEX pools_allocation_closed_1"


class Migration(migrations.Migration):
    dependencies = [("pools", "0020_nothing_of_now_in_the_past_of_clusters")]

    operations = [migrations.RunSQL([DROP, MAKE], reverse_sql=[DROP, BEFORE])]
