"""An event says its kind and what happened by number, and a deletion no body: that was a sixth of the log."""

from collections.abc import Mapping
from typing import Final

from django.db import migrations, models

from objects.services.past import ForgetView, ShowPast

KINDS: Final = {
    "ResourceSlice": 1,
    "ResourceClaim": 2,
    "DeviceClass": 3,
    "DeviceTaintRule": 4,
    "ResourcePoolStatusRequest": 5,
    "Node": 6,
}
OPS: Final = {
    "added": 1,
    "modified": 2,
    "deleted": 3,
    "resync_added": 4,
    "resync_modified": 5,
    "resync_deleted": 6,
}
DELETIONS: Final = "3, 6"


def _numbers(column: str, numbers: Mapping[str, int]) -> str:
    cases = " ".join(f"WHEN '{name}' THEN {number}" for name, number in numbers.items())
    return f"ALTER COLUMN {column} TYPE smallint USING CASE {column} {cases} END"


def _names(column: str, numbers: Mapping[str, int], *, length: int) -> str:
    cases = " ".join(f"WHEN {number} THEN '{name}'" for name, number in numbers.items())
    return f"ALTER COLUMN {column} TYPE varchar({length}) USING CASE {column} {cases} END"


# One statement, so that each partition is written anew once.
TO_NUMBERS: Final = f"""
ALTER TABLE objects_objectevent {_numbers("kind", KINDS)}, {_numbers("op", OPS)},
    ALTER COLUMN digest DROP NOT NULL,
    ALTER COLUMN digest TYPE uuid USING CASE WHEN op NOT IN ('deleted', 'resync_deleted') THEN digest END
"""
ONE_OR_THE_OTHER: Final = f"""
ALTER TABLE objects_objectevent ADD CONSTRAINT event_body_unless_deleted
    CHECK ((digest IS NULL) = (op IN ({DELETIONS})))
"""
# What a deleted object was last is what the row of the object says, or its event before.
TO_NAMES: Final = f"""
ALTER TABLE objects_objectevent DROP CONSTRAINT event_body_unless_deleted;
UPDATE objects_objectevent e SET digest = coalesce((
    SELECT b.digest FROM objects_objectevent b
    WHERE b.cluster_id = e.cluster_id AND b.object_id = e.object_id AND b.at < e.at ORDER BY b.at DESC LIMIT 1
), (SELECT o.digest FROM objects_kubeobject o WHERE o.cluster_id = e.cluster_id AND o.id = e.object_id))
WHERE digest IS NULL;
DELETE FROM objects_objectevent WHERE digest IS NULL;
ALTER TABLE objects_objectevent {_names("kind", KINDS, length=64)}, {_names("op", OPS, length=16)},
    ALTER COLUMN digest SET NOT NULL
"""  # noqa: S608 -- made of constants


def _then(column: str, event: str) -> str:
    """Of an object that has changed since, what the log has."""
    return f"""
CASE WHEN t.changed_at <= past.moment() THEN t.{column} ELSE (
    SELECT {event} FROM public.objects_objectevent e
    WHERE e.cluster_id = t.cluster_id AND e.object_id = t.id AND e.at <= past.moment()
    ORDER BY e.at DESC LIMIT 1
) END
"""  # noqa: S608 -- a migration's own names


def _show_objects() -> ShowPast:
    return ShowPast(
        "objects_kubeobject",
        where="t.first_seen_at <= past.moment()",
        columns={
            "resource_version": _then("resource_version", "e.resource_version"),
            "digest": _then("digest", "e.digest"),
            "generation": _then("generation", "e.generation"),
            "changed_at": _then("changed_at", "e.at"),
            "deleted_at": _then("deleted_at", f"CASE WHEN e.op IN ({DELETIONS}) THEN e.at END"),
        },
    )


class Migration(migrations.Migration):
    dependencies = [
        ("objects", "0007_differences"),
        ("pools", "0013_past_of_clusters_and_objects"),
    ]

    operations = [
        ForgetView("objects_kubeobject"),
        ForgetView("objects_objectevent"),
        migrations.RunSQL(TO_NUMBERS, reverse_sql=TO_NAMES),
        migrations.RunSQL(ONE_OR_THE_OTHER, reverse_sql=migrations.RunSQL.noop),
        ShowPast("objects_objectevent", where="t.at <= past.moment()"),
        _show_objects(),
        # The table is not managed by Django, so these tell it of the columns and change nothing.
        migrations.AlterField("objectevent", "kind", models.SmallIntegerField()),
        migrations.AlterField("objectevent", "op", models.SmallIntegerField()),
        migrations.AlterField("objectevent", "digest", models.UUIDField(null=True)),
    ]
