from django.db import migrations

LOG = """
CREATE TABLE objects_objectevent (
    cluster_id bigint NOT NULL,
    object_id bigint NOT NULL,
    at timestamptz NOT NULL,
    op varchar(16) NOT NULL,
    resource_version text NOT NULL,
    digest uuid NOT NULL,
    generation bigint,
    PRIMARY KEY (cluster_id, object_id, at)
) PARTITION BY RANGE (at);
CREATE INDEX objects_objectevent_at ON objects_objectevent USING brin (at);
"""
CHECKPOINT = """
CREATE TABLE objects_checkpoint (
    cluster_id bigint NOT NULL,
    kind varchar(64) NOT NULL,
    at timestamptz NOT NULL,
    object_id bigint NOT NULL,
    digest uuid NOT NULL,
    generation bigint,
    PRIMARY KEY (cluster_id, kind, at, object_id)
) PARTITION BY RANGE (at);
"""
# Bodies come compressed from us; Postgres must not try again.
BODY = "ALTER TABLE objects_body ALTER COLUMN content SET STORAGE EXTERNAL"


class Migration(migrations.Migration):
    dependencies = [("objects", "0001_initial")]

    operations = [
        migrations.RunSQL(LOG, reverse_sql="DROP TABLE objects_objectevent"),
        migrations.RunSQL(CHECKPOINT, reverse_sql="DROP TABLE objects_checkpoint"),
        migrations.RunSQL(BODY, reverse_sql=migrations.RunSQL.noop),
    ]
