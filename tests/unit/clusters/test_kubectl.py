import shlex

import pytest

from clusters.models import Cluster
from clusters.views.kubectl import get_resource_slices, kubectl

CONTEXT = Cluster(name="prod", source="kubeconfig", context="it's prod")


@pytest.mark.parametrize(
    ("cluster", "start"),
    [
        (None, ["kubectl"]),
        (Cluster(name="here", source="in_cluster"), ["kubectl"]),
        (Cluster(name="toy", source="simulated", context="toy"), ["kubectl"]),
        (CONTEXT, ["kubectl", "--context", "it's prod"]),
    ],
)
def test_kubectl_names_the_context_where_it_is_needed(
    cluster: Cluster | None, start: list[str]
) -> None:
    command = kubectl(cluster, "get", "resourceslice", "$(rm -rf x); a")

    assert shlex.split(command) == [*start, "get", "resourceslice", "$(rm -rf x); a"]


@pytest.mark.parametrize(
    ("drivers", "nodes", "selector"),
    [
        ((), (), []),
        (("a.example.com",), (), ["--field-selector", "spec.driver=a.example.com"]),
        ((), ("n1",), ["--field-selector", "spec.nodeName=n1"]),
        (("a", "b"), ("n1",), ["--field-selector", "spec.nodeName=n1"]),
        (("a,b=c\\",), (), ["--field-selector", "spec.driver=a\\,b\\=c\\\\"]),
    ],
)
def test_resource_slices_are_selected_by_what_the_server_can_select(
    drivers: tuple[str, ...], nodes: tuple[str, ...], selector: list[str]
) -> None:
    command = get_resource_slices(None, drivers=drivers, nodes=nodes)

    assert shlex.split(command) == ["kubectl", "get", "resourceslices", *selector]
