"""Figures after real scheduling, in the database and over REST."""

from collections.abc import Callable, Iterable
from functools import partial

import pytest

from tests.cluster import objects
from tests.cluster.client import Document
from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import claim, device, pod, resource_slice
from tests.cluster.product import Figures, Product

pytestmark = pytest.mark.django_db(transaction=True)

GPU, PART, NIC = "gpu.example.com", "part.example.com", "nic.example.com"
ADMIN = "admin-team"
PAGES = ("/", "/pools/", "/devices/", "/resource-slices/")


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
    """One after the other, so that each finds what the one before has left."""
    for made in claims:
        name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
        account = partial(plane.get, "ServiceAccount", "default", namespace)
        plane.wait_for(account, what="the ServiceAccount that pods need")
        plane.apply([made, pod(name, namespace=namespace)])
        plane.wait_for(partial(node_of, plane, name, namespace), what=f"pod {name} bound")


def node_of(plane: ControlPlane, name: str, namespace: str) -> str | None:
    found = plane.get("Pod", name, namespace) or {}
    node: str | None = found.get("spec", {}).get("nodeName")
    return node


def share(name: str, nic: str, amount: str) -> Document:
    return claim(name, NIC, device=nic, capacity={"requests": {"bandwidth": amount}})


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
            share("share-a", "nic-0", "30"),
            share("share-b", "nic-0", "70"),
            share("share-c", "nic-1", "20"),
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


@pytest.mark.parametrize("name", ["control_plane", "control_plane_default"])
def test_taint_rule_takes_devices_away_and_gives_them_back(
    control_plane_of: Callable[[str], ControlPlane], name: str
) -> None:
    plane = control_plane_of(name)
    build_fleet(plane)
    schedule(plane, [claim("whole", GPU, device="gpu-0")])
    plane.apply([objects.taint_rule("broken", driver=GPU, device="gpu-1")])
    product = Product.watching(plane)
    product.sync()
    with_rule = product.figures("node-0", GPU)

    plane.delete("DeviceTaintRule", "broken")
    product.sync()

    assert with_rule == (5, 1, 0, 2, 0, 2, 0)
    assert product.figures("node-0", GPU) == (5, 1, 0, 1, 0, 3, 0)


def test_rest_answers_what_the_scheduler_left(control_plane: ControlPlane) -> None:
    build_fleet(control_plane)
    schedule(
        control_plane,
        [
            claim("half", PART, device="half-0"),
            share("share-a", "nic-0", "30"),
        ],
    )
    product = Product.watching(control_plane)
    product.sync()

    pools = {pool["driver"]: pool for pool in product.rest("pools/")["results"]}
    devices = {d["device"]: d for d in product.rest("devices/?limit=100")["results"]}
    nic = product.rest(f"devices/{devices['nic-0']['id']}/")

    assert {driver: pool["devices"]["available"] for driver, pool in pools.items()} == {
        GPU: 4,
        PART: 1,
        NIC: 1,
    }
    part = pools[PART]
    assert (part["pool"], part["node"], part["generation"]) == ("node-0", "node-0", 1)
    assert (part["complete"], part["slices"]) == (True, {"seen": 2, "expected": 2})
    assert part["partitions"] == [
        {"attribute": f"{PART}/profile", "type": "full", "total": 1, "allocatable": 0},
        {"attribute": f"{PART}/profile", "type": "half", "total": 2, "allocatable": 1},
    ]
    assert pools[NIC]["capacity"] == [
        {"name": "bandwidth", "total": "200", "consumed": "30", "available": "170"}
    ]
    assert {name: device["state"] for name, device in devices.items()} == {
        "gpu-0": "available",
        "gpu-1": "available",
        "gpu-2": "available",
        "gpu-3": "unavailable",
        "gpu-4": "available",
        "full": "blocked",
        "half-0": "allocated",
        "half-1": "available",
        "nic-0": "allocated",
        "nic-1": "available",
    }
    (holder,) = nic["holders"]
    assert (nic["partly_used"], holder["claim"], holder["consumed_capacity"]) == (
        True,
        "share-a",
        {"bandwidth": "30"},
    )


# What the release's own gates leave of the fleet: partitions, shares and taints are of 1.36.
@pytest.mark.parametrize(
    ("version", "gpu", "part", "nic"),
    [
        ("1.34", (5, 1, 0, 0, 0, 4, 1), (3, 1, 0, 0, 0, 2, 0), (2, 1, 0, 0, 0, 1, 0)),
        ("1.35", (5, 1, 0, 0, 0, 4, 1), (3, 1, 0, 0, 0, 2, 0), (2, 1, 0, 0, 0, 1, 0)),
        ("1.36", (5, 1, 0, 1, 0, 3, 1), (3, 1, 0, 0, 1, 1, 0), (2, 1, 1, 0, 0, 1, 0)),
    ],
)
def test_emulated_release_has_its_own_figures_and_pages(
    control_plane_of: Callable[[str], ControlPlane],
    version: str,
    gpu: Figures,
    part: Figures,
    nic: Figures,
) -> None:
    plane = control_plane_of(version)
    build_fleet(plane)
    schedule(
        plane,
        [
            claim("whole", GPU, device="gpu-0"),
            claim("looks", GPU, device="gpu-1", namespace=ADMIN, adminAccess=True),
            claim("half", PART, device="half-0"),
            share("share-a", "nic-0", "30"),
        ],
    )
    product = Product.watching(plane)

    product.sync()

    assert product.figures("node-0", GPU) == gpu
    assert product.figures("node-0", PART) == part
    assert product.figures("node-0", NIC) == nic
    states = product.kind_states()
    assert states.pop("DeviceTaintRule") == "not_served"
    assert set(states.values()) == {"watching"}
    (cluster,) = product.rest("clusters/")["results"]
    assert cluster["server_version"] == "v1.37.2"
    assert [path for path in PAGES if "gpu" not in product.page(path)] == []
    assert f"emulating {version}" in product.page(f"/clusters/{product.cluster.pk}/")
