import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from kube import pool_status
from kube.capabilities import Capabilities
from kube.connect import Connection, connect
from kube.digest import body_digest
from kube.discovery import discover
from kube.failures import Conflict, Expired, Forbidden, Unauthorized, Unreachable
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, RESOURCE_SLICE, ServedResource, served
from kube.objects import InitialDone, Seen
from kube.targets import Target
from kube.watching import is_from_the_future, read_initial, read_list, watch_window
from tests.cluster.client import Document, wait_for
from tests.cluster.controlplane import ControlPlane

SLICES = served(RESOURCE_SLICE, "v1")
REQUESTS = served(RESOURCE_POOL_STATUS_REQUEST, "v1alpha3")


def slice_document(name: str, *, generation: int = 1, slice_count: int = 1) -> Document:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {
                "name": name,
                "generation": generation,
                "resourceSliceCount": slice_count,
            },
            "allNodes": True,
            "devices": [{"name": f"gpu-{number}"} for number in range(8)],
        },
    }


def open_connection(plane: ControlPlane, *, token: str | None = None) -> Connection:
    return connect(Target("kubeconfig", path=str(plane.kubeconfig(token=token))))


@pytest.fixture
def connection(control_plane: ControlPlane) -> Iterator[Connection]:
    control_plane.wipe()
    opened = open_connection(control_plane)
    yield opened
    opened.close()


def point_of(connection: Connection, resource: ServedResource = SLICES) -> str:
    """The resourceVersion of a fresh read."""
    *_, done = read_initial(connection, resource)
    assert isinstance(done, InitialDone)
    return done.resource_version


def versions(capabilities: Capabilities) -> dict[str, str]:
    return {kind: resource.version for kind, resource in capabilities.resources.items()}


def test_discover_real_server_serves_what_it_is_started_with(connection: Connection) -> None:
    found = discover(connection, previous=None)

    assert versions(found) == {
        "ResourceSlice": "v1",
        "ResourceClaim": "v1",
        "DeviceClass": "v1",
        "DeviceTaintRule": "v1",
        "Node": "v1",
        "ResourcePoolStatusRequest": "v1alpha3",
    }
    assert set(found.rights.values()) == {True}
    assert found.gates is not None
    assert found.gates["kube-apiserver"]["DRAResourcePoolStatus"] is True


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_discover_emulated_server_lacks_taint_rules_and_requests(
    emulated_control_plane: Callable[[str], ControlPlane], version: str
) -> None:
    opened = open_connection(emulated_control_plane(version))

    found = discover(opened, previous=None)
    opened.close()

    assert found.server_version.emulated == version
    assert set(versions(found)) == {"ResourceSlice", "ResourceClaim", "DeviceClass", "Node"}


def test_initial_watchlist_and_list_agree_on_every_object(
    control_plane: ControlPlane, connection: Connection
) -> None:
    control_plane.apply([slice_document(f"pool-{number}") for number in range(60)])

    streamed = list(read_initial(connection, SLICES))
    listed = list(read_list(connection, SLICES))

    assert names_and_digests(streamed) == names_and_digests(listed)
    assert [
        event.count for event in (streamed[-1], listed[-1]) if isinstance(event, InitialDone)
    ] == [60, 60]


def names_and_digests(events: Sequence[object]) -> dict[str, object]:
    return {event.name: body_digest(event) for event in events if isinstance(event, Seen)}


def test_window_roll_out_changes_generation_and_not_digest(
    control_plane: ControlPlane, connection: Connection
) -> None:
    control_plane.apply([slice_document("pool")])
    before, done = read_initial(connection, SLICES)
    assert isinstance(before, Seen)
    assert isinstance(done, InitialDone)
    control_plane.apply([slice_document("pool", generation=2)])

    after, *_ = watch_window(
        connection, SLICES, resource_version=done.resource_version, timeout_seconds=2
    )

    assert isinstance(after, Seen)
    assert after.type == "modified"
    assert body_digest(after)[0] == body_digest(before)[0]
    assert (body_digest(before)[1], body_digest(after)[1]) == (1, 2)


def test_window_killed_server_is_unreachable_and_its_points_expire(
    control_plane: ControlPlane, connection: Connection
) -> None:
    control_plane.apply([slice_document("pool")])
    point = point_of(connection)
    control_plane.apply([slice_document("pool", generation=2)])
    kill = threading.Timer(1, control_plane.restart_api_server, [signal.SIGKILL])
    kill.start()

    events: list[object] = []
    with pytest.raises(Unreachable):
        events.extend(watch_window(connection, SLICES, resource_version=point, timeout_seconds=30))
    kill.join()
    with pytest.raises(Expired):
        list(watch_window(connection, SLICES, resource_version=point, timeout_seconds=5))

    assert int(point_of(connection)) > int(point)


def test_future_point_after_an_older_etcd_is_noticed() -> None:
    with ControlPlane() as plane:
        opened = open_connection(plane)
        snapshot = plane.snapshot_etcd()
        plane.apply([slice_document(f"pool-{number}") for number in range(40)])
        point = point_of(opened)
        plane.restore_etcd(snapshot)

        silent = list(watch_window(opened, SLICES, resource_version=point, timeout_seconds=2))

        assert silent == []
        assert is_from_the_future(opened, SLICES, point) is True
        assert is_from_the_future(opened, SLICES, point_of(opened)) is False
        opened.close()


def test_refused_rights_and_tokens_are_told_apart(control_plane: ControlPlane) -> None:
    nobody = open_connection(control_plane, token=control_plane.user_token("nobody"))
    stranger = open_connection(control_plane, token="no-such-token")

    with pytest.raises(Forbidden, match='User "nobody" cannot watch'):
        list(read_initial(nobody, SLICES))
    with pytest.raises(Unauthorized):
        list(read_initial(stranger, SLICES))

    assert set(discover(nobody, previous=None).rights.values()) == {False}
    nobody.close()
    stranger.close()


def test_pool_status_request_is_answered_and_taken_away(
    control_plane: ControlPlane, connection: Connection
) -> None:
    control_plane.apply([slice_document("pool")])
    labels = {"app.kubernetes.io/managed-by": "dradash"}
    made = pool_status.create(
        connection, REQUESTS, name="ours", labels=labels, driver="gpu.example.com"
    )

    answer = pool_status.wait(
        connection,
        REQUESTS,
        "ours",
        resource_version=made.resource_version,
        timeout_seconds=15,
    )

    assert (answer.pool_count, answer.is_truncated, answer.is_failed) == (1, False, False)
    assert [pool["totalDevices"] for pool in answer.pools] == [8]
    with pytest.raises(Conflict):
        pool_status.create(connection, REQUESTS, name="ours", labels=labels, driver="x")
    selector = "app.kubernetes.io/managed-by=dradash"
    found = pool_status.list_ours(connection, REQUESTS, label_selector=selector)
    assert [(item.name, item.uid) for item in found] == [("ours", made.uid)]
    other = "00000000-0000-4000-8000-000000000000"
    assert pool_status.delete(connection, REQUESTS, "ours", uid=other) is False
    assert pool_status.delete(connection, REQUESTS, "ours", uid=made.uid) is True
    assert pool_status.list_ours(connection, REQUESTS, label_selector=selector) == []


def test_pool_status_request_beside_an_incomplete_pool_stays_unanswered(
    control_plane: ControlPlane, connection: Connection
) -> None:
    control_plane.apply([slice_document("whole"), slice_document("half", slice_count=2)])

    def unanswered_for() -> float | None:
        made = pool_status.create(
            connection, REQUESTS, name="blocked", labels={}, driver="gpu.example.com"
        )
        started = time.monotonic()
        answer = pool_status.wait(
            connection,
            REQUESTS,
            "blocked",
            resource_version=made.resource_version,
            timeout_seconds=3,
        )
        pool_status.delete(connection, REQUESTS, "blocked", uid=made.uid)
        return None if answer.is_answered else time.monotonic() - started

    # The controller hears of slices by a watch of its own, and may answer before it has heard of the second one.
    seconds = wait_for(unanswered_for, what="a request that nobody answers")

    assert seconds < 6
