from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from ingest import pool_status, stopping
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from pools.models import Pool, PoolStatusAnswer, PoolStatusRequest
from pools.services import status_requests
from tests.factories import kube
from tests.integration.ingest.test_sync import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clusters.models import Cluster
    from ingest.services import SyncResult
    from simulator.cluster import Simulator

KIND = RESOURCE_POOL_STATUS_REQUEST.name
LONG_AGO = datetime(2026, 3, 1, tzinfo=UTC)

pytestmark = pytest.mark.usefixtures("every_write_raises_its_revision")


def clock() -> datetime:
    return datetime.now(UTC)


def wait_for_pools(count: int) -> None:
    deadline = time.monotonic() + 20
    while Pool.objects.count() < count and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.mark.usefixtures("following")
def test_request_answered_is_compared_and_taken_away(
    simulator: Simulator, cluster: Cluster
) -> None:
    simulator.put_all(
        [
            kube.resource_slice("slice-a", pool="node-1", devices=3),
            kube.resource_slice(
                "slice-b",
                pool="node-2",
                devices=[
                    {"name": "gpu-0", "taints": [{"key": "k", "effect": "NoSchedule"}]},
                    {"name": "gpu-1"},
                ],
            ),
            kube.resource_claim("claim-a", holds=["gpu-0"], pool="node-1"),
            kube.resource_claim("claim-b", holds=["gpu-0"], pool="node-2"),
        ]
    )
    wait_for_pools(2)

    pool_status.request_pool_status(cluster.pk, clock=clock)

    request = PoolStatusRequest.objects.get()
    assert (request.outcome, request.is_removed, request.pool_count) == ("answered", True, 2)
    assert request.pools_differing == 1
    answers = PoolStatusAnswer.objects.order_by("pool_name")
    differences = {answer.pool_name: answer.differences or [] for answer in answers}
    assert all(answer.ours is not None for answer in answers)
    assert differences["node-1"] == []
    assert [(d["field"], d["ours"], d["server"]) for d in differences["node-2"]] == [
        ("unavailable", 0, 1),
        ("available", 1, 0),
    ]
    assert simulator.objects(KIND) == []


@pytest.mark.usefixtures("following")
def test_request_of_an_incomplete_pool_is_blocked_and_the_others_are_asked_alone(
    simulator: Simulator, cluster: Cluster, settings: object
) -> None:
    simulator.put_all(
        [
            kube.resource_slice("slice-a", pool="node-1"),
            kube.resource_slice("slice-b", pool="node-2", count=3),
        ]
    )
    wait_for_pools(2)
    with_timeout(settings, seconds=2)

    pool_status.request_pool_status(cluster.pk, clock=clock)

    rows = PoolStatusRequest.objects.order_by("id").values_list(
        "pool_name", "outcome", "is_removed"
    )
    assert list(rows) == [("", "blocked", True), ("node-1", "answered", True)]
    assert PoolStatusRequest.objects.earliest("id").blocked_by == [
        {
            "driver": kube.DRIVER,
            "pool": "node-2",
            "code": "blocked_by_missing_slices",
            "parameters": {"seen": 1, "expected": 3},
        }
    ]
    assert simulator.objects(KIND) == []


def test_request_refused_is_told_apart(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    sync()
    simulator.revoke("create", "resourcepoolstatusrequests")

    pool_status.request_pool_status(cluster.pk, clock=clock)

    request = PoolStatusRequest.objects.get()
    assert (request.outcome, request.is_removed) == ("refused", True)


@pytest.mark.usefixtures("following")
def test_leftover_of_a_crash_is_removed(simulator: Simulator, cluster: Cluster) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    wait_for_pools(1)
    simulator.put(leftover("dradash-1234567890", instance=pool_status.instance_id()))
    simulator.put(leftover("dradash-of-others", instance="another"))

    pool_status.request_pool_status(cluster.pk, clock=clock)

    assert [each["metadata"]["name"] for each in simulator.objects(KIND)] == ["dradash-of-others"]


@pytest.mark.usefixtures("following")
def test_request_whose_answer_was_not_stored_is_ended_by_the_next_round(
    simulator: Simulator, cluster: Cluster
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    wait_for_pools(1)
    status_requests.begin_request(cluster.pk, kube.DRIVER, name="dradash-1", now=LONG_AGO)
    status_requests.note_removed(cluster.pk, ["dradash-1"])

    pool_status.request_pool_status(cluster.pk, clock=clock)

    left = PoolStatusRequest.objects.get(name="dradash-1")
    assert (left.outcome, left.notes) == (
        "failed",
        [{"code": "ended_before_answer", "parameters": {}}],
    )


@pytest.mark.usefixtures("following", "nobody_answers")
@pytest.mark.parametrize(
    ("entry", "stored"),
    [
        ({"driver": kube.DRIVER, "poolName": {"a": 1}}, (kube.DRIVER, "")),
        ({"driver": ["a"], "poolName": "node-1"}, (kube.DRIVER, "node-1")),
    ],
)
def test_answer_that_names_a_pool_by_what_is_no_text_is_stored(
    simulator: Simulator, cluster: Cluster, entry: dict[str, Any], stored: tuple[str, str]
) -> None:
    wait_for_pools(1)
    status = {"poolCount": 1, "pools": [entry]}

    def answer() -> None:
        eventually(lambda: len(simulator.objects(KIND)) == 1)
        simulator.put({**simulator.objects(KIND)[0], "status": status})

    server = threading.Thread(target=answer)
    server.start()
    pool_status.request_pool_status(cluster.pk, clock=clock)
    server.join()

    request = PoolStatusRequest.objects.earliest("id")
    assert (request.outcome, request.is_removed) == ("answered", True)
    assert PoolStatusAnswer.objects.values_list("driver", "pool_name").get() == stored
    assert simulator.objects(KIND) == []


@pytest.fixture
def nobody_answers(simulator: Simulator, settings: object) -> Iterator[threading.Event]:
    """A pool that blocks every answer for ten minutes; set when a worker has given up waiting for one."""
    simulator.put(kube.resource_slice("slice-a", count=3))
    with_timeout(settings, seconds=600)
    yield threading.Event()
    stopping.begin_anew()


@pytest.mark.usefixtures("following")
def test_process_that_ends_takes_its_requests_away_at_once(
    simulator: Simulator, cluster: Cluster, nobody_answers: threading.Event
) -> None:
    wait_for_pools(1)

    def ask() -> None:
        pool_status.request_pool_status(cluster.pk, clock=clock)
        connection.close()
        nobody_answers.set()

    threading.Thread(target=ask, daemon=True).start()
    eventually(lambda: len(simulator.objects(KIND)) == 1)
    # Most answers come in a second, so that there are two waits; this is the second one.
    time.sleep(2)

    stopping.stop_all()

    assert nobody_answers.wait(60)
    request = PoolStatusRequest.objects.get()
    assert (request.outcome, request.is_removed) == ("failed", True)
    assert request.notes == [{"code": "ended_before_answer", "parameters": {}}]
    assert simulator.objects(KIND) == []


def leftover(name: str, *, instance: str) -> dict[str, object]:
    return {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": KIND,
        "metadata": {
            "name": name,
            "labels": {
                "app.kubernetes.io/managed-by": "dradash",
                "app.kubernetes.io/instance": instance,
            },
        },
        "spec": {"driver": "nobody.example.com", "limit": 1},
    }


def with_timeout(settings: object, *, seconds: int) -> None:
    from dataclasses import replace

    settings.DRADASH = replace(settings.DRADASH, pool_status_timeout_seconds=seconds)  # type: ignore[attr-defined]
