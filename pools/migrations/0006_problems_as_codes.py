from django.db import migrations

# Sentences that were stored are kept as they are, under the code that they had; pools that are still published are derived anew.
_PROBLEMS = """
UPDATE {table} SET {column} = (
    SELECT jsonb_agg(jsonb_build_object(
        'code', p -> 'code', 'parameters', jsonb_build_object('said_before', p -> 'message')
    ) ORDER BY n) FROM jsonb_array_elements({column}) WITH ORDINALITY AS e (p, n))
WHERE {column} @? '$[*].message'
"""
_TABLES = ("pools_pool", "pools_device", "pools_resourceslice")
_OURS = """
UPDATE pools_poolstatusanswer SET ours = jsonb_set(ours, '{problems}', (
    SELECT jsonb_agg(jsonb_build_object(
        'code', p -> 'code', 'parameters', jsonb_build_object('said_before', p -> 'message')
    ) ORDER BY n) FROM jsonb_array_elements(ours -> 'problems') WITH ORDINALITY AS e (p, n)))
WHERE ours @? '$.problems[*].message'
"""
_DIFFERENCES = """
UPDATE pools_poolstatusanswer SET differences = (
    SELECT jsonb_agg(
        d - 'reason' || jsonb_build_object('reasons', '[]'::jsonb, 'said_before', d -> 'reason')
        ORDER BY n) FROM jsonb_array_elements(differences) WITH ORDINALITY AS e (d, n))
WHERE differences @? '$[*].reason'
"""
_BLOCKERS = """
UPDATE pools_poolstatusrequest SET blocked_by = (
    SELECT jsonb_agg(
        b - 'reason' || jsonb_build_object(
            'code', 'said_before', 'parameters', jsonb_build_object('said_before', b -> 'reason'))
        ORDER BY n) FROM jsonb_array_elements(blocked_by) WITH ORDINALITY AS e (b, n))
WHERE blocked_by @? '$[*].reason'
"""
_DERIVE_ANEW = """
INSERT INTO pools_dirtypool (cluster_id, driver, name)
SELECT DISTINCT cluster_id, driver, pool_name FROM pools_resourceslice ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("pools", "0005_nodes_and_classes")]

    operations = [
        *(
            migrations.RunSQL(
                _PROBLEMS.format(table=table, column="problems"),
                reverse_sql=migrations.RunSQL.noop,
            )
            for table in _TABLES
        ),
        migrations.RunSQL(_OURS, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(_DIFFERENCES, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(_BLOCKERS, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(_DERIVE_ANEW, reverse_sql=migrations.RunSQL.noop),
    ]
