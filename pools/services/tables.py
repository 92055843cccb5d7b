"""The derived tables of this app that keep their past."""

from typing import Final

from objects.services.versions import VersionedTable

NODES: Final = VersionedTable(
    "pools_node",
    key={"name": "text"},
    values={
        "object_id": "int8",
        "uid": "text",
        "created_at": "timestamptz",
        "problems": "jsonb",
        "is_ready": "bool",
        "ready_reason": "text",
        "ready_message": "text",
        "is_unschedulable": "bool",
        "labels": "jsonb",
        "taints": "jsonb",
        "addresses": "jsonb",
        "facts": "jsonb",
    },
    has_first_seen=True,
    # What it was when it went stays readable.
    gone={},
)
DEVICE_CLASSES: Final = VersionedTable(
    "pools_deviceclass",
    key={"name": "text"},
    values={
        "object_id": "int8",
        "uid": "text",
        "created_at": "timestamptz",
        "problems": "jsonb",
        "selectors": "jsonb",
        "extended_resource_name": "text",
        "config_drivers": "jsonb",
    },
    has_first_seen=True,
    gone={},
)

TABLES: Final = (NODES, DEVICE_CLASSES)
VERSIONS: Final = tuple(table.partitions for table in TABLES)
"""Where their closed versions stand."""
