"""`makemigrations --check` compares models with migrations: it sees no table, and nothing of models that are not managed."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models

pytestmark = pytest.mark.django_db

OURS = ("api", "clusters", "objects", "pools")
COLUMNS = """
SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""
NOT_NULL = f"{COLUMNS} AND attnotnull"
# In the order of the key.
KEY = """
SELECT attname::text FROM pg_index, unnest(indkey) WITH ORDINALITY AS part (number, place), pg_attribute
WHERE indrelid = %s::regclass AND indisprimary AND attrelid = indrelid AND attnum = part.number ORDER BY place
"""

# An index of which all is what another one of the same table begins with.
COVERED = """
SELECT DISTINCT a.indexrelid::regclass::text FROM pg_index a JOIN pg_index b ON b.indrelid = a.indrelid AND b.indexrelid <> a.indexrelid
JOIN pg_class ca ON ca.oid = a.indexrelid JOIN pg_class cb ON cb.oid = b.indexrelid AND cb.relam = ca.relam
WHERE a.indrelid::regclass::text = ANY(%s) AND NOT a.indisunique
  AND pg_get_expr(a.indpred, a.indrelid) IS NOT DISTINCT FROM pg_get_expr(b.indpred, b.indrelid)
  AND a.indnkeyatts <= b.indnkeyatts AND NOT EXISTS (
    SELECT FROM generate_series(1, a.indnkeyatts) place
    WHERE (pg_get_indexdef(a.indexrelid, place, true), a.indclass[place - 1])
        IS DISTINCT FROM (pg_get_indexdef(b.indexrelid, place, true), b.indclass[place - 1])
  )
ORDER BY 1
"""

Model = type[models.Model]


def our_models() -> list[Model]:
    return [model for app in OURS for model in apps.get_app_config(app).get_models()]


def not_managed() -> list[str]:
    return [model._meta.label for model in our_models() if not model._meta.managed]


def tables() -> list[Model]:
    """Without views, of whose columns Postgres says no more than the type."""
    with connection.cursor() as cursor:
        names = set(connection.introspection.table_names(cursor))
    return [model for model in our_models() if model._meta.db_table in names]


def rows(sql: str, model: Model) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [model._meta.db_table])
        return list(cursor.fetchall())


def fields(model: Model) -> list[models.Field[Any, Any]]:
    """Those that are columns; a key of several is none itself."""
    return [field for field in model._meta.local_concrete_fields if field.column]


def type_of(field: models.Field[Any, Any]) -> str:
    name = field.rel_db_type if isinstance(field, models.ForeignKey) else field.db_type
    return str(name(connection)).replace("varchar", "character varying")


def test_each_model_has_the_columns_of_its_table() -> None:
    assert "pools.Device" in not_managed()
    assert "objects.ObjectEvent" in not_managed()
    # Where this fails, the migration that makes or changes the table does not do what the model says.
    assert {model._meta.label: dict(rows(COLUMNS, model)) for model in our_models()} == {
        model._meta.label: {field.column: type_of(field) for field in fields(model)}
        for model in our_models()
    }


def test_each_model_says_of_the_columns_of_its_table_whether_they_may_be_null() -> None:
    assert {
        model._meta.label: {name for name, _ in rows(NOT_NULL, model)} for model in tables()
    } == {
        model._meta.label: {field.column for field in fields(model) if not field.null}
        for model in tables()
    }


def test_each_model_has_the_key_of_its_table() -> None:
    assert {model._meta.label: [name for (name,) in rows(KEY, model)] for model in tables()} == {
        model._meta.label: [field.column for field in model._meta.pk_fields] for model in tables()
    }


def covered_indexes() -> list[str]:
    """With those of closed versions, which have no model."""
    names = [model._meta.db_table for model in our_models()]
    with connection.cursor() as cursor:
        cursor.execute(COVERED, [[*names, *(f"{name}_closed" for name in names)]])
        return [name for (name,) in cursor.fetchall()]


def test_no_index_is_the_beginning_of_another() -> None:
    assert covered_indexes() == []


def test_index_that_is_the_beginning_of_another_is_found() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX superfluous ON pools_node (cluster_id)")
        cursor.execute("CREATE INDEX superfluous_closed ON pools_node_closed (cluster_id)")

    assert covered_indexes() == ["superfluous", "superfluous_closed"]
