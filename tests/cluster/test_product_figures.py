"""Figures after real scheduling, in the database and over REST."""

from collections.abc import Callable, Iterable

import pytest

from tests.cluster import objects
from tests.cluster.client import Document
from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import claim, device, pod, resource_slice
from tests.cluster.product import Product

pytestmark = pytest.mark.django_db(transaction=True)

GPU, PART, NIC = "gpu.example.com", "part.example.com", "nic.example.com"
ADMIN = "admin-team"


def costs(memory: str, sm: str) -> dict[str, object]:
    counters = {"memory": {"value": memory}, "sm": {"value": sm}}
    return {"consumesCounters": [{"counterSet": "gpu-0", "counters": counters}]}


def shareable(name: str) -> Document:
    policy = {"default": "10", "validRange": {"min": "10", "step": "10", "max": "100"}}
    capacity = {"bandwidth": {"value": "100", "requestPolicy": policy}}
    return device(name, allowMultipleAllocations=True, capacity=capacity)


def build_fleet(plane: ControlPlane) -> None:
    plane.wipe()
    plane.apply([objects.node("node-0"), *(objects.device_class(d) for d in (GPU, PART, NIC))])
    whole = [device(f"gpu-{number}") for number in range(5)]
    whole[3]["taints"] = objects.taint()
    shared_counters = [
        {"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}, "sm": {"value": "8"}}}
    ]
    profile = {"attributes": {"profile": {"string": "half"}}}
    partitions = [
        device("full", attributes={"profile": {"string": "full"}}, **costs("80Gi", "8")),
        device("half-0", **profile, **costs("40Gi", "4")),
        device("half-1", **profile, **costs("40Gi", "4")),
    ]
    plane.apply(
        [
            resource_slice("gpus", whole, driver=GPU),
            resource_slice("counters", None, driver=PART, count=2, sharedCounters=shared_counters),
            resource_slice("partitions", partitions, driver=PART, count=2),
            resource_slice("nics", [shareable("nic-0"), shareable("nic-1")], driver=NIC),
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": ADMIN,
                    "labels": {"resource.kubernetes.io/admin-access": "true"},
                },
            },
        ]
    )


def schedule(plane: ControlPlane, claims: Iterable[Document]) -> None:
    """One after the other, so that the first one gets the first device."""
    for made in claims:
        name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
        plane.wait_for(
            lambda namespace=namespace: plane.get("ServiceAccount", "default", namespace),
            what="the ServiceAccount that pods need",
        )
        plane.apply([made, pod(name, namespace=namespace)])
        plane.wait_for(
            lambda name=name, namespace=namespace: (
                (plane.get("Pod", name, namespace) or {}).get("spec", {}).get("nodeName")
            ),
            what=f"pod {name} bound",
        )


def bandwidth(amount: str) -> dict[str, object]:
    return {"capacity": {"requests": {"bandwidth": amount}}}


@pytest.fixture
def control_plane_of(
    request: pytest.FixtureRequest,
) -> Callable[[str], ControlPlane]:
    def start(name: str) -> ControlPlane:
        if name in {"control_plane", "control_plane_default"}:
            plane: ControlPlane = request.getfixturevalue(name)
            return plane
        emulated: ControlPlane = request.getfixturevalue("emulated_control_plane")(name)
        return emulated

    return start


@pytest.mark.parametrize("name", ["control_plane", "control_plane_default", "1.36"])
def test_figures_are_what_the_scheduler_left(
    control_plane_of: Callable[[str], ControlPlane], name: str
) -> None:
    plane = control_plane_of(name)
    build_fleet(plane)
    schedule(
        plane,
        [
            claim("whole", GPU, device="gpu-0"),
            claim("looks", GPU, device="gpu-1", namespace=ADMIN, adminAccess=True),
            claim("half", PART, device="half-0"),
            claim("share-a", NIC, device="nic-0", **bandwidth("30")),
            claim("share-b", NIC, device="nic-0", **bandwidth("70")),
            claim("share-c", NIC, device="nic-1", **bandwidth("20")),
        ],
    )
    product = Product.watching(plane)

    product.sync()

    assert product.figures("node-0", GPU) == (5, 1, 0, 1, 0, 3, 1)
    assert product.figures("node-0", PART) == (3, 1, 0, 0, 1, 1, 0)
    assert product.figures("node-0", NIC) == (2, 2, 1, 0, 0, 0, 0)
    assert product.states(PART) == {
        "full": "blocked",
        "half-0": "allocated",
        "half-1": "available",
    }
    assert product.states(NIC) == {"nic-0": "allocated", "nic-1": "partly used"}
