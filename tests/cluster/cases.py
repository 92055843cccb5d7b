"""Recorded cases of pool status requests, rebuilt on a live control plane.

Each case is a set of objects, one request, and the status that a real controller once wrote. The
names without a prefix are the controller's own unit-test table.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.client import Document, Documents
from tests.cluster.controlplane import ControlPlane

RECORDINGS = Path(__file__).parent.parent / "fixtures" / "recordings" / "rpsr"
CONTROLLER = "resourcepoolstatusrequest-controller"
RULE_GATE_OFF = "unavailable-from-taint-rule-gate-off"
# The first has one example of its 101 pools. The others' answers depend on the order in which the
# controller meets the slices, which is that of a Go map.
NOT_REPEATABLE = frozenset(
    {
        "extra-default-limit-100-of-101-pools",
        "extra-duplicate-counter-set-names",
        "extra-slices-disagree-declared-more",
    }
)
# The controller tries an incomplete pool for 155 ms and then drops the request for good.
_UNANSWERED_AFTER_SECONDS = 1.5
# The controller answers from its caches: they must have what was written before it is asked.
_SETTLE_SECONDS = 0.3


@dataclass(frozen=True)
class Case:
    """One recorded case. `status` None: the controller never answered."""

    name: str
    objects: Documents
    request: Document
    status: Document | None


def case_names(version: str = "1.37.2") -> list[str]:
    """Return the names of all recorded cases of a release that a live control plane can repeat."""
    names = {path.stem for path in (RECORDINGS / version).glob("*.json")}
    return sorted(names - NOT_REPEATABLE - {RULE_GATE_OFF})


def is_upstream(name: str) -> bool:
    """Whether a case is of the controller's own unit-test table."""
    return not re.match(r"extra-|C\d\d-", name)


def read_case(name: str, version: str = "1.37.2") -> Case:
    """Read one recorded case."""
    recorded = json.loads((RECORDINGS / version / f"{name}.json").read_text())
    return Case(
        name=name,
        objects=recorded["objects"],
        request=recorded["request"],
        status=without_times(recorded["status"]),
    )


def case_control_plane(*, taint_rules: bool = True) -> ControlPlane:
    """Return a control plane, not started, where nothing but the pool status controller runs.

    Others would tidy up hand-written allocations, pods and nodes. Older versions of the API are
    served as well, since some recorded objects are of those.
    """
    gates = f"--feature-gates=DRADeviceTaintRules={str(taint_rules).lower()}"
    return ControlPlane(
        pool_status_requests=True,
        controllers=(CONTROLLER,),
        start_scheduler=False,
        runtime_config={
            "resource.k8s.io/v1beta1": True,
            "resource.k8s.io/v1beta2": True,
        },
        flags={"kube-controller-manager": (gates,)},
    )


def build_case(plane: ControlPlane, case: Case) -> Documents:
    """Wipe the cluster and create the objects of a case; return them as stored."""
    plane.wipe()
    plane.apply(_admin_namespaces(case))
    stored = plane.apply(case.objects)
    time.sleep(_SETTLE_SECONDS)
    return stored


def _admin_namespaces(case: Case) -> Iterator[Document]:
    """Admin access is refused in namespaces without this label."""
    for document in case.objects:
        if document["kind"] == "ResourceClaim" and '"adminAccess": true' in json.dumps(document):
            yield {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": document["metadata"].get("namespace", "default"),
                    "labels": {"resource.kubernetes.io/admin-access": "true"},
                },
            }


def ask(plane: ControlPlane, request: Document, *, name: str = "asked") -> Document | None:
    """Ask for a pool status and return it without times, None if there is no answer."""
    plane.delete("ResourcePoolStatusRequest", name)
    document = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": name},
        "spec": request,
    }
    plane.apply([document])

    def status() -> Document | None:
        return (plane.get("ResourcePoolStatusRequest", name) or {}).get("status")

    try:
        answered = plane.wait_for(status, what="an answer", seconds=_UNANSWERED_AFTER_SECONDS)
    except TimeoutError:
        return None
    return without_times(answered)


def run_case(plane: ControlPlane, case: Case) -> Document | None:
    """Build a case and return what the live controller answers."""
    build_case(plane, case)
    return ask(plane, case.request)


def without_times(status: Document | None) -> Document | None:
    """Return a status without the moments of its conditions, to be compared."""
    if status is None:
        return None
    conditions = [
        {key: value for key, value in condition.items() if key != "lastTransitionTime"}
        for condition in status.get("conditions", ())
    ]
    return status | {"conditions": conditions}
