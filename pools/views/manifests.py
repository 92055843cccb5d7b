"""Kubernetes objects in YAML."""

import yaml

from clusters.views.frame import Scope
from objects import queries
from pools.models import DeviceClass, Node, ResourceSlice


def manifest_of(row: Node | DeviceClass | ResourceSlice, scope: Scope) -> str:
    """The row's object as kubectl prints it, in the order of its own fields; empty where its body is no longer kept, or no JSON."""
    stored = queries.object_body(scope.snapshot, row.cluster_id, row.object_id)
    value = None if stored is None else queries.decoded(stored[1])
    if value is None:
        return ""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=200)
