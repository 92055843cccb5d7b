"""Nodes as rows: whether pods may run there, and what tells one from another."""

from __future__ import annotations

from typing import Any, Final

from dra.nodes import Node, parse_node
from objects.services.staging import as_jsonb, as_text
from pools.services.named_objects import NamedObjects, named_table

_TABLE: Final = named_table(
    "pools_node",
    own={
        "is_ready": "bool",
        "ready_reason": "text",
        "ready_message": "text",
        "is_unschedulable": "bool",
        "labels": "jsonb",
        "taints": "jsonb",
        "addresses": "jsonb",
        "facts": "jsonb",
    },
)


def _own_values(node: Node) -> tuple[Any, ...]:
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
                    "added_at": taint.added_at,
                }
                for taint in node.taints
            ]
        ),
        as_jsonb([{"type": type_, "address": address} for type_, address in node.addresses]),
        as_jsonb(node.facts),
    )


NODE_ROWS: Final = NamedObjects(_TABLE, parse=parse_node, own_values=_own_values)
