import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.bodies import decode_envelope
from kube.digest import body_digest
from kube.kept import ItemsOfType, Kept, Members, kept_members, kept_of
from kube.kinds import NODE
from kube.objects import seen_object

NODE_AS_SERVED: dict[str, Any] = {
    "metadata": {
        "name": "node-1",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-11-29T19:44:12Z",
        "labels": {"zone": "a"},
        "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        "managedFields": [{"manager": "kubelet"}],
    },
    "spec": {
        "podCIDR": "10.0.0.0/24",
        "taints": [{"key": "example.com/gpu", "effect": "NoSchedule"}],
        "unschedulable": True,
    },
    "status": {
        "capacity": {"cpu": "64"},
        "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "conditions": [
            {"type": "DiskPressure", "status": "False", "lastHeartbeatTime": "t"},
            {
                "type": "Ready",
                "status": "True",
                "lastHeartbeatTime": "t",
                "lastTransitionTime": "s",
                "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
            },
        ],
        "nodeInfo": {"kubeletVersion": "v1.37.2", "machineID": "m", "swap": {"capacity": 1}},
        "images": [{"names": ["a"], "sizeBytes": 1}],
    },
}
NODE_AS_KEPT = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "node-1",
        "uid": "u",
        "creationTimestamp": "2026-11-29T19:44:12Z",
        "labels": {"zone": "a"},
    },
    "spec": {
        "taints": [{"key": "example.com/gpu", "effect": "NoSchedule"}],
        "unschedulable": True,
    },
    "status": {
        "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "lastTransitionTime": "s",
                "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
            }
        ],
        "nodeInfo": {"kubeletVersion": "v1.37.2"},
    },
}


def normalised(node: object) -> bytes:
    body = json.dumps(node, separators=(",", ":")).encode()
    seen = seen_object(
        body, decode_envelope(body), type_="modified", kind=NODE.name, api_version="v1"
    )
    kept = kept_of(seen, NODE.kept)
    assert kept is not None
    return body_digest(kept)[2]


def changed(**status: Any) -> dict[str, Any]:
    return {**NODE_AS_SERVED, "status": {**NODE_AS_SERVED["status"], **status}}


def test_node_is_kept_without_what_its_kubelet_keeps_writing() -> None:
    assert json.loads(normalised(NODE_AS_SERVED)) == NODE_AS_KEPT


@pytest.mark.parametrize(
    "other",
    [
        changed(images=[], capacity={"cpu": "32"}, unheardOf=1),
        changed(
            conditions=[
                {**condition, "lastHeartbeatTime": "later"}
                for condition in NODE_AS_SERVED["status"]["conditions"]
            ]
        ),
    ],
    ids=["images-and-figures", "heartbeat"],
)
def test_node_that_only_lives_on_is_the_same(other: object) -> None:
    assert normalised(other) == normalised(NODE_AS_SERVED)


@pytest.mark.parametrize(
    "other",
    [
        changed(conditions=[{"type": "Ready", "status": "False"}]),
        changed(nodeInfo={"kubeletVersion": "v1.38.0"}),
        {**NODE_AS_SERVED, "spec": {}},
    ],
    ids=["not-ready", "upgraded", "taint-gone"],
)
def test_node_that_differs_in_what_is_kept_is_another(other: object) -> None:
    assert normalised(other) != normalised(NODE_AS_SERVED)


@pytest.mark.parametrize(
    ("members", "value", "kept"),
    [
        ({"a": None}, {"a": [1], "b": 2}, {"a": [1]}),
        ({"a": {"b": None}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}),
        ({"a": {"b": None}}, {"a": None}, {"a": None}),
        ({"a": {"b": None}}, {"a": [1]}, {"a": [1]}),
        ({"a": ItemsOfType("x", {})}, {"a": [{"type": "x", "b": 1}, {"type": "y"}]}, {"a": [{}]}),
        ({"a": ItemsOfType("x", {})}, {"a": None}, {"a": None}),
        ({"a": ItemsOfType("x", {})}, {"a": [{"type": 5}]}, {"a": [{"type": 5}]}),
        ({"a": ItemsOfType("x", {})}, {"a": ["x"]}, {"a": ["x"]}),
        ({"a": ItemsOfType("x", {})}, {"a": [{"b": 1}]}, {"a": []}),
    ],
)
def test_kept_members_leaves_what_has_another_shape_as_it_is(
    members: Members, value: object, kept: object
) -> None:
    envelope = decode_envelope(json.dumps(value).encode())

    found = {name: json.loads(bytes(raw)) for name, raw in kept_members(envelope, members).items()}

    assert found == kept


CLAIMING = Kept(
    members={"spec": {"resourceClaims": None}},
    only_with=(("spec", "resourceClaims"), ("status", "extendedResourceClaimStatus")),
)


@pytest.mark.parametrize(
    ("pod", "kept"),
    [
        ({"spec": {"resourceClaims": [1], "a": 1}}, {"spec": {"resourceClaims": [1]}}),
        ({"spec": {}, "status": {"extendedResourceClaimStatus": {"a": 1}}}, {"spec": {}}),
        ({"spec": [1]}, {"spec": [1]}),
        ({"spec": {"resourceClaims": []}}, None),
        ({"spec": {"resourceClaims": None}, "status": {}}, None),
        ({"spec": {"a": 1}}, None),
        ({}, None),
    ],
    ids=["one-path", "the-other", "of-another-shape", "empty", "null", "absent", "nothing"],
)
def test_object_is_kept_only_with_one_of_the_members_that_its_kind_asks_for(
    pod: object, kept: object
) -> None:
    body = json.dumps(pod, separators=(",", ":")).encode()
    seen = seen_object(body, decode_envelope(body), type_="added", kind="Pod", api_version="v1")

    found = kept_of(seen, CLAIMING)

    assert (
        found and {name: json.loads(bytes(raw)) for name, raw in found.envelope.items()}
    ) == kept


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(metadata=JSON, spec=JSON, status=JSON, conditions=JSON)
def test_node_of_any_shape_is_normalised_once_and_for_all(
    metadata: object, spec: object, status: object, conditions: object
) -> None:
    node = {
        "metadata": metadata,
        "spec": spec,
        "status": {"conditions": conditions, "nodeInfo": status},
    }

    once = normalised(node)

    assert normalised(json.loads(once)) == once
