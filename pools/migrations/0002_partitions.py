from django.db import migrations

SAMPLE = """
CREATE TABLE pools_poolsample (
    cluster_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    at timestamptz NOT NULL,
    generation bigint,
    is_complete boolean NOT NULL,
    has_vanished boolean NOT NULL DEFAULT false,
    total integer,
    allocated integer,
    partly_used integer,
    unavailable integer,
    blocked integer,
    available integer,
    PRIMARY KEY (cluster_id, pool_id, at)
) PARTITION BY RANGE (at);
"""
HOUR = """
CREATE TABLE pools_poolhour (
    cluster_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    known_seconds integer NOT NULL CHECK (known_seconds BETWEEN 0 AND 3600),
    least jsonb NOT NULL,
    most jsonb NOT NULL,
    mean jsonb NOT NULL,
    PRIMARY KEY (cluster_id, pool_id, hour)
) PARTITION BY RANGE (hour);
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0001_initial")]

    operations = [
        migrations.RunSQL(SAMPLE, reverse_sql="DROP TABLE pools_poolsample"),
        migrations.RunSQL(HOUR, reverse_sql="DROP TABLE pools_poolhour"),
    ]
