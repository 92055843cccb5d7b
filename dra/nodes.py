"""Nodes, as far as devices are concerned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra.fields import Fields
from dra.parsing import Parsed, read_taint, unidentified
from dra.values import Problem, Taint

NODE_FACTS: Final = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeletVersion",
    "operatingSystem",
    "osImage",
)


@dataclass(frozen=True, slots=True)
class Node:
    """A node: whether pods may run there, and what tells it apart from others."""

    name: str
    uid: str
    is_ready: bool | None
    """None while its kubelet has not said, or has fallen silent."""
    created_at: str | None = None
    ready_reason: str = ""
    ready_message: str = ""
    """Of the condition Ready, in the words of whoever wrote it."""
    is_unschedulable: bool | None = False
    """Cordoned; None: that could not be read."""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()
    """Type and address: ("InternalIP", "10.0.0.1")."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What its nodeInfo says of software and hardware, by the names there."""
    problems: tuple[Problem, ...] = ()


def parse_node(obj: Any, *, api_version: str = "") -> Parsed[Node]:
    """Read a Node."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, spec, status = fields.child("metadata"), fields.child("spec"), fields.child("status")
    name = metadata.text("name")
    if not name:
        return unidentified(problems, kind="Node", missing="metadata.name")
    ready = _ready_condition(status)
    known = {"True": True, "False": False}
    node = Node(
        name=name,
        uid=metadata.text("uid") or "",
        is_ready=known.get(ready.text("status") or ""),
        created_at=metadata.text("creationTimestamp"),
        ready_reason=ready.text("reason") or "",
        ready_message=ready.text("message") or "",
        is_unschedulable=spec.known_flag("unschedulable"),
        labels=_texts(metadata.child("labels")),
        taints=tuple(read_taint(item) for item in spec.children("taints")),
        addresses=tuple(
            (item.text("type") or "", item.text("address") or "")
            for item in status.children("addresses")
        ),
        facts=_node_facts(status.child("nodeInfo")),
        problems=tuple(problems),
    )
    return Parsed(node, tuple(problems))


def _ready_condition(status: Fields) -> Fields:
    """The condition Ready; an empty one where there is none."""
    ready = (item for item in status.children("conditions") if item.text("type") == "Ready")
    return next(ready, Fields(None, path="", problems=status.problems))


def _node_facts(node_info: Fields) -> dict[str, str]:
    facts = {name: node_info.text(name) for name in NODE_FACTS}
    return {name: text for name, text in facts.items() if text}


def _texts(fields: Fields) -> dict[str, str]:
    texts = {name: fields.text(name) for name in fields.raw if isinstance(name, str)}
    return {name: text for name, text in texts.items() if text is not None}
