from django.db import migrations

from objects.services.past import MAKE_SCHEMA, SCHEMA, ShowPast


class Migration(migrations.Migration):
    dependencies = [("objects", "0003_event_kind")]

    operations = [
        migrations.RunSQL(MAKE_SCHEMA, reverse_sql=f"DROP SCHEMA {SCHEMA} CASCADE"),
        ShowPast("objects_objectevent", where="t.at <= past.moment()"),
        ShowPast("objects_checkpoint", where="t.at <= past.moment()"),
        # Of an object, its body and its dictionary the log says what was current.
        ShowPast("objects_kubeobject"),
        ShowPast("objects_body"),
        ShowPast("objects_bodydictionary"),
    ]
