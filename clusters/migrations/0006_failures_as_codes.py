from django.db import migrations, models

# Sentences that were stored are kept as they are.
_REACH = """
UPDATE clusters_cluster SET reach_failure = jsonb_build_object(
    'code', 'said_before', 'parameters', jsonb_build_object('said_before', reach_message))
WHERE reach_message <> ''
"""
_KINDS = """
UPDATE clusters_clusterkind SET failure = jsonb_build_object(
    'code', 'said_before', 'parameters', jsonb_build_object('said_before', message))
WHERE message <> ''
"""
# Of a gap the reason stood in front, in the words that its code has now; what is left is what failed.
_GAPS = """
UPDATE clusters_gap g SET failure = jsonb_build_object(
    'code', 'said_before', 'parameters', jsonb_build_object('said_before', rest))
FROM (
    SELECT id, btrim(CASE WHEN starts_with(message, sentence)
        THEN substr(message, length(sentence) + 1) ELSE message END) AS rest
    FROM clusters_gap JOIN (VALUES
        ('api_unreachable', 'The API server could not be read.'),
        ('worker_away', 'No worker was running that read this cluster.'),
        ('relist', 'Everything had to be read anew; what changed and changed back before that was not seen.'),
        ('database_away', 'The database could not be reached.'),
        ('forbidden', 'The cluster did not let us read this.'),
        ('disk_full', 'The database had no room left.'),
        ('restored', 'The cluster''s own store was set back to an earlier state.')
    ) AS reasons (reason, sentence) USING (reason)
) AS told WHERE told.id = g.id AND rest <> ''
"""


def _failure(model: str, name: str) -> migrations.AddField:
    return migrations.AddField(model, name, models.JSONField(blank=True, default=dict))


class Migration(migrations.Migration):
    dependencies = [("clusters", "0005_identity")]

    operations = [
        _failure("cluster", "reach_failure"),
        _failure("clusterkind", "failure"),
        _failure("gap", "failure"),
        migrations.RunSQL(_REACH, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(_KINDS, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(_GAPS, reverse_sql=migrations.RunSQL.noop),
        migrations.RemoveField("cluster", "reach_message"),
        migrations.RemoveField("clusterkind", "message"),
        migrations.RemoveField("gap", "message"),
    ]
