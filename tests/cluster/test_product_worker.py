"""The worker as it runs for people: processes of its own, told where the kubeconfig is and nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clusters.models import Cluster
from tests.cluster.controlplane import ControlPlane
from tests.cluster.objects import device, held_claim, resource_slice, taint
from tests.cluster.product import Product, eventually, process_environment

pytestmark = pytest.mark.django_db(transaction=True)

DRIVER = "gpu.example.com"


@contextmanager
def worker(plane: ControlPlane, folder: Path, **environment: str) -> Iterator[int]:
    """Celery, in a session of its own so that all of it can be killed."""
    command = [sys.executable, "-m", "celery", "--app", "dradash", "worker", "--without-gossip"]
    with (
        (folder / "worker.log").open("ab") as log,
        subprocess.Popen(
            command,
            env=process_environment(plane) | environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_worker_follows_through_restarts_of_the_api_server_and_its_own(
    case_plane: ControlPlane, tmp_path: Path
) -> None:
    case_plane.wipe()
    devices = [device("a"), device("b")]
    whole = resource_slice("slice", devices, driver=DRIVER)
    tainted = resource_slice("slice", [device("a", taints=taint()), device("b")], driver=DRIVER)
    case_plane.apply([whole])

    def figures() -> tuple[int | None, ...]:
        return Product(case_plane, Cluster.objects.get()).figures("node-0", DRIVER)

    with worker(case_plane, tmp_path, DRADASH_POOL_STATUS_REQUESTS="on"):
        eventually(lambda: figures() == (2, 0, 0, 0, 0, 2, 0), seconds=60)
        product = Product(case_plane, Cluster.objects.get())
        case_plane.restart_api_server(signal.SIGKILL)
        case_plane.apply([tainted])
        eventually(lambda: figures() == (2, 0, 0, 1, 0, 1, 0), seconds=90)
        # Asked for by the clock, at most 30 s after the start.
        eventually(lambda: ("", "answered", True) in product.requests(), seconds=90)
    case_plane.apply([held_claim("held", DRIVER, "b")])
    with worker(case_plane, tmp_path):
        eventually(lambda: figures() == (2, 1, 0, 1, 0, 0, 0), seconds=60)

    assert product.events("ResourceClaim")[-1][1] == "held"
    assert [name for _, name in product.events("ResourceSlice")] == ["slice", "slice"]
    assert case_plane.list("ResourcePoolStatusRequest") == []
