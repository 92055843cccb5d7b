from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from clusters.models import ClusterKind
from ingest import services, stopping
from ingest.services import next_window_seconds
from tests.factories import kube
from tests.integration.ingest.conftest import clock
from tests.integration.ingest.test_sync import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clusters.models import Cluster
    from ingest.services import SyncResult
    from simulator.cluster import Simulator


@pytest.fixture
def long_window(
    simulator: Simulator, cluster: Cluster, sync: Callable[[], SyncResult]
) -> Iterator[threading.Thread]:
    """A worker in the middle of a window of five minutes."""
    simulator.put(kube.resource_slice("slice-a"))
    sync()

    def follow() -> None:
        services.sync_cluster(cluster.pk, seconds=300, clock=clock)
        connection.close()

    thread = threading.Thread(target=follow)
    thread.start()
    simulator.put(kube.resource_slice("slice-b", pool="b"))
    slices = ClusterKind.objects.filter(cluster=cluster, kind="ResourceSlice")
    eventually(lambda: slices.get().object_count == 2)
    yield thread
    stopping.begin_anew()


def test_process_that_ends_waits_for_no_window_and_fails_nothing(
    cluster: Cluster, long_window: threading.Thread
) -> None:
    began = time.monotonic()

    stopping.stop_all()
    long_window.join(60)

    assert time.monotonic() - began < 30
    states = ClusterKind.objects.filter(cluster=cluster).values_list("state", "failures")
    assert set(states) == {("watching", 0)}
    assert services.clusters_in_sync() == set()


def test_nothing_begins_in_a_process_that_ends(long_window: threading.Thread) -> None:
    stopping.stop_all()
    called = threading.Event()

    with stopping.stopped_by(called.set):
        goes_on = stopping.pause(60)

    assert (called.is_set(), goes_on, stopping.is_stopping()) == (True, False, True)
    long_window.join(60)


@pytest.mark.parametrize(
    ("seconds", "has_changes", "expected"),
    [(5, False, 10), (10, False, 20), (20, False, 20), (20, True, 5), (5, True, 5)],
)
def test_windows_grow_where_nothing_changes(
    seconds: float, has_changes: bool, expected: float
) -> None:
    assert next_window_seconds(seconds, has_changes=has_changes, longest=20) == expected
