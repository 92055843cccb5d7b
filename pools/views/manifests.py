"""Kubernetes objects in YAML."""

import json

import yaml

from clusters.views.frame import Scope
from objects import queries
from pools.models import DeviceClass, Node, ResourceSlice


def manifest_of(row: Node | DeviceClass | ResourceSlice, scope: Scope) -> str:
    """The row's object as kubectl prints it, in the order of its own fields; empty where its body is no longer kept."""
    stored = queries.object_body(scope.snapshot, row.cluster_id, row.object_id)
    if stored is None:
        return ""
    return yaml.safe_dump(json.loads(stored[1]), sort_keys=False, allow_unicode=True, width=200)
