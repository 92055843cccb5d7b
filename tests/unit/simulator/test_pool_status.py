"""The life of a pool status request: answered once, silent where it must be, deleted in the end."""

import time
from collections.abc import Callable
from typing import Any

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import POOL_STATUS_REQUESTS, Api, resource_slice

PATIENCE_SECONDS = 0.4


def create(api: Api) -> int:
    """Ask for all pools; return the revision of the request before any answer."""
    body = {"metadata": {"name": "x"}, "spec": {"driver": "test.example.com"}}
    answer = api.post(POOL_STATUS_REQUESTS, body)
    assert answer.status == 201
    return int(answer.json()["metadata"]["resourceVersion"])


def is_answered(simulator: Simulator) -> bool:
    found = simulator.get("ResourcePoolStatusRequest", "x")
    return found is not None and "status" in found


def within(seconds: float, check: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def incomplete(name: str, count: int) -> dict[str, Any]:
    pool = {"name": "pool-0", "generation": 1, "resourceSliceCount": count}
    return resource_slice(name, pool=pool)


def test_request_is_answered_as_a_modified_event(simulator: Simulator, api: Api) -> None:
    version = simulator.store.revision
    create(api)

    path = f"{POOL_STATUS_REQUESTS}?watch=1&timeoutSeconds=1&resourceVersion={version}"
    lines = api.get(path).lines()

    assert [(line["type"], "status" in line["object"]) for line in lines] == [
        ("ADDED", False),
        ("MODIFIED", True),
    ]


def test_request_about_an_incomplete_pool_stays_silent_until_it_is_touched() -> None:
    with server.start([incomplete("w0", 2)]) as simulator:
        api = Api(simulator.url)
        create(api)
        was_silent = not within(PATIENCE_SECONDS, lambda: is_answered(simulator))
        simulator.put(incomplete("w1", 2))
        is_still_silent = not within(PATIENCE_SECONDS, lambda: is_answered(simulator))
        touched = api.get(f"{POOL_STATUS_REQUESTS}/x").json()
        touched["metadata"]["annotations"] = {"a": "b"}
        api.send("PUT", f"{POOL_STATUS_REQUESTS}/x", touched)
        is_answered_then = within(5, lambda: is_answered(simulator))

    assert (was_silent, is_still_silent, is_answered_then) == (True, True, True)


def test_request_about_generation_zero_stays_silent() -> None:
    pool = {"name": "pool-0", "generation": 0, "resourceSliceCount": 1}
    with server.start([resource_slice("w0", pool=pool)]) as simulator:
        create(Api(simulator.url))

        assert not within(PATIENCE_SECONDS, lambda: is_answered(simulator))


def test_request_is_answered_when_its_pool_completes_within_the_tries() -> None:
    with server.start([incomplete("w0", 2)]) as simulator:
        create(Api(simulator.url))
        time.sleep(0.02)
        simulator.put(incomplete("w1", 2))

        assert within(5, lambda: is_answered(simulator))


def test_request_with_the_gate_off_is_stored_and_never_answered() -> None:
    with server.start([resource_slice("w0")], gates={}) as simulator:
        create(Api(simulator.url))

        assert not within(PATIENCE_SECONDS, lambda: is_answered(simulator))


def test_answered_request_is_deleted_after_an_hour(simulator: Simulator, api: Api) -> None:
    create(api)
    assert within(5, lambda: is_answered(simulator))

    simulator.step(3600)
    kept = simulator.objects("ResourcePoolStatusRequest")
    simulator.step(600)

    assert len(kept) == 1
    assert simulator.objects("ResourcePoolStatusRequest") == []


def test_pending_request_is_deleted_after_a_day() -> None:
    with server.start([incomplete("w0", 2)]) as simulator:
        create(Api(simulator.url))
        simulator.step(24 * 3600)
        kept = simulator.objects("ResourcePoolStatusRequest")
        simulator.step(600)

        assert len(kept) == 1
        assert simulator.objects("ResourcePoolStatusRequest") == []


def test_request_that_lost_its_answer_to_a_restored_backup_is_answered_again(
    simulator: Simulator, api: Api
) -> None:
    backup = create(api)
    assert within(5, lambda: is_answered(simulator))

    simulator.restore(backup)

    assert within(5, lambda: is_answered(simulator))
