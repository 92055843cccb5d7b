"""Pool status requests end to end, made by the product and answered, or not, by the real controller."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from clusters.models import Lease
from ingest import pool_status
from pools.models import PoolStatusAnswer, PoolStatusRequest
from tests.cluster.client import Document
from tests.cluster.controlplane import ControlPlane
from tests.cluster.intended import SUBTRACTED_TWICE, TAINTED_FITS, TAINTED_IN_USE
from tests.cluster.objects import claim, device, held_claim, resource_slice, taint
from tests.cluster.product import Product, clock, eventually, process_environment, wait_for_right
from tests.cluster.rights import role_without, shipped_rights
from ui.words import all_words_of, figure_of, reason_of, words_of

pytestmark = pytest.mark.django_db(transaction=True)

GPU, PART, NIC = "gpu.example.com", "part.example.com", "nic.example.com"
KIND = "ResourcePoolStatusRequest"
PATH = "/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests"


@pytest.fixture(autouse=True)
def _short_patience(settings: Settings) -> None:
    settings.DRADASH = replace(settings.DRADASH, pool_status_timeout_seconds=3)


@pytest.fixture(scope="module")
def silent_plane() -> Iterator[ControlPlane]:
    """Serves pool status requests; the gate is off in the controller manager."""
    served = {"resource.k8s.io/v1alpha3": True}
    with ControlPlane(runtime_config=served, start_scheduler=False) as plane:
        yield plane


def ask(product: Product) -> None:
    pool_status.request_pool_status(product.cluster.pk, clock=clock)


def pool_of(driver: str, name: str, **parts: object) -> Document:
    devices = [device("a"), device("b")]
    return resource_slice(name, devices, driver=driver, pool=name, **parts)  # type: ignore[arg-type]


def half(name: str, **parts: object) -> Document:
    use = [{"counterSet": "gpu-0", "counters": {"memory": {"value": "40Gi"}}}]
    profile = {"profile": {"string": "half"}}
    return device(name, attributes=profile, consumesCounters=use, **parts)


def share(name: str, amount: str) -> Document:
    result = {
        "request": "r",
        "driver": NIC,
        "pool": "nics",
        "device": "nic-0",
        "shareID": "8f3b1c52-77e8-4a54-9c39-0c8a3b1f0f11",
        "consumedCapacity": {"bandwidth": amount},
    }
    allocation = {"devices": {"results": [result]}}
    return claim(name, NIC) | {"status": {"allocation": allocation}}


def differences() -> dict[tuple[str, str], list[tuple[object, ...]] | None]:
    """By pool, and the pool that its request was for; None where nothing was compared."""
    return {
        (each.pool_name, each.request.pool_name): None
        if each.differences is None
        else [(figure_of(d), d["ours"], d["server"], reason_of(d)) for d in each.differences]
        for each in PoolStatusAnswer.objects.select_related("request")
    }


def test_requests_are_answered_compared_and_taken_away(case_plane: ControlPlane) -> None:
    case_plane.wipe()
    memory = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    partitions = [half("half-0"), half("half-1", taints=taint())]
    nic = device("nic-0", allowMultipleAllocations=True, capacity={"bandwidth": {"value": "100"}})
    tainted = [device("a", taints=taint()), device("b"), device("c")]
    case_plane.apply(
        [
            pool_of(GPU, "plain"),
            resource_slice("tainted", tainted, driver=GPU, pool="tainted"),
            resource_slice(
                "counters", None, driver=PART, pool="parts", count=2, sharedCounters=memory
            ),
            resource_slice("halves", partitions, driver=PART, pool="parts", count=2),
            resource_slice("nics", [nic], driver=NIC, pool="nics"),
        ]
    )
    case_plane.apply([held_claim("whole", GPU, "a", pool="tainted"), share("share", "30")])
    product = Product.watching(case_plane)
    product.sync()

    with product.following():
        ask(product)

    # The partitions are asked for once more, with the attribute that names their type.
    assert sorted(product.requests()) == [("", "answered", True)] * 3 + [
        ("parts", "answered", True)
    ]
    attribute = f"{PART}/profile"
    assert differences() == {
        ("plain", ""): [],
        ("tainted", ""): [
            ("unavailable", 0, 1, TAINTED_IN_USE),
            ("available", 2, 1, SUBTRACTED_TWICE),
        ],
        ("parts", ""): [],
        ("parts", "parts"): [(f"partition {attribute}=half allocatable", 1, 2, TAINTED_FITS)],
        ("nics", ""): [],
    }
    assert case_plane.list(KIND) == []
    stored = product.rest("pool-status-requests/")["results"]
    assert sorted(each["outcome"] for each in stored) == ["answered"] * 4
    assert "answered" in product.page("/pool-status-requests/")


def test_incomplete_pool_blocks_its_driver_and_the_rest_is_asked_pool_by_pool(
    case_plane: ControlPlane,
) -> None:
    case_plane.wipe()
    whole, zero = pool_of(GPU, "whole"), pool_of(GPU, "zero", generation=0)
    case_plane.apply([whole, zero, pool_of(GPU, "half", count=2), pool_of(NIC, "other")])
    product = Product.watching(case_plane)
    product.sync()

    with product.following():
        ask(product)

    assert product.requests() == [
        ("", "blocked", True),
        ("", "answered", True),
        ("whole", "answered", True),
    ]
    blocked = PoolStatusRequest.objects.earliest("id").blocked_by
    assert sorted((each["pool"], words_of(each)) for each in blocked) == [
        ("half", "incomplete: 1 of 2 slices"),
        ("zero", "generation 0, which the server cannot write into its answer"),
    ]
    assert [each.differences for each in PoolStatusAnswer.objects.all()] == [[], []]
    assert case_plane.list(KIND) == []


def test_nobody_answers_where_the_gate_of_the_controller_manager_is_off(
    silent_plane: ControlPlane,
) -> None:
    silent_plane.wipe()
    silent_plane.apply([pool_of(GPU, "pool")])
    product = Product.watching(silent_plane)
    product.sync()

    ask(product)

    assert product.requests() == [("", "nobody_answers", True)]
    assert silent_plane.list(KIND) == []


def test_request_of_a_killed_process_is_taken_away_by_the_next(silent_plane: ControlPlane) -> None:
    silent_plane.wipe()
    silent_plane.apply([pool_of(GPU, "pool")])
    product = Product.watching(silent_plane)
    product.sync()
    script = (
        "import django; django.setup()\n"
        "from datetime import UTC, datetime\n"
        "from ingest import pool_status\n"
        f"pool_status.request_pool_status({product.cluster.pk}, clock=lambda: datetime.now(UTC))\n"
    )
    environment = process_environment(silent_plane) | {"DRADASH_POOL_STATUS_TIMEOUT_SECONDS": "60"}
    with subprocess.Popen([sys.executable, "-c", script], env=environment) as killed:
        eventually(lambda: silent_plane.list(KIND))
        killed.kill()
    PoolStatusRequest.objects.update(created_at="2026-01-01T00:00:00Z")
    # Whoever is killed gives nothing back: its lease runs out.
    Lease.objects.update(expires_at="2026-01-01T00:00:00Z")

    ask(product)

    assert product.requests() == [("", "failed", True), ("", "nobody_answers", True)]
    assert PoolStatusRequest.objects.earliest("id").notes == [
        {"code": "ended_before_answer", "parameters": {}}
    ]
    assert silent_plane.list(KIND) == []


def test_request_without_the_right_is_refused(case_plane: ControlPlane) -> None:
    case_plane.wipe()
    case_plane.apply([pool_of(GPU, "pool")])
    product = Product.watching(case_plane)
    product.sync()
    case_plane.apply([role_without("resourcepoolstatusrequests")])
    wait_for_right(case_plane, PATH, is_given=False)

    ask(product)
    case_plane.apply(shipped_rights())
    wait_for_right(case_plane, PATH, is_given=True)

    assert product.requests() == [("", "refused", True)]
    message = all_words_of(PoolStatusRequest.objects.get().notes)
    assert 'User "system:serviceaccount:dradash:dradash" cannot' in message


def test_request_that_is_not_served_is_not_made(control_plane_default: ControlPlane) -> None:
    control_plane_default.wipe()
    control_plane_default.apply([pool_of(GPU, "pool")])
    product = Product.watching(control_plane_default)
    product.sync()

    ask(product)
    ask(product)

    assert product.requests() == [("", "not_served", True)]
    assert product.rest("pool-status-requests/")["results"][0]["outcome"] == "not_served"
