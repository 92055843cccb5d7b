"""The derived tables of this app that keep their past, with the types of their columns."""

from typing import Final

from objects.services.versions import VersionedTable
from pools.choices import COUNTS

POOLS: Final = VersionedTable(
    "pools_pool",
    key={"driver": "text", "name": "text"},
    values={
        "generation": "int8",
        "is_complete": "bool",
        "is_valid": "bool",
        "slices_seen": "int4",
        "slices_expected": "int8",
        "node_kind": "text",
        "node_name": "text",
        "node_selection": "text",
        **{f"devices_{name}": "int4" for name in COUNTS},
        "partitions": "jsonb",
        "capacity": "jsonb",
        "problems": "jsonb",
        "problem_codes": "jsonb",
        "severity": "int2",
    },
    has_first_seen=True,
    # Its last slice went: nothing is known of it any more, and nothing wrong with it.
    gone={
        "is_complete": "false",
        "slices_seen": "0",
        "slices_expected": "NULL",
        **{f"devices_{name}": "NULL" for name in COUNTS},
        "devices_seen": "0",
        "partitions": "'[]'",
        "capacity": "'[]'",
        "problems": "'[]'",
        "problem_codes": "'[]'",
        "severity": "0",
    },
)

SLICES: Final = VersionedTable(
    "pools_resourceslice",
    key={"object_id": "int8"},
    values={
        "name": "text",
        "api_version": "text",
        "driver": "text",
        "pool_name": "text",
        "generation": "int8",
        "resource_slice_count": "int8",
        "node_kind": "text",
        "node_name": "text",
        "digest": "uuid",
        "device_count": "int4",
        "problems": "jsonb",
    },
    has_id=False,
    # What is in a slice is read after all slices of a batch are stored.
    is_written_in_parts=True,
)

PUBLISHED_DEVICES: Final = VersionedTable(
    "pools_publisheddevice",
    key={"pool_id": "int8", "name": "text"},
    values={
        "driver": "text",
        "pool_name": "text",
        "slice_object_id": "int8",
        "node_name": "text",
        "attributes": "jsonb",
        "capacity": "jsonb",
        "taints": "jsonb",
        "capacity_numbers": "jsonb",
    },
    # What it was when it went stays readable.
    gone={},
)

DEVICE_USES: Final = VersionedTable(
    "pools_deviceuse",
    key={"device_id": "int8"},
    values={
        "state": "text",
        "is_partly_used": "bool",
        "capacity": "jsonb",
        "taints": "jsonb",
        "problems": "jsonb",
    },
    has_id=False,
    gone={
        "state": "'unknown'",
        "is_partly_used": "NULL",
        "capacity": "NULL",
        "taints": "NULL",
        "problems": "'[]'",
    },
)

ALLOCATIONS: Final = VersionedTable(
    "pools_allocation",
    # A result that says something else is another one; so a closed version is from when to when it held.
    key={
        "claim_object_id": "int8",
        "driver": "text",
        "pool_name": "text",
        "device": "text",
        "request": "text",
        "share_id": "text",
        "has_admin_access": "bool",
        "consumed_capacity": "jsonb",
    },
    values={"claim_namespace": "text", "claim_name": "text", "claim_uid": "uuid"},
)
