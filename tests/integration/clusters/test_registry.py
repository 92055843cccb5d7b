import pytest

from clusters import registry
from clusters.registry import WatchedKind
from clusters.views.frame import grant_command
from kube.kinds import NODE


def test_watched_kinds_are_those_that_the_apps_declare() -> None:
    assert (registry.watched_names(), registry.figure_kinds()) == (
        ("ResourceSlice", "ResourceClaim", "DeviceClass", "DeviceTaintRule", "Node"),
        ("ResourceSlice", "ResourceClaim", "DeviceTaintRule"),
    )


def test_watch_refuses_a_second_declaration_of_a_kind() -> None:
    with pytest.raises(ValueError, match="Node is declared twice"):
        registry.watch(WatchedKind(NODE))


@pytest.mark.parametrize(
    ("kind", "resource", "verbs"),
    [
        ("Node", "nodes", "list,watch"),
        ("ResourceClaim", "resourceclaims.resource.k8s.io", "list,watch"),
        (
            "ResourcePoolStatusRequest",
            "resourcepoolstatusrequests.resource.k8s.io",
            "create,get,list,watch,delete",
        ),
    ],
)
def test_grant_command_names_the_resource_with_its_group(
    kind: str, resource: str, verbs: str
) -> None:
    plural = resource.partition(".")[0]

    assert grant_command(kind) == (
        f"kubectl create clusterrole dradash-{plural} --verb={verbs} --resource={resource}"
        f" && kubectl create clusterrolebinding dradash-{plural}"
        f" --clusterrole=dradash-{plural} --serviceaccount=dradash:dradash"
    )
