"""The view `pools_device`: what is published of a device beside its use, now and as of a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from objects.services.past import SCHEMA, ShowJoined, change_versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.migrations.operations.base import Operation

_SOURCE: Final = (
    "{schema}.pools_publisheddevice d"
    " JOIN {schema}.pools_deviceuse u ON u.cluster_id = d.cluster_id AND u.device_id = d.id"
)
_TABLES: Final = {"d": "pools_publisheddevice", "u": "pools_deviceuse"}
_SHOWN: Final = {*_TABLES.values(), "pools_pool"}
_COLUMNS: Final = {
    "capacity": "coalesce(u.capacity, d.capacity)",
    "taints": "coalesce(u.taints, d.taints)",
    "since": "greatest(d.since, u.since)",
}
# Of now Postgres leaves the join out where no generation is read, as the pool's key says that it finds one row; of a union of
# versions it cannot know, so there a subquery is asked for it.
_POOL_NOW: Final = (
    " LEFT JOIN {schema}.pools_pool p ON p.cluster_id = d.cluster_id AND p.id = d.pool_id"
)
_GENERATION_THEN: Final = (
    "(SELECT p.generation FROM {schema}.pools_pool p"
    " WHERE p.cluster_id = d.cluster_id AND p.id = d.pool_id LIMIT 1)"
)
_DEVICES_NOW: Final = ShowJoined(
    "pools_device",
    schema="public",
    source=_SOURCE + _POOL_NOW,
    tables=_TABLES,
    columns=_COLUMNS | {"generation": "p.generation"},
)
_DEVICES_THEN: Final = ShowJoined(
    "pools_device",
    schema=SCHEMA,
    source=_SOURCE,
    tables=_TABLES,
    columns=_COLUMNS | {"generation": _GENERATION_THEN},
)


def change_table(
    table: str,
    *operations: Operation,
    fill: Mapping[str, str] | None = None,
    indexes: Mapping[str, str] | None = None,
) -> list[Operation]:
    """`change_versions` for the tables of this app: the views of devices follow those that they show."""
    joined = (_DEVICES_NOW, _DEVICES_THEN) if table in _SHOWN else ()
    return change_versions(table, *operations, fill=fill, indexes=indexes, joined=joined)
