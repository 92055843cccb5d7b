"""The view `pools_device`: what is published of a device beside its use, now and as of a moment."""

from typing import Final

from objects.services.past import SCHEMA, ShowJoined

_SOURCE: Final = (
    "{schema}.pools_publisheddevice d"
    " JOIN {schema}.pools_deviceuse u ON u.cluster_id = d.cluster_id AND u.device_id = d.id"
)
_TABLES: Final = {"d": "pools_publisheddevice", "u": "pools_deviceuse"}
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


def show_devices() -> tuple[ShowJoined, ShowJoined]:
    """What a migration ends with that gives a column to devices: both views with the columns that their tables have then."""
    return (
        ShowJoined(
            "pools_device",
            schema="public",
            source=_SOURCE + _POOL_NOW,
            tables=_TABLES,
            columns=_COLUMNS | {"generation": "p.generation"},
        ),
        ShowJoined(
            "pools_device",
            schema=SCHEMA,
            source=_SOURCE,
            tables=_TABLES,
            columns=_COLUMNS | {"generation": _GENERATION_THEN},
        ),
    )
