"""Discovery documents: what the server serves, in the aggregated and in the older forms."""

import base64
import hashlib
from typing import Any, Final

from simulator.kinds import DRA_GROUP, Resource, Surface, group_version

AGGREGATED_TYPE: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
REVIEWS_GROUP: Final = "authorization.k8s.io"

_STATUS_VERBS: Final = ["get", "patch", "update"]
_REVIEWS: Final = (("selfsubjectaccessreviews", "SelfSubjectAccessReview"),)


def version(surface: Surface) -> dict[str, str]:
    major, minor = surface.release
    return {
        "major": str(major),
        "minor": str(minor),
        "emulationMajor": str(major),
        "emulationMinor": str(minor),
        "minCompatibilityMajor": str(major),
        "minCompatibilityMinor": str(minor - 1),
        "gitVersion": surface.git_version,
        "gitCommit": "simulated",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "go1.26.8",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def wants_aggregated(accept: str) -> bool:
    """Whether v2 of aggregated discovery is among what the client takes, wherever it stands in the list."""
    for choice in accept.split(","):
        parts = {part.strip() for part in choice.split(";")}
        if {"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"} <= parts:
            return True
    return False


def aggregated_core(surface: Surface) -> dict[str, Any]:
    return _aggregated([_aggregated_group(surface, "", ["v1"])])


def aggregated_groups(surface: Surface) -> dict[str, Any]:
    reviews = {
        "metadata": {"name": REVIEWS_GROUP},
        "versions": [
            {
                "version": "v1",
                "resources": [_aggregated_review(*review) for review in _REVIEWS],
                "freshness": "Current",
            }
        ],
    }
    groups = [reviews]
    if surface.versions:
        groups.append(_aggregated_group(surface, DRA_GROUP, list(surface.versions)))
    return _aggregated(groups)


def _aggregated(groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups,
    }


def _aggregated_group(surface: Surface, group: str, versions: list[str]) -> dict[str, Any]:
    return {
        "metadata": {"name": group} if group else {},
        "versions": [
            {
                "version": version,
                "resources": [_aggregated_resource(r) for r in surface.served(group, version)],
                "freshness": "Current",
            }
            for version in versions
        ],
    }


def _aggregated_resource(resource: Resource) -> dict[str, Any]:
    response_kind = {"group": "", "version": "", "kind": resource.kind}
    entry: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": response_kind,
        "scope": "Namespaced" if resource.is_namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.has_status and resource.plural not in {"nodes", "namespaces", "pods"}:
        entry["subresources"] = [
            {"subresource": "status", "responseKind": response_kind, "verbs": _STATUS_VERBS}
        ]
    return entry


def _aggregated_review(plural: str, kind: str) -> dict[str, Any]:
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": "Cluster",
        "singularResource": kind.lower(),
        "verbs": ["create"],
    }


def core_versions(address: str) -> dict[str, Any]:
    client = {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [client]}


def groups(surface: Surface) -> dict[str, Any]:
    listed = [_group(REVIEWS_GROUP, ["v1"])]
    if surface.versions:
        listed.append(_group(DRA_GROUP, list(surface.versions)))
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


def group(surface: Surface, name: str) -> dict[str, Any] | None:
    """The document of one group; None when the group is not served."""
    versions = {REVIEWS_GROUP: ["v1"], DRA_GROUP: list(surface.versions)}.get(name)
    if not versions:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    rows = [
        {"groupVersion": group_version(name, version), "version": version} for version in versions
    ]
    return {"name": name, "versions": rows, "preferredVersion": rows[0]}


def resources(surface: Surface, group_name: str, version: str) -> dict[str, Any] | None:
    """The document of one group and version; None when it is not served."""
    if group_name == REVIEWS_GROUP and version == "v1":
        rows = [_review(*review) for review in _REVIEWS]
    else:
        served = surface.served(group_name, version)
        rows = [row for resource in served for row in _rows(resource)]
    if not rows:
        return None
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group_name, version),
        "resources": rows,
    }


def _rows(resource: Resource) -> list[dict[str, Any]]:
    row: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.is_namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    row["storageVersionHash"] = _storage_hash(resource)
    if not resource.has_status:
        return [row]
    return [row, {
        "name": f"{resource.plural}/status",
        "singularName": "",
        "namespaced": resource.is_namespaced,
        "kind": resource.kind,
        "verbs": _STATUS_VERBS,
    }]  # fmt: skip


def _review(plural: str, kind: str) -> dict[str, Any]:
    return {
        "name": plural,
        "singularName": kind.lower(),
        "namespaced": False,
        "kind": kind,
        "verbs": ["create"],
    }


def _storage_hash(resource: Resource) -> str:
    """Of the shape of the real one, which is opaque: 8 bytes in base64."""
    digest = hashlib.sha256(resource.full_name.encode()).digest()
    return base64.b64encode(digest[:8]).decode()
