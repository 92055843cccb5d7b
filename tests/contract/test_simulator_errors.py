"""The simulated API server's refusals, held to those of a real one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import (
    CLAIMS,
    POOL_STATUS_REQUESTS,
    SLICES,
    Answer,
    Api,
    resource_slice,
)

RECORDED = json.loads(
    (Path(__file__).parents[1] / "fixtures/recordings/api/1.37.2/errors.json").read_text()
)
OTHER_UID = "00000000-0000-4000-8000-000000000000"

Provoke = Callable[[Simulator, Api], Answer]


def revoked(verb: str, resource: str, path: str, method: str = "GET") -> Provoke:
    def provoke(simulator: Simulator, api: Api) -> Answer:
        simulator.revoke(verb, resource)
        body = {"metadata": {"name": "x"}, "spec": {}} if method == "POST" else None
        return api.send(method, path, body)

    return provoke


def plain(path: str, **options: Any) -> Provoke:
    return lambda _, api: api.send(options.pop("method", "GET"), path, **options)


def bad_slice() -> dict[str, Any]:
    pool = {"name": "pool-0", "generation": 1, "resourceSliceCount": 0}
    return resource_slice("v", pool=pool)


def stale_update(simulator: Simulator, api: Api) -> Answer:
    old = api.get(f"{SLICES}/w0").json()
    simulator.put(resource_slice("w0", allNodes=True))
    return api.send("PUT", f"{SLICES}/w0", old)


def changed_request(_: Simulator, api: Api) -> Answer:
    made = api.post(
        POOL_STATUS_REQUESTS,
        {"metadata": {"name": "x"}, "spec": {"driver": "a.example.com"}},
    ).json()
    made["spec"]["limit"] = 5
    # The controller answers meanwhile, and so writes it once.
    made["metadata"]["resourceVersion"] = ""
    current = api.get(f"{POOL_STATUS_REQUESTS}/x").json()
    while "status" not in current:
        current = api.get(f"{POOL_STATUS_REQUESTS}/x").json()
    made["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"]
    return api.send("PUT", f"{POOL_STATUS_REQUESTS}/x", made)


def compacted_list(simulator: Simulator, api: Api) -> Answer:
    old = simulator.store.revision
    simulator.put(resource_slice("w3"))
    simulator.forget_history()
    return api.get(f"{SLICES}?resourceVersion={old}&resourceVersionMatch=Exact&limit=1")


def expired_continue(simulator: Simulator, api: Api) -> Answer:
    token = api.get(f"{SLICES}?limit=2").json()["metadata"]["continue"]
    simulator.put(resource_slice("w3"))
    simulator.forget_history()
    return api.get(f"{SLICES}?limit=2&continue={token}")


def busy(simulator: Simulator, api: Api) -> Answer:
    simulator.fail(SLICES, 429)
    return api.get(SLICES)


PROVOKED: dict[str, Provoke] = {
    "403-list-slices": revoked("list", "resourceslices", SLICES),
    "403-watch-slices": revoked("watch", "resourceslices", f"{SLICES}?watch=1"),
    "403-get-slice": revoked("get", "resourceslices", f"{SLICES}/w0"),
    "403-list-claims-in-namespace": revoked(
        "list",
        "resourceclaims",
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
    ),
    "403-list-claims-all-namespaces": revoked("list", "resourceclaims", CLAIMS),
    "403-metrics": revoked("get", "/metrics", "/metrics"),
    "403-create-pool-status-request": revoked(
        "create", "resourcepoolstatusrequests", POOL_STATUS_REQUESTS, "POST"
    ),
    "404-object": plain(f"{SLICES}/nope"),
    "404-resource-of-served-version": plain("/apis/resource.k8s.io/v1/nope"),
    "404-version-not-served": plain("/apis/resource.k8s.io/v1beta9/resourceslices"),
    "404-group-not-served": plain("/apis/nope.k8s.io/v1/things"),
    "404-group-document": plain("/apis/nope.k8s.io"),
    "409-already-exists": plain(SLICES, method="POST", body=resource_slice("w0")),
    "409-conflict": stale_update,
    "409-delete-precondition": plain(
        f"{SLICES}/w0", method="DELETE", body={"preconditions": {"uid": OTHER_UID}}
    ),
    "405-method": plain(SLICES, method="PATCH"),
    "400-json": plain(SLICES, method="POST", body=b"{"),
    "415-media-type": plain(
        SLICES, method="POST", body=b"x", headers={"Content-Type": "text/plain"}
    ),
    "406-accept": plain(SLICES, headers={"Accept": "text/html"}),
    "422-slice": plain(SLICES, method="POST", body=bad_slice()),
    "400-field-selector": plain(f"{SLICES}?fieldSelector=spec.foo%3Dx"),
    "422-send-initial-events-alone": plain(f"{SLICES}?watch=1&sendInitialEvents=true"),
    "400-list-resource-version-not-a-number": plain(f"{SLICES}?resourceVersion=abc"),
    "500-watch-resource-version-not-a-number": plain(f"{SLICES}?watch=1&resourceVersion=abc"),
    "504-resource-version-too-large": plain(f"{SLICES}?resourceVersion=999999999999"),
    "422-pool-status-request-limit": plain(
        POOL_STATUS_REQUESTS,
        method="POST",
        body={"metadata": {"name": "x"}, "spec": {"driver": "a.example.com", "limit": 0}},
    ),
    "422-pool-status-request-immutable": changed_request,
    "410-list-exact-compacted": compacted_list,
    "410-continue-token-expired": expired_continue,
    "429-too-many-requests": busy,
}


def comparable(name: str, body: Any, simulator: Simulator) -> Any:
    """What belongs to one cluster only: its revisions and uids."""
    text = json.dumps(body)
    if name == "409-delete-precondition":
        text = text.replace(simulator.objects("ResourceSlice")[0]["metadata"]["uid"], "UID")
        text = text.replace("699a8928-252a-43b0-b724-a81e3d3134a6", "UID")
    if name == "504-resource-version-too-large":
        text = text.replace(f"{simulator.store.revision}", "NOW").replace("999999999999", "WANTED")
        text = text.replace("current: 3058", "current: NOW").replace("99999999,", "WANTED,")
    return json.loads(text)


@pytest.mark.parametrize("name", list(PROVOKED))
def test_refusal_is_that_of_a_real_server(name: str, simulator: Simulator, api: Api) -> None:
    recorded = RECORDED[name]

    answer = PROVOKED[name](simulator, api)

    is_text = isinstance(recorded["body"], str)
    body = answer.body.decode() if is_text else answer.json()
    wanted_headers = {key.lower(): value for key, value in recorded["headers"].items()}
    assert answer.status == recorded["status"]
    assert {key: answer.headers.get(key) for key in wanted_headers} == wanted_headers
    assert comparable(name, body, simulator) == comparable(name, recorded["body"], simulator)


@pytest.mark.parametrize(
    ("name", "token"), [("401-bad-token", "wrong"), ("403-anonymous-list", None)]
)
def test_refusal_of_a_stranger_is_that_of_a_real_server(name: str, token: str | None) -> None:
    with server.start(token="right") as simulator:
        answer = Api(simulator.url, token=token).get(SLICES)

    assert answer.status == RECORDED[name]["status"]
    assert answer.json() == RECORDED[name]["body"]


def test_every_recorded_refusal_is_tried() -> None:
    elsewhere = {"401-bad-token", "403-anonymous-list"}

    assert PROVOKED.keys() | elsewhere == RECORDED.keys()
