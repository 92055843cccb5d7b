"""Finds transactions that change what pages show of a subject without raising its revision, by triggers on every table."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from clusters.choices import CLUSTER, POOLS

# By table: its subject, and the columns that go on without a new revision.
READS = (
    "resource_version,last_synced_at,last_changed_at,object_count,read_count,failures,retry_at,"
    "failing_since,relists,api_version,record_version"
)
TABLES = {
    # Nobody is shown by what a cluster is known.
    "clusters_cluster": (CLUSTER, "discovered_at,kube_system_uid,authority,server"),
    "clusters_clusterkind": (CLUSTER, READS),
    "clusters_gap": (CLUSTER, ""),
    "pools_pool": (POOLS, ""),
    "pools_publisheddevice": (POOLS, ""),
    "pools_deviceuse": (POOLS, ""),
    "pools_allocation": (POOLS, ""),
    # Charts and histories are made of these.
    "pools_poolsample": (POOLS, ""),
    "pools_poolhour": (POOLS, ""),
    "pools_resourceslice": ("ResourceSlice", ""),
    "pools_node": ("Node", ""),
    "pools_deviceclass": ("DeviceClass", ""),
    "pools_poolstatusrequest": ("ResourcePoolStatusRequest", ""),
    "pools_poolstatusanswer": ("ResourcePoolStatusRequest", ""),
    # Each is of its kind.
    "objects_kubeobject": ("", ""),
}

_FUNCTION = """
CREATE TABLE written (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(), cluster_id int8, subject text, place text
);
CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    found jsonb := to_jsonb(coalesce(NEW, OLD));
    without text[] := string_to_array(TG_ARGV[1], ',');
BEGIN
    IF TG_OP <> 'UPDATE' OR to_jsonb(NEW) - without <> to_jsonb(OLD) - without THEN
        INSERT INTO written (cluster_id, subject, place) VALUES (
            coalesce(found->'cluster_id', found->'id')::int8,
            coalesce(found->>'subject', nullif(TG_ARGV[0], ''), found->>'kind'), TG_ARGV[2]);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER noted AFTER INSERT OR UPDATE ON clusters_revision
    FOR EACH ROW EXECUTE FUNCTION note_written('', '', 'revision');
"""
# A cluster that is new, and a kind that is new to it, is told by itself.
_TRIGGER = """
CREATE TRIGGER noted AFTER {inserts}UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION note_written('{subject}', '{without}', '{table}')
"""
_FORGOTTEN = """
SELECT DISTINCT subject, place FROM written w WHERE place <> 'revision' AND NOT EXISTS (
    SELECT FROM written r WHERE r.place = 'revision' AND r.xid = w.xid
      AND r.cluster_id = w.cluster_id AND r.subject = w.subject)
ORDER BY subject, place
"""


@contextmanager
def forgotten_revisions() -> Iterator[list[tuple[str, str]]]:
    """At its end the list has each subject, and the table, that was written without its revision."""
    found: list[tuple[str, str]] = []
    with connection.cursor() as cursor:
        cursor.execute(_FUNCTION)
        for table, (subject, without) in TABLES.items():
            inserts = "" if table in {"clusters_cluster", "clusters_clusterkind"} else "INSERT OR "
            cursor.execute(
                _TRIGGER.format(inserts=inserts, table=table, subject=subject, without=without)
            )
    try:
        yield found
    finally:
        with connection.cursor() as cursor:
            cursor.execute(_FORGOTTEN)
            found.extend(cursor.fetchall())
            cursor.execute("DROP FUNCTION note_written CASCADE; DROP TABLE written")
