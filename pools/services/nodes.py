"""Nodes as rows: whether pods may run there, and what tells one from another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dra.parsing import parse_node
from objects.services.staging import as_jsonb, as_text
from pools.services.named_objects import NamedTable, record_named

if TYPE_CHECKING:
    from dra.values import Node


def _row(node: Node) -> tuple[Any, ...]:
    return (
        node.is_ready,
        as_text(node.ready_reason),
        as_text(node.ready_message),
        node.is_unschedulable,
        as_jsonb(node.labels),
        as_jsonb(
            [
                {
                    "key": taint.key,
                    "value": taint.value,
                    "effect": taint.effect,
                    "timeAdded": taint.added_at,
                }
                for taint in node.taints
            ]
        ),
        as_jsonb([{"type": type_, "address": address} for type_, address in node.addresses]),
        as_jsonb(node.facts),
    )


_NODES: Final = NamedTable(
    "pools_node",
    {
        "is_ready": "bool",
        "ready_reason": "text",
        "ready_message": "text",
        "is_unschedulable": "bool",
        "labels": "jsonb",
        "taints": "jsonb",
        "addresses": "jsonb",
        "facts": "jsonb",
    },
    parse=parse_node,
    row=_row,
)

record_nodes = partial(record_named, _NODES)
