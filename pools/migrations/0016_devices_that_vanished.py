"""Show devices that vanished too, with since when, so that the address of one goes on telling what it was."""

from importlib import import_module

from django.db import migrations, models

from objects.services.past import SCHEMA

BEFORE = import_module("pools.migrations.0011_device_uses").PRESENT
PAST_BEFORE = import_module("pools.migrations.0014_generation_of_the_past").VIEW
LIVING = "WHERE d.vanished_at IS NULL"


def with_vanished(view: str) -> str:
    """The same view without its condition, and with the column that the condition asked for."""
    since = "greatest(d.since, u.since) AS since"
    shown = view.replace(since, f"{since}, d.vanished_at").replace(LIVING, "")
    return shown.replace("CREATE VIEW", "CREATE OR REPLACE VIEW")


class Migration(migrations.Migration):
    dependencies = [("pools", "0015_fewer_closed_indexes")]

    operations = [
        migrations.RunSQL(
            with_vanished(BEFORE), reverse_sql=f"DROP VIEW public.pools_device; {BEFORE}"
        ),
        migrations.RunSQL(
            with_vanished(PAST_BEFORE),
            reverse_sql=f"DROP VIEW {SCHEMA}.pools_device; {PAST_BEFORE}",
        ),
        migrations.AddField("device", "vanished_at", models.DateTimeField(null=True)),
    ]
