"""The simulated API server against the real one: the same requests give the same answers, uids, revisions and times apart."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.cluster.controlplane import ControlPlane
from tests.unit.simulator.client import (
    CLAIMS,
    POOL_STATUS_REQUESTS,
    REVIEWS,
    SLICES,
    WATCH_LIST,
    Api,
    gzip_members,
    resource_slice,
)

IN_DEFAULT = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
TAINT_RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

# What no two clusters have in common.
OWN = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "lastTransitionTime"}
OWN |= {"continue", "storageVersionHash"}
HEADERS = ("content-type", "content-encoding", "retry-after", "cache-control", "warning")

Answered = tuple[int, dict[str, str | None], Any]


@dataclass
class Conversation:
    """Requests to one of the two servers, and what came back, made comparable."""

    send_raw: Callable[..., tuple[int, dict[str, str], bytes]]
    answers: list[Answered] = field(default_factory=list)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """One request; its JSON as it came, its comparable form is kept."""
        status, answered, content = self.send_raw(method, path, body, headers or {})
        parsed = parse(content, answered)
        kept = {name: answered.get(name) for name in HEADERS}
        self.answers.append((status, kept, comparable(parsed)))
        return parsed

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        return self.send("GET", path, None, headers)

    def post(self, path: str, body: object) -> Any:
        return self.send("POST", path, {**body, "apiVersion": api_version(path)})  # type: ignore[dict-item]


def api_version(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[2:4]) if parts[1] == "apis" else parts[2]


def parse(content: bytes, headers: dict[str, str]) -> Any:
    if headers.get("content-encoding") == "gzip":
        content = b"".join(gzip_members(content))
    text = content.decode()
    for read in (json.loads, lambda lines: [json.loads(line) for line in lines.splitlines()]):
        with suppress(ValueError):
            return read(text)
    return text


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "…" if key in OWN else comparable(one)
            for key, one in value.items()
            if key != "managedFields"
        }
    if isinstance(value, list):
        return [comparable(one) for one in value]
    if isinstance(value, str):
        value = re.sub(
            r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "…", value
        )
        # How each language says what is wrong with a text is its own.
        value = re.sub(r"(key is not valid: ).*", r"\1…", value)
        return re.sub(r"\b\d{3,}\b", "N", value)
    return value


@pytest.fixture
def real(control_plane: ControlPlane) -> Conversation:
    control_plane.wipe()

    def send(method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        answer = control_plane.client.request(method, path, body, headers=headers)
        lowered = {name.lower(): value for name, value in answer.headers.items()}
        return answer.status, lowered, answer.body

    return Conversation(send)


@pytest.fixture
def simulated() -> Iterator[Conversation]:
    with server.start(user="admin") as simulator:
        yield Conversation(sender(simulator))


def sender(simulator: Simulator) -> Callable[..., Any]:
    api = Api(simulator.url)

    def send(method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        answer = api.send(method, path, body, headers=headers, timeout=70.0)
        return answer.status, answer.headers, answer.body

    return send


def of_slices(talk: Conversation) -> None:
    for name in ("w0", "w1", "w2"):
        talk.post(SLICES, resource_slice(name))
    talk.post(SLICES, resource_slice("w0"))
    talk.get(SLICES)
    page = talk.get(f"{SLICES}?limit=2")
    talk.get(f"{SLICES}?limit=2&continue={page['metadata']['continue']}")
    talk.get(f"{SLICES}?fieldSelector=spec.nodeName%3Dnode-1,metadata.name%3Dw1")
    talk.get(f"{SLICES}?fieldSelector=spec.pool.name%3Dpool-0&limit=1")
    talk.get(f"{SLICES}?resourceVersion=0")
    talk.get(f"{SLICES}?resourceVersionMatch=Exact")
    talk.get(f"{SLICES}?labelSelector=a%3Db")
    one = talk.get(f"{SLICES}/w1")
    changed = {**one, "spec": {**one["spec"], "devices": [{"name": "device-1"}]}}
    talk.send("PUT", f"{SLICES}/w1", changed)
    talk.send("PUT", f"{SLICES}/w1", changed)
    talk.send("DELETE", f"{SLICES}/w1", {"preconditions": {"uid": one["metadata"]["uid"]}})
    talk.send("DELETE", f"{SLICES}/w1")
    talk.get(f"{SLICES}/w1")


def of_claims(talk: Conversation) -> None:
    exactly = {"deviceClassName": "a", "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    held = {"name": "c", "finalizers": ["example.com/hold"]}
    made = talk.post(IN_DEFAULT, {"kind": "ResourceClaim", "metadata": held, "spec": spec})
    result = {"request": "r", "driver": "a.example.com", "pool": "p", "device": "d"}
    status = {"allocation": {"devices": {"results": [result]}}}
    talk.send("PUT", f"{IN_DEFAULT}/c/status", {**made, "status": status})
    talk.get(CLAIMS)
    talk.send("DELETE", f"{IN_DEFAULT}/c")
    left = talk.get(f"{IN_DEFAULT}/c")
    left["metadata"].pop("finalizers")
    talk.send("PUT", f"{IN_DEFAULT}/c", left)
    talk.get(IN_DEFAULT)


def of_classes_and_rules(talk: Conversation) -> None:
    expression = {"cel": {"expression": 'device.driver == "a"'}}
    talk.post(
        CLASSES,
        {
            "kind": "DeviceClass",
            "metadata": {"name": "a", "labels": {"x": "y"}},
            "spec": {"selectors": [expression]},
        },
    )
    talk.get(f"{CLASSES}?labelSelector=x+in+(y,z)")
    taint = {"key": "a/b", "effect": "NoSchedule", "timeAdded": "2026-11-29T12:00:00Z"}
    rule = {"deviceSelector": {"driver": "a.example.com"}, "taint": taint}
    talk.post(TAINT_RULES, {"kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": rule})
    talk.get(TAINT_RULES)
    # Nobody evicts in the simulated cluster, so nobody reports on it.
    talk.answers[-1][2]["items"][0]["status"] = {}


def of_pool_status_requests(talk: Conversation) -> None:
    pool = {"name": "pool-1", "generation": 3, "resourceSliceCount": 1}
    talk.post(SLICES, resource_slice("w0", pool=pool))
    spec = {"driver": "test.example.com", "limit": 10}
    metadata = {"name": "x", "labels": {"app": "us"}}
    talk.post(
        POOL_STATUS_REQUESTS,
        {"kind": "ResourcePoolStatusRequest", "metadata": metadata, "spec": spec},
    )
    time.sleep(1.0)
    talk.get(f"{POOL_STATUS_REQUESTS}?labelSelector=app%3Dus")
    talk.send("DELETE", f"{POOL_STATUS_REQUESTS}/x")
    talk.get(POOL_STATUS_REQUESTS)


def of_reviews(talk: Conversation) -> None:
    asked = {"verb": "list", "group": "resource.k8s.io", "resource": "resourceslices"}
    answer = talk.post(
        REVIEWS, {"kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": asked}}
    )
    assert answer["status"]["allowed"] is True
    # Why it is allowed depends on the bindings.
    talk.answers[-1][2]["status"].pop("reason", None)


def of_discovery(talk: Conversation) -> None:
    talk.get("/apis/resource.k8s.io")
    talk.get("/apis/resource.k8s.io/v1")
    talk.get("/apis/resource.k8s.io/v1alpha3")
    whole = talk.get("/apis", {"Accept": AGGREGATED})
    talk.answers.pop()
    groups = [item for item in whole["items"] if item["metadata"]["name"] == "resource.k8s.io"]
    talk.answers.append((200, {}, groups))


def of_watches(talk: Conversation) -> None:
    for name in ("w0", "w1"):
        talk.post(SLICES, resource_slice(name))
    version = talk.get(SLICES)["metadata"]["resourceVersion"]
    changed = talk.get(f"{SLICES}/w0")
    changed["metadata"]["labels"] = {"a": "b"}
    talk.send("PUT", f"{SLICES}/w0", changed)
    talk.send("DELETE", f"{SLICES}/w1")
    talk.get(f"{SLICES}?watch=1&timeoutSeconds=1&resourceVersion={version}")
    talk.get(f"{SLICES}?watch=1&timeoutSeconds=1")
    talk.get(f"{SLICES}?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"{SLICES}?{WATCH_LIST}&timeoutSeconds=1", {"Accept-Encoding": "gzip"})
    talk.get(f"{CLAIMS}?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"{CLASSES}?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"{TAINT_RULES}?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"{POOL_STATUS_REQUESTS}?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"/api/v1/nodes?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"/api/v1/pods?{WATCH_LIST}&timeoutSeconds=1")
    talk.get(f"{SLICES}?watch=1&timeoutSeconds=1&resourceVersion=999999999999")


def of_refusals(talk: Conversation) -> None:
    talk.get(f"{SLICES}?resourceVersion=abc")
    talk.get(f"{SLICES}?watch=1&resourceVersion=abc")
    talk.get(f"{SLICES}?watch=1&sendInitialEvents=true")
    talk.get(f"{SLICES}?fieldSelector=spec.foo%3Dx")
    talk.get(f"{SLICES}?continue=nonsense")
    talk.get("/apis/resource.k8s.io/v1/nope")
    talk.get("/apis/nope.k8s.io/v1/things")
    talk.get(SLICES, {"Accept": "text/html"})
    talk.send("PUT", f"{SLICES}/nope", resource_slice("nope"))
    talk.send("DELETE", f"{SLICES}/nope")
    for limit in (0, 1001):
        spec = {"driver": "A_", "poolName": "", "limit": limit}
        talk.post(
            POOL_STATUS_REQUESTS,
            {"kind": "ResourcePoolStatusRequest", "metadata": {"name": "x"}, "spec": spec},
        )


TALKS = (
    of_slices,
    of_claims,
    of_classes_and_rules,
    of_pool_status_requests,
    of_reviews,
    of_discovery,
    of_watches,
    of_refusals,
)


@pytest.mark.parametrize("talk", TALKS)
def test_simulated_server_answers_as_the_real_one(
    talk: Callable[[Conversation], None], real: Conversation, simulated: Conversation
) -> None:
    talk(real)
    talk(simulated)

    assert simulated.answers == real.answers
