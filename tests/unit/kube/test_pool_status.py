import json
from typing import Any

import pytest

from kube.failures import Conflict, Forbidden, NotFound, Rejected, ServerError
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, served
from kube.pool_status import create, delete, list_ours, wait
from tests.unit.kube.api_server import Reply, Request, reply_json, reply_stream
from tests.unit.kube.conftest import Serve
from tests.unit.kube.recordings import error_reply

REQUESTS = served(RESOURCE_POOL_STATUS_REQUEST, "v1alpha3")
PATH = "/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests"
COMPLETE = {"type": "Complete", "status": "True", "reason": "CalculationComplete"}
STATUS = {"poolCount": 2, "pools": [{"poolName": "a"}], "conditions": [COMPLETE]}


def request_object(*, resource_version: str = "10", **more: object) -> dict[str, Any]:
    return {
        "kind": "ResourcePoolStatusRequest",
        "apiVersion": "resource.k8s.io/v1alpha3",
        "metadata": {
            "name": "ours",
            "uid": "u-1",
            "resourceVersion": resource_version,
            "creationTimestamp": "2026-11-29T18:39:35Z",
            "labels": {"app": "dradash"},
        },
        "spec": {"driver": "d.example.com", "limit": 1000},
        **more,
    }


def event(type_: str, content: dict[str, Any]) -> bytes:
    return json.dumps({"type": type_, "object": content}).encode() + b"\n"


def test_create_asks_for_what_was_wanted_and_tells_what_was_kept(serve: Serve) -> None:
    server, connection = serve(reply_json(request_object(), status=201))

    made = create(
        connection,
        REQUESTS,
        name="ours",
        labels={"app": "dradash"},
        driver="d.example.com",
        pool_name="node-1/gpu",
        default_partition_type_attribute="d.example.com/profile",
    )

    assert [(request.method, request.path) for request in server.requests] == [("POST", PATH)]
    assert json.loads(server.requests[0].body) == {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": "ours", "labels": {"app": "dradash"}},
        "spec": {
            "driver": "d.example.com",
            "limit": 1000,
            "poolName": "node-1/gpu",
            "defaultPartitionTypeAttribute": "d.example.com/profile",
        },
    }
    assert (made.name, made.uid, made.resource_version, made.created_at) == (
        "ours",
        "u-1",
        "10",
        "2026-11-29T18:39:35Z",
    )
    # The attribute was dropped by the server, silently.
    assert made.spec == {"driver": "d.example.com", "limit": 1000}
    assert (made.status, made.is_answered, made.pool_count, made.is_truncated) == (
        None,
        False,
        None,
        False,
    )


@pytest.mark.parametrize(
    ("recorded", "failure"),
    [
        ("409-already-exists", Conflict),
        ("403-create-pool-status-request", Forbidden),
        ("422-pool-status-request-limit", Rejected),
        ("404-version-not-served", NotFound),
    ],
)
def test_create_refusals_are_told_apart(
    serve: Serve, recorded: str, failure: type[Exception]
) -> None:
    _, connection = serve(error_reply("1.37.2", recorded))

    with pytest.raises(failure):
        create(connection, REQUESTS, name="ours", labels={}, driver="d")


def test_wait_answer_in_the_watch_is_returned_at_once(serve: Serve) -> None:
    answered = request_object(resource_version="12", status=STATUS)
    server, connection = serve(
        reply_stream(
            event("MODIFIED", request_object(resource_version="11")),
            event("MODIFIED", answered),
            end="keep",
        )
    )

    answer = wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=20)

    assert answer.status == STATUS
    assert (answer.is_answered, answer.is_failed, answer.is_truncated) == (True, False, True)
    assert json.loads(answer.body) == answered
    assert [request.query for request in server.requests] == [
        {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": "20",
            "resourceVersion": "10",
            "fieldSelector": "metadata.name=ours",
        }
    ]


def test_wait_failed_calculation_is_an_answer_too(serve: Serve) -> None:
    failed = {"poolCount": 0, "conditions": [{"type": "Failed", "status": "True"}]}
    _, connection = serve(reply_stream(event("MODIFIED", request_object(status=failed))))

    answer = wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=5)

    assert (answer.is_answered, answer.is_failed, answer.pool_count) == (True, True, 0)


def test_wait_unanswered_in_time_returns_the_request_as_it_stands(serve: Serve) -> None:
    def respond(request: Request) -> Reply:
        if "watch" in request.query:
            return reply_stream(1.0)
        return reply_json(request_object(resource_version="10"))

    server, connection = serve(respond)

    answer = wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=1)

    assert (answer.is_answered, answer.uid) == (False, "u-1")
    assert server.requests[-1].path == f"{PATH}/ours"


def test_wait_broken_watch_goes_on_where_it_was(serve: Serve) -> None:
    replies = [
        reply_stream(event("MODIFIED", request_object(resource_version="11")), end="cut"),
        Reply(503, {}, (b"restarting",)),
        reply_stream(event("MODIFIED", request_object(resource_version="12", status=STATUS))),
    ]
    server, connection = serve(lambda _: replies[len(server.requests) - 1])

    answer = wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=20)

    assert answer.is_answered
    assert [request.query["resourceVersion"] for request in server.requests] == ["10", "11", "11"]


def test_wait_broken_watch_is_raised_where_nobody_waits_any_more(serve: Serve) -> None:
    server, connection = serve(Reply(503, {}, (b"restarting",)))

    with pytest.raises(ServerError):
        wait(
            connection,
            REQUESTS,
            "ours",
            resource_version="10",
            timeout_seconds=20,
            pause=lambda _seconds: False,
        )

    assert len(server.requests) == 1


def test_wait_expired_watch_asks_for_the_object(serve: Serve) -> None:
    def respond(request: Request) -> Reply:
        if "watch" in request.query:
            return reply_stream(b'{"type":"ERROR","object":{"code":410,"message":"too old"}}\n')
        return reply_json(request_object(status=STATUS))

    _, connection = serve(respond)

    answer = wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=20)

    assert answer.is_answered


def test_wait_deleted_meanwhile_is_not_found(serve: Serve) -> None:
    _, connection = serve(reply_stream(event("DELETED", request_object())))

    with pytest.raises(NotFound, match="deleted before its answer"):
        wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=5)


def test_wait_revoked_right_is_passed_on(serve: Serve) -> None:
    _, connection = serve(error_reply("1.37.2", "403-watch-slices"))

    with pytest.raises(Forbidden):
        wait(connection, REQUESTS, "ours", resource_version="10", timeout_seconds=5)


def test_delete_names_the_uid_it_means(serve: Serve) -> None:
    server, connection = serve(reply_json({"kind": "Status", "status": "Success"}))

    assert delete(connection, REQUESTS, "ours", uid="u-1") is True
    assert (server.requests[0].method, server.requests[0].path) == ("DELETE", f"{PATH}/ours")
    assert json.loads(server.requests[0].body)["preconditions"] == {"uid": "u-1"}


@pytest.mark.parametrize("recorded", ["404-object", "409-delete-precondition"])
def test_delete_gone_or_another_one_is_no_failure(serve: Serve, recorded: str) -> None:
    _, connection = serve(error_reply("1.37.2", recorded))

    assert delete(connection, REQUESTS, "ours", uid="u-1") is False


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([request_object(), request_object(status=STATUS)], [False, True]),
        ([], []),
        (None, []),
    ],
)
def test_list_ours_gives_requests_by_label(
    serve: Serve, items: list[dict[str, Any]] | None, expected: list[bool]
) -> None:
    server, connection = serve(reply_json({"metadata": {}, "items": items}))

    found = list_ours(connection, REQUESTS, label_selector="app=dradash")

    assert [answer.is_answered for answer in found] == expected
    assert server.requests[0].query == {"labelSelector": "app=dradash"}
