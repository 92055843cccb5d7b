import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.cluster.client import Client, Document
from tests.cluster.controlplane import ControlPlane
from tests.cluster.product import eventually

STABLE = {"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"}
ALPHA = "resource.k8s.io/v1alpha3"


def served(plane: ControlPlane) -> dict[str, set[str]]:
    """Return the resources of each served version of resource.k8s.io."""
    versions: dict[str, set[str]] = {}
    for resource in plane.client.discover():
        if resource.api_version.startswith("resource.k8s.io/"):
            versions.setdefault(resource.api_version, set()).add(resource.plural)
    return versions


def config_map(name: str) -> Document:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def slice_reader_documents(account: str) -> list[Document]:
    """Return a role that may list slices, and its binding to a ServiceAccount in default."""
    group = "rbac.authorization.k8s.io"
    rule = {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceslices"],
        "verbs": ["list"],
    }
    return [
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": account},
            "rules": [rule],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": account},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": account},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": account}],
        },
    ]


def end_of_processes(pids: Sequence[int]) -> bool:
    return not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids)


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_emulated_release_serves_v1_only(
    emulated_control_plane: Callable[[str], ControlPlane], version: str
) -> None:
    plane = emulated_control_plane(version)

    assert served(plane) == {"resource.k8s.io/v1": STABLE}
    assert plane.client.call("GET", "/version")["emulationMinor"] == version.removeprefix("1.")


def test_default_release_serves_taint_rules_but_no_pool_status(
    control_plane_default: ControlPlane,
) -> None:
    assert served(control_plane_default) == {"resource.k8s.io/v1": STABLE | {"devicetaintrules"}}
    assert control_plane_default.client.call("GET", "/version")["gitVersion"] == "v1.37.2"


def test_pool_status_requests_are_served_in_alpha(control_plane: ControlPlane) -> None:
    assert served(control_plane) == {
        "resource.k8s.io/v1": STABLE | {"devicetaintrules"},
        ALPHA: {"devicetaintrules", "resourcepoolstatusrequests"},
    }


def test_pool_status_request_of_empty_cluster_is_answered(
    control_plane: ControlPlane,
) -> None:
    control_plane.wipe()
    request = {
        "apiVersion": ALPHA,
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": "empty"},
        "spec": {"driver": "gpu.example.com"},
    }

    control_plane.apply([request])

    status = control_plane.wait_for(
        lambda: (control_plane.get("ResourcePoolStatusRequest", "empty") or {}).get("status"),
        what="an answer",
    )
    assert status["poolCount"] == 0
    assert [c["message"] for c in status["conditions"]] == ["Calculated status for 0 pools"]


def test_serving_certificate_is_not_trusted_without_its_authority(
    control_plane: ControlPlane, control_plane_default: ControlPlane
) -> None:
    stranger = Client(control_plane.url, control_plane_default.ca_file, control_plane.admin_token)

    with pytest.raises(ssl.SSLCertVerificationError):
        stranger.request("GET", "/version")


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_restarted_api_server_expires_older_resource_version(
    control_plane: ControlPlane, sig: signal.Signals
) -> None:
    name = f"restart-{sig.name.lower()}"
    old, _ = control_plane.apply([config_map(name), config_map(f"{name}-later")])
    old_version = old["metadata"]["resourceVersion"]
    # Controllers write ConfigMaps of their own: one into each new namespace.
    before = control_plane.client.watch(
        "ConfigMap",
        resource_version=old_version,
        seconds=1,
        fieldSelector=f"metadata.name={name}-later",
    )
    assert [event["type"] for event in before] == ["ADDED"]

    control_plane.restart_api_server(sig)

    events = control_plane.client.watch("ConfigMap", resource_version=old_version)
    assert [(e["type"], e["object"]["code"], e["object"]["reason"]) for e in events] == [
        ("ERROR", 410, "Expired")
    ]


def test_restored_etcd_answers_newer_resource_version_with_504(
    control_plane: ControlPlane,
) -> None:
    control_plane.apply([config_map("in-copy")])
    copy = control_plane.snapshot_etcd()
    newer = [config_map(f"lost-{number}") for number in range(200)]
    version = control_plane.apply(newer)[-1]["metadata"]["resourceVersion"]

    control_plane.restore_etcd(copy)

    path = f"/api/v1/namespaces/default/configmaps?resourceVersion={version}"
    answer = control_plane.client.request("GET", path)
    names = {c["metadata"]["name"] for c in control_plane.list("ConfigMap", "default")}
    assert answer.status == 504
    assert answer.json()["message"].startswith(f"Timeout: Too large resource version: {version}")
    assert "in-copy" in names
    assert not names & {config["metadata"]["name"] for config in newer}


def test_expired_token_is_unauthorized(control_plane: ControlPlane) -> None:
    good = control_plane.service_account_token("default", "expiring", 30)
    expired = control_plane.service_account_token("default", "expiring", -120)

    statuses = [control_plane.as_token(t).request("GET", "/api").status for t in (good, expired)]

    assert statuses == [200, 401]


def test_revoked_right_is_forbidden(control_plane: ControlPlane) -> None:
    token = control_plane.service_account_token("default", "revoked")
    control_plane.apply(slice_reader_documents("revoked"))
    path = control_plane.client.resource("ResourceSlice").path()
    account = control_plane.as_token(token)
    control_plane.wait_for(lambda: account.request("GET", path).status == 200, what="the right")

    control_plane.delete("ClusterRoleBinding", "revoked")

    control_plane.wait_for(lambda: account.request("GET", path).status == 403, what="its end")
    message = account.request("GET", path).json()["message"]
    assert 'User "system:serviceaccount:default:revoked" cannot list' in message


def test_user_of_kubeconfig_has_no_rights(control_plane: ControlPlane) -> None:
    control_plane.wipe()

    with pytest.raises(subprocess.CalledProcessError) as caught:
        control_plane.kubectl("get", "resourceslices", user="nobody")

    assert control_plane.kubectl("get", "resourceslices", "-o", "name") == ""
    assert 'User "nobody" cannot list resource "resourceslices"' in caught.value.stderr


def test_apply_keeps_status_and_translates_uids(control_plane: ControlPlane) -> None:
    control_plane.wipe()
    control_plane.stop_controllers()
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team-a", "uid": "old-pod-uid"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "none"}]},
        "status": {"phase": "Running"},
    }
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "old-pod-uid"}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "team-a", "ownerReferences": [owner]},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {
            "allocation": {"devices": {}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "old-pod-uid"}],
        },
    }
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team-a"},
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": "team-a"},
    }
    control_plane.apply([account, namespace])

    stored_claim, stored_pod = control_plane.apply([claim, pod])
    control_plane.start_controllers()

    uid = stored_pod["metadata"]["uid"]
    assert stored_pod["status"]["phase"] == "Running"
    assert stored_claim["status"]["reservedFor"] == [{"resource": "pods", "name": "p", "uid": uid}]
    assert stored_claim["metadata"]["ownerReferences"] == [owner | {"uid": uid}]


def test_wipe_removes_claims_that_finalizers_hold(control_plane: ControlPlane) -> None:
    control_plane.wipe()
    control_plane.apply(
        [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaim",
                "metadata": {
                    "name": "held",
                    "namespace": "default",
                    "finalizers": ["example.com/hold"],
                    "deletionTimestamp": "2026-01-01T00:00:00Z",
                },
                "spec": {},
            }
        ]
    )
    (held,) = control_plane.list("ResourceClaim")
    assert "deletionTimestamp" in held["metadata"]

    control_plane.wipe()

    assert control_plane.list("ResourceClaim") == []


def test_close_leaves_no_process_and_no_folder() -> None:
    with ControlPlane(start_controllers=False) as plane:
        pids, folder = plane.pids, plane.folder
        assert not end_of_processes(pids)

    assert end_of_processes(pids)
    assert not folder.exists()


def test_servers_end_with_a_killed_test(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.cluster.controlplane import ControlPlane\n"
        "plane = ControlPlane(start_controllers=False, folder=Path(sys.argv[1])).start()\n"
        "print(*plane.pids, flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "plane")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout
        pids = [int(pid) for pid in killed.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(killed.pid, signal.SIGKILL)

    eventually(partial(end_of_processes, pids), seconds=10)
