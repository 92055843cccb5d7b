"""Which kinds the simulated API server serves, in which versions, by release."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

DRA_GROUP: Final = "resource.k8s.io"

_ALL_VERBS: Final = (
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One kind. `empty` is what the body of a bookmark holds beside its metadata."""

    kind: str
    plural: str
    group: str
    is_namespaced: bool
    empty: Mapping[str, Any]
    has_generation: bool = False
    has_status: bool = False
    short_names: tuple[str, ...] = ()
    # Field labels that can be selected on, beside metadata.name and metadata.namespace.
    selectable: tuple[str, ...] = ()
    verbs: tuple[str, ...] = _ALL_VERBS

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def full_name(self) -> str:
        """As messages of the API server name it: `resourceslices.resource.k8s.io`, `nodes`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def full_kind(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


_NO_NODE_INFO: Final = {
    "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "",
    "containerRuntimeVersion": "", "kubeletVersion": "", "kubeProxyVersion": "",
    "operatingSystem": "", "architecture": "",
}  # fmt: skip

RESOURCE_SLICE: Final = Resource(
    "ResourceSlice",
    "resourceslices",
    DRA_GROUP,
    is_namespaced=False,
    empty={"spec": {"driver": "", "pool": {"name": "", "generation": 0, "resourceSliceCount": 0}}},
    has_generation=True,
    selectable=("spec.nodeName", "spec.driver", "spec.pool.name"),
)
RESOURCE_CLAIM: Final = Resource(
    "ResourceClaim",
    "resourceclaims",
    DRA_GROUP,
    is_namespaced=True,
    empty={"spec": {"devices": {"requests": None}}, "status": {}},
    has_status=True,
)
RESOURCE_CLAIM_TEMPLATE: Final = Resource(
    "ResourceClaimTemplate",
    "resourceclaimtemplates",
    DRA_GROUP,
    is_namespaced=True,
    empty={"spec": {"metadata": {}, "spec": {"devices": {"requests": None}}}},
)
DEVICE_CLASS: Final = Resource(
    "DeviceClass",
    "deviceclasses",
    DRA_GROUP,
    is_namespaced=False,
    empty={"spec": {}},
    has_generation=True,
)
DEVICE_TAINT_RULE: Final = Resource(
    "DeviceTaintRule",
    "devicetaintrules",
    DRA_GROUP,
    is_namespaced=False,
    empty={"spec": {"taint": {"key": "", "effect": ""}}, "status": {}},
    has_generation=True,
    has_status=True,
)
_TAINT_RULE_WITHOUT_STATUS: Final = replace(DEVICE_TAINT_RULE, has_status=False)
POOL_STATUS_REQUEST: Final = Resource(
    "ResourcePoolStatusRequest",
    "resourcepoolstatusrequests",
    DRA_GROUP,
    is_namespaced=False,
    empty={"spec": {"driver": ""}},
    has_status=True,
)
NODE: Final = Resource(
    "Node",
    "nodes",
    "",
    is_namespaced=False,
    empty={
        "spec": {},
        "status": {
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
            "nodeInfo": _NO_NODE_INFO,
        },
    },
    has_status=True,
    short_names=("no",),
)
NAMESPACE: Final = Resource(
    "Namespace",
    "namespaces",
    "",
    is_namespaced=False,
    empty={"spec": {}, "status": {}},
    has_status=True,
    short_names=("ns",),
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
)
POD: Final = Resource(
    "Pod",
    "pods",
    "",
    is_namespaced=True,
    empty={"spec": {"containers": None}, "status": {}},
    has_status=True,
    short_names=("po",),
    selectable=("spec.nodeName", "status.phase"),
)

RESOURCES: Final = {
    resource.kind: resource
    for resource in (
        NAMESPACE,
        NODE,
        POD,
        DEVICE_CLASS,
        DEVICE_TAINT_RULE,
        RESOURCE_CLAIM,
        RESOURCE_CLAIM_TEMPLATE,
        RESOURCE_SLICE,
        POOL_STATUS_REQUEST,
    )
}

# Of the releases whose answers were recorded.
_PATCHES: Final = {34: 4, 36: 3, 37: 2}

_DRA_BASE: Final = (
    DEVICE_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
)


@dataclass(frozen=True, slots=True)
class Surface:
    """What a server of one release serves. `versions` are those of resource.k8s.io that are switched on."""

    release: tuple[int, int] = (1, 37)
    versions: tuple[str, ...] = ("v1", "v1alpha3")
    gates: Mapping[str, bool] = field(default_factory=dict)

    @property
    def git_version(self) -> str:
        major, minor = self.release
        return f"v{major}.{minor}.{_PATCHES.get(minor, 0)}"

    def served(self, group: str, version: str) -> tuple[Resource, ...]:
        """The kinds of one group and version, in the order in which discovery lists them."""
        if not group:
            return (NAMESPACE, NODE, POD) if version == "v1" else ()
        if group != DRA_GROUP or version not in self.versions:
            return ()
        resources = list(_DRA_BASE) if version != "v1alpha3" else []
        if self.serves_taint_rules(version):
            has_status = self.release >= (1, 35)
            resources.append(DEVICE_TAINT_RULE if has_status else _TAINT_RULE_WITHOUT_STATUS)
        if version == "v1alpha3" and self.release >= (1, 36):
            resources.append(POOL_STATUS_REQUEST)
        return tuple(sorted(resources, key=lambda resource: resource.plural))

    def serves_taint_rules(self, version: str) -> bool:
        since = {"v1": (1, 37), "v1beta2": (1, 36), "v1alpha3": (1, 33)}
        return version in since and self.release >= since[version]

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        matching = (r for r in self.served(group, version) if r.plural == plural)
        return next(matching, None)

    def newest_version(self, resource: Resource) -> str:
        """The version that objects of this kind are written in when nobody says which."""
        if not resource.group:
            return "v1"
        known = ("v1", "v1beta2", "v1beta1", "v1alpha3")
        serving = (v for v in known if self.find(resource.group, v, resource.plural))
        return next(serving, "v1")

    def supports_field(self, resource: Resource, label: str) -> bool:
        if label == "metadata.name" or (label == "metadata.namespace" and resource.is_namespaced):
            return True
        if label == "spec.pool.name" and self.release < (1, 37):
            return False
        return label in resource.selectable


def group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version
