"""Errors on demand, as a client meets them."""

import json
import threading
import time

import pytest
import urllib3

from simulator.cluster import Simulator
from tests.unit.simulator.client import SLICES, Api, resource_slice


def test_fail_with_a_status_answers_so_many_requests_with_it(
    simulator: Simulator, api: Api
) -> None:
    simulator.fail(SLICES, 500, times=2)

    assert [api.get(SLICES).status for _ in range(3)] == [500, 500, 200]


def test_fail_leaves_other_paths_alone(simulator: Simulator, api: Api) -> None:
    simulator.fail("resourceclaims", 503)

    assert api.get(SLICES).status == 200


def test_fail_for_a_method_leaves_other_methods_alone(simulator: Simulator, api: Api) -> None:
    simulator.fail(SLICES, 500, method="POST")

    assert api.get(SLICES).status == 200
    assert api.post(SLICES, resource_slice("w3")).status == 500


def test_fail_for_some_seconds_ends_by_itself(simulator: Simulator, api: Api) -> None:
    simulator.fail(SLICES, 503, seconds=0.2)

    assert [api.get(SLICES).status for _ in range(2)] == [503, 503]
    time.sleep(0.25)
    assert api.get(SLICES).status == 200


def test_heal_disarms_every_fault(simulator: Simulator, api: Api) -> None:
    simulator.fail(SLICES, 500, seconds=60)
    simulator.heal()

    assert api.get(SLICES).status == 200


def test_fail_refuses_a_way_it_does_not_know(simulator: Simulator) -> None:
    with pytest.raises(ValueError, match="unknown fault"):
        simulator.fail(SLICES, "explode")  # type: ignore[arg-type]


def test_reset_breaks_the_connection_without_an_answer(simulator: Simulator, api: Api) -> None:
    simulator.fail(SLICES, "reset")

    with pytest.raises(urllib3.exceptions.ProtocolError, match=r"reset|aborted"):
        api.get(SLICES)


def test_hang_sends_nothing_until_the_client_gives_up(simulator: Simulator, api: Api) -> None:
    simulator.fail(SLICES, "hang")

    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        api.get(SLICES, timeout=0.3)


def test_truncate_closes_the_connection_in_the_middle_of_a_list(
    simulator: Simulator, api: Api
) -> None:
    simulator.fail(SLICES, "truncate", after_bytes=300)

    with pytest.raises(urllib3.exceptions.ProtocolError, match="300 bytes read"):
        api.get(SLICES)


def test_truncate_cuts_a_watch_without_its_final_chunk(simulator: Simulator, api: Api) -> None:
    simulator.fail("watch=1", "truncate", after_bytes=100)

    with pytest.raises(urllib3.exceptions.ProtocolError):
        api.get(f"{SLICES}?watch=1&timeoutSeconds=2")


def test_stall_stops_in_the_middle_and_keeps_the_connection(
    simulator: Simulator, api: Api
) -> None:
    simulator.fail(SLICES, "stall", after_bytes=300)

    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        api.get(SLICES, timeout=0.3)


def test_garble_sends_as_much_as_announced_that_is_not_json(
    simulator: Simulator, api: Api
) -> None:
    whole = api.get(SLICES).body
    simulator.fail(SLICES, "garble", after_bytes=300)

    garbled = api.get(SLICES).body

    assert (len(garbled), garbled[:300]) == (len(whole), whole[:300])
    with pytest.raises(ValueError, match=r"utf-8|JSON|control"):
        json.loads(garbled)


def test_slow_sends_so_many_bytes_a_second(simulator: Simulator, api: Api) -> None:
    size = len(api.get(SLICES).body)
    simulator.slow(SLICES, 2000)
    began = time.monotonic()

    assert len(api.get(SLICES).body) == size
    assert time.monotonic() - began >= size / 2000 * 0.7


def test_down_refuses_connections_until_up(simulator: Simulator, api: Api) -> None:
    simulator.down()

    with pytest.raises(urllib3.exceptions.NewConnectionError):
        api.get(SLICES)
    simulator.up()
    assert api.get(SLICES).status == 200


def watch_in_background(api: Api, path: str) -> tuple[threading.Thread, list[object]]:
    """The thread, and where its outcome will be."""
    outcome: list[object] = []

    def watch() -> None:
        try:
            outcome.append(api.get(path).lines())
        except urllib3.exceptions.HTTPError as error:
            outcome.append(error)

    thread = threading.Thread(target=watch)
    thread.start()
    time.sleep(0.3)
    return thread, outcome


def test_abrupt_restart_cuts_open_watches(simulator: Simulator, api: Api) -> None:
    version = simulator.store.revision
    thread, outcome = watch_in_background(
        api, f"{SLICES}?watch=1&timeoutSeconds=30&resourceVersion={version}"
    )

    simulator.restart()

    thread.join(timeout=5)
    assert isinstance(outcome[0], urllib3.exceptions.ProtocolError)


def test_orderly_stop_lets_open_watches_live_and_takes_no_request(
    simulator: Simulator, api: Api
) -> None:
    version = simulator.store.revision
    thread, outcome = watch_in_background(
        api, f"{SLICES}?watch=1&timeoutSeconds=2&resourceVersion={version}"
    )

    simulator.down(is_abrupt=False)

    with pytest.raises(urllib3.exceptions.HTTPError):
        api.get(SLICES)
    simulator.put(resource_slice("w3"))
    thread.join(timeout=5)
    simulator.up()
    assert [line["type"] for line in outcome[0]] == ["ADDED"]  # type: ignore[attr-defined]


def test_watch_from_before_a_restart_is_told_that_it_is_too_old(
    simulator: Simulator, api: Api
) -> None:
    before = simulator.store.revision
    simulator.put(resource_slice("w3"))
    simulator.restart()

    lines = api.get(f"{SLICES}?watch=1&timeoutSeconds=2&resourceVersion={before}").lines()

    assert [(line["type"], line["object"]["message"]) for line in lines] == [
        ("ERROR", f"too old resource version: {before} ({before + 1})")
    ]


def test_forget_history_leaves_the_newest_version_good(simulator: Simulator, api: Api) -> None:
    simulator.forget_history()

    newest = simulator.store.revision
    lines = api.get(f"{SLICES}?watch=1&timeoutSeconds=1&resourceVersion={newest}").lines()

    assert lines == []


def test_restore_shows_the_older_objects_and_hides_that_time_went_back(
    simulator: Simulator, api: Api
) -> None:
    backup = simulator.store.revision
    simulator.put(resource_slice("w3"))
    future = simulator.store.revision

    simulator.restore(backup)

    names = [item["metadata"]["name"] for item in api.get(SLICES).json()["items"]]
    assert names == ["w0", "w1", "w2"]
    watch = api.get(f"{SLICES}?watch=1&timeoutSeconds=1&resourceVersion={future}")
    assert (watch.status, watch.body) == (200, b"")


def test_restore_to_an_unknown_revision_is_refused(simulator: Simulator) -> None:
    simulator.forget_history()

    with pytest.raises(ValueError, match="no longer known"):
        simulator.restore(simulator.store.revision - 2)


def test_revoke_and_grant_change_answers_and_reviews(simulator: Simulator, api: Api) -> None:
    simulator.revoke("list", "resourceslices")
    refused = api.get(SLICES).status
    simulator.grant("list", "resourceslices")

    assert (refused, api.get(SLICES).status) == (403, 200)
