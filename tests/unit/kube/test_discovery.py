import json
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from kube.capabilities import Capabilities, ServerVersion
from kube.discovery import discover, parse_gates
from kube.failures import Unreachable
from tests.unit.kube.api_server import Reply, Request, reply_json
from tests.unit.kube.conftest import Serve
from tests.unit.kube.recordings import API, error_reply

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def cluster(
    folder: str,
    *,
    is_aggregated: bool = True,
    refused: frozenset[str] = frozenset(),
    metrics: Reply | None = None,
) -> Callable[[Request], Reply]:
    """A recorded API surface. `refused` are "verb plural" that our user may not."""

    def respond(request: Request) -> Reply:
        if request.path == REVIEWS:
            asked = json.loads(request.body)["spec"]["resourceAttributes"]
            is_allowed = f"{asked['verb']} {asked['resource']}" not in refused
            return reply_json({"status": {"allowed": is_allowed}}, status=201)
        if request.path == "/metrics":
            return metrics or Reply(200, {}, ((API / folder / "metrics.txt").read_bytes(),))
        name = request.path.strip("/").replace("/", "_")
        if name in {"api", "apis"} and is_aggregated and "as=" in request.headers["accept"]:
            return reply_json(
                json.loads((API / folder / f"aggregated_{name}.json").read_text())["body"]
            )
        path = API / folder / f"{name}.json"
        if not path.exists():
            return error_reply("1.37.2", "404-version-not-served")
        return reply_json(path.read_bytes())

    return respond


def versions(capabilities: Capabilities) -> dict[str, str]:
    return {kind: served.version for kind, served in capabilities.resources.items()}


PLAIN = {"ResourceSlice": "v1", "ResourceClaim": "v1", "DeviceClass": "v1", "Node": "v1"}
SERVED = {
    "1.34.4-default": PLAIN,
    "1.34.4-all-versions": {**PLAIN, "DeviceTaintRule": "v1alpha3"},
    "1.34-emulated-by-1.37.2": PLAIN,
    "1.35-emulated-by-1.37.2": PLAIN,
    "1.35-emulated-by-1.37.2-all-versions": {**PLAIN, "DeviceTaintRule": "v1alpha3"},
    "1.36.3-default": PLAIN,
    "1.36-emulated-by-1.37.2": PLAIN,
    "1.36.3-all-versions": {
        **PLAIN,
        "DeviceTaintRule": "v1beta2",
        "ResourcePoolStatusRequest": "v1alpha3",
    },
    "1.37.2-default": {**PLAIN, "DeviceTaintRule": "v1"},
    "1.37.2-all-versions": {
        **PLAIN,
        "DeviceTaintRule": "v1",
        "ResourcePoolStatusRequest": "v1alpha3",
    },
    "1.37.2-all-gates": {
        **PLAIN,
        "DeviceTaintRule": "v1",
        "ResourcePoolStatusRequest": "v1alpha3",
    },
}


@pytest.mark.parametrize("folder", SERVED)
def test_discover_recorded_cluster_gives_the_newest_versions_known(
    serve: Serve, folder: str
) -> None:
    _, connection = serve(cluster(folder))

    assert versions(discover(connection, previous=None)) == SERVED[folder]


def test_discover_group_document_is_never_asked(serve: Serve) -> None:
    server, connection = serve(cluster("1.37.2-all-versions"))

    discover(connection, previous=None)

    assert "/apis/resource.k8s.io" not in {request.path for request in server.requests}


def test_discover_without_aggregated_discovery_asks_each_version(serve: Serve) -> None:
    _, connection = serve(cluster("1.37.2-all-versions", is_aggregated=False))

    found = versions(discover(connection, previous=None))

    # The core group's own document was not recorded.
    assert found == {
        kind: version for kind, version in SERVED["1.37.2-all-versions"].items() if kind != "Node"
    }


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("1.37.2-default", ServerVersion(1, 37, "v1.37.2")),
        ("1.34.4-default", ServerVersion(1, 34, "v1.34.4")),
        ("1.35-emulated-by-1.37.2", ServerVersion(1, 37, "v1.37.2", "1.35")),
    ],
)
def test_discover_version_tells_emulation(
    serve: Serve, folder: str, expected: ServerVersion
) -> None:
    _, connection = serve(cluster(folder))

    found = discover(connection, previous=None).server_version

    assert (found.major, found.git_version[:5]) == (expected.major, expected.git_version[:5])
    assert found == expected


@pytest.mark.parametrize(
    ("written", "number"),
    [("37", 37), ("34+", 34), ("", None), (None, None), ("9" * 5000, None)],
)
def test_discover_version_takes_what_is_no_number_for_unknown(
    serve: Serve, written: Any, number: int | None
) -> None:
    recorded = cluster("1.37.2-default")

    def reply(request: Request) -> Reply:
        said = {"major": "1", "minor": written, "gitVersion": "v1"}
        return reply_json(said) if request.path == "/version" else recorded(request)

    _, connection = serve(reply)

    assert discover(connection, previous=None).server_version == ServerVersion(1, number, "v1")


def test_discover_rights_are_asked_per_kind_and_verb(serve: Serve) -> None:
    _, connection = serve(
        cluster(
            "1.37.2-all-versions",
            refused=frozenset({"watch nodes", "create resourcepoolstatusrequests"}),
        )
    )

    rights = discover(connection, previous=None).rights

    assert {right for right, allowed in rights.items() if allowed is False} == {
        ("Node", "watch"),
        ("ResourcePoolStatusRequest", "create"),
    }
    assert {right for right, allowed in rights.items() if allowed} == {
        *((kind, verb) for kind in SERVED["1.37.2-all-versions"] for verb in ("list", "watch")),
        ("ResourcePoolStatusRequest", "get"),
        ("ResourcePoolStatusRequest", "delete"),
    } - {("Node", "watch")}


@pytest.mark.parametrize(
    "answer",
    [
        error_reply("1.37.2", "403-list-slices"),
        error_reply("1.37.2", "429-too-many-requests"),
        reply_json({"code": 500, "message": "the authorizer is away"}, status=500),
        Reply(201, {}, (b"no JSON",)),
    ],
    ids=["forbidden", "throttled", "server error", "garbage"],
)
def test_discover_rights_that_cannot_be_asked_are_unknown(serve: Serve, answer: Reply) -> None:
    recorded = cluster("1.37.2-default")

    def respond(request: Request) -> Reply:
        return answer if request.path == REVIEWS else recorded(request)

    _, connection = serve(respond)

    assert set(discover(connection, previous=None).rights.values()) == {None}


def test_discover_gates_come_from_metrics(serve: Serve) -> None:
    _, connection = serve(cluster("1.37.2-all-versions"))

    gates = discover(connection, previous=None).gates

    assert gates is not None
    assert gates["kube-apiserver"]["DRAResourcePoolStatus"] is True
    assert gates["kube-apiserver"]["DRADerivedAttributes"] is False
    assert set(gates) == {"kube-apiserver"}


@pytest.mark.parametrize(
    "answer",
    [
        error_reply("1.37.2", "403-metrics"),
        error_reply("1.37.2", "429-too-many-requests"),
        reply_json({"code": 503, "message": "the server is busy"}, status=503),
        Reply(200, {}, (b"# HELP",), end="cut", framing="chunked"),
    ],
    ids=["forbidden", "throttled", "server error", "cut"],
)
def test_discover_metrics_that_cannot_be_read_leave_gates_unknown_and_nothing_else(
    serve: Serve, answer: Reply
) -> None:
    _, connection = serve(cluster("1.37.2-default", metrics=answer))

    found = discover(connection, previous=None)

    assert (found.gates, versions(found)) == (None, SERVED["1.37.2-default"])


def test_gates_reading_stops_after_the_family() -> None:
    lines = iter(
        [
            b"# HELP kubernetes_feature_enabled [BETA] what is on",
            b'kubernetes_feature_enabled{name="A",stage=""} 1',
            b'kubernetes_feature_enabled{name="B",stage="ALPHA"} 0',
            b"process_cpu_seconds_total 1.5",
            b"workqueue_depth 3",
        ]
    )

    assert parse_gates(lines) == {"A": True, "B": False}
    assert next(lines) == b"workqueue_depth 3"


def test_discover_one_bad_reading_lowers_nothing_and_the_second_does(serve: Serve) -> None:
    full, poor = cluster("1.37.2-all-versions"), cluster("1.36.3-default")
    current = {"answers": full}
    _, connection = serve(lambda request: current["answers"](request))

    first = discover(connection, previous=None)
    current["answers"] = poor
    second = discover(connection, previous=first)
    third = discover(connection, previous=second)

    assert versions(first) == SERVED["1.37.2-all-versions"]
    assert versions(second) == versions(first)
    assert versions(third) == SERVED["1.36.3-default"]


def test_discover_good_reading_between_two_bad_ones_starts_the_count_anew(serve: Serve) -> None:
    full, poor = cluster("1.37.2-all-versions"), cluster("1.36.3-default")
    current = {"answers": full}
    _, connection = serve(lambda request: current["answers"](request))

    def discover_next(previous: Capabilities, answers: Callable[[Request], Reply]) -> Capabilities:
        current["answers"] = answers
        return discover(connection, previous=previous)

    found = reduce(discover_next, (poor, full, poor), discover(connection, previous=None))

    assert versions(found) == SERVED["1.37.2-all-versions"]


def test_discover_revoked_right_counts_from_the_second_reading(serve: Serve) -> None:
    current = {"answers": cluster("1.37.2-default")}
    _, connection = serve(lambda request: current["answers"](request))

    first = discover(connection, previous=None)
    current["answers"] = cluster("1.37.2-default", refused=frozenset({"list nodes"}))
    second = discover(connection, previous=first)
    third = discover(connection, previous=second)

    assert [found.rights["Node", "list"] for found in (first, second, third)] == [
        True,
        True,
        False,
    ]


def test_discover_new_version_counts_at_once(serve: Serve) -> None:
    current = {"answers": cluster("1.36.3-all-versions")}
    _, connection = serve(lambda request: current["answers"](request))

    first = discover(connection, previous=None)
    current["answers"] = cluster("1.37.2-all-versions")
    second = discover(connection, previous=first)

    assert [versions(found)["DeviceTaintRule"] for found in (first, second)] == ["v1beta2", "v1"]


def test_discover_unanswered_raises(serve: Serve) -> None:
    server, connection = serve(cluster("1.37.2-default"))
    server.stop()

    with pytest.raises(Unreachable):
        discover(connection, previous=None)


@pytest.mark.parametrize("folder", ["1.37.2-all-versions", "1.34.4-default"])
def test_capabilities_survive_json(serve: Serve, folder: str) -> None:
    _, connection = serve(cluster(folder, refused=frozenset({"list nodes"})))
    found = discover(connection, previous=None)

    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_discover_null_lists_do_not_raise(serve: Serve) -> None:
    def respond(request: Request) -> Reply:
        return reply_json(
            {
                "kind": "APIGroupDiscoveryList",
                "items": None,
                "status": None,
                "major": "1",
                "minor": "34+",
            }
        )

    _, connection = serve(respond)

    found = discover(connection, previous=None)

    assert (found.resources, found.server_version.minor) == ({}, 34)


def test_served_path_knows_the_core_group(serve: Serve) -> None:
    _, connection = serve(cluster("1.37.2-default"))

    resources = discover(connection, previous=None).resources

    assert {kind: resource.path for kind, resource in resources.items()} == {
        "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices",
        "ResourceClaim": "/apis/resource.k8s.io/v1/resourceclaims",
        "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses",
        "DeviceTaintRule": "/apis/resource.k8s.io/v1/devicetaintrules",
        "Node": "/api/v1/nodes",
    }
