"""The kinds we read, and the versions of each that we know, newest first."""

from dataclasses import dataclass
from typing import Final

from dra.nodes import NODE_FACTS
from kube.kept import ItemsOfType, Kept

DRA_GROUP: Final = "resource.k8s.io"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as we know it, whatever a cluster serves."""

    name: str
    group: str  # "" is the core group
    plural: str
    namespaced: bool
    versions: tuple[str, ...]  # newest first
    number: int  # of the kind in the object log: its own for ever
    verbs: tuple[str, ...] = ("list", "watch")  # what we need to be allowed
    kept: Kept | None = None  # of its objects; None: all of each

    @property
    def resource(self) -> str:
        """As rights and kubectl name it: `resourceslices.resource.k8s.io`, `nodes`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


RESOURCE_SLICE: Final = Kind(
    "ResourceSlice",
    DRA_GROUP,
    "resourceslices",
    namespaced=False,
    versions=("v1", "v1beta2", "v1beta1"),
    number=1,
)
RESOURCE_CLAIM: Final = Kind(
    "ResourceClaim",
    DRA_GROUP,
    "resourceclaims",
    namespaced=True,
    versions=("v1", "v1beta2", "v1beta1"),
    number=2,
)
DEVICE_CLASS: Final = Kind(
    "DeviceClass",
    DRA_GROUP,
    "deviceclasses",
    namespaced=False,
    versions=("v1", "v1beta2", "v1beta1"),
    number=3,
)
DEVICE_TAINT_RULE: Final = Kind(
    "DeviceTaintRule",
    DRA_GROUP,
    "devicetaintrules",
    namespaced=False,
    versions=("v1", "v1beta2", "v1alpha3"),
    number=4,
)
RESOURCE_POOL_STATUS_REQUEST: Final = Kind(
    "ResourcePoolStatusRequest",
    DRA_GROUP,
    "resourcepoolstatusrequests",
    namespaced=False,
    versions=("v1alpha3",),
    number=5,
    verbs=("create", "get", "list", "watch", "delete"),
)
NODE: Final = Kind(
    "Node",
    "",
    "nodes",
    namespaced=False,
    versions=("v1",),
    number=6,
    # Not the images, figures and heartbeats that a kubelet writes every few minutes.
    kept=Kept(
        members={
            "metadata": dict.fromkeys(
                ("name", "uid", "creationTimestamp", "deletionTimestamp", "labels")
            ),
            "spec": dict.fromkeys(("taints", "unschedulable")),
            "status": {
                "addresses": None,
                "conditions": ItemsOfType(
                    "Ready",
                    dict.fromkeys(("type", "status", "lastTransitionTime", "reason", "message")),
                ),
                "nodeInfo": dict.fromkeys(NODE_FACTS),
            },
        },
    ),
)

# Each that stands above.
KINDS: Final[dict[str, Kind]] = {
    kind.name: kind for kind in tuple(globals().values()) if isinstance(kind, Kind)
}


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One kind as a certain cluster serves it."""

    kind: str
    group_version: str  # "resource.k8s.io/v1", "v1"
    plural: str
    namespaced: bool

    @property
    def version(self) -> str:
        """Without the group: "v1"."""
        return self.group_version.rpartition("/")[2]

    @property
    def path(self) -> str:
        """Of the collection in all namespaces."""
        root = "apis" if "/" in self.group_version else "api"
        return f"/{root}/{self.group_version}/{self.plural}"


def served(kind: Kind, version: str) -> ServedResource:
    """The kind as a cluster serves it in this version."""
    group_version = f"{kind.group}/{version}" if kind.group else version
    return ServedResource(kind.name, group_version, kind.plural, kind.namespaced)


def plural_of(kind: str) -> str:
    """The plural of a kind in its own spelling: DeviceClasses. One that is stored and not known here stays as it is."""
    known = KINDS.get(kind)
    return kind + known.plural.removeprefix(kind.lower()) if known else kind
