import pytest

from kube.failures import (
    Conflict,
    Expired,
    Forbidden,
    KubeFailure,
    Malformed,
    NotFound,
    Rejected,
    ServerError,
    Throttled,
    Unauthorized,
    Unreachable,
    parse_retry_after,
)
from tests.unit.kube import recordings
from tests.unit.kube.api_server import Reply, reply_json
from tests.unit.kube.conftest import Serve

RECORDED = {
    "401-bad-token": (Unauthorized, False, None),
    "403-anonymous-list": (Forbidden, False, None),
    "403-list-slices": (Forbidden, False, None),
    "403-watch-slices": (Forbidden, False, None),
    "403-get-slice": (Forbidden, False, None),
    "403-list-claims-in-namespace": (Forbidden, False, None),
    "403-list-claims-all-namespaces": (Forbidden, False, None),
    "403-create-pool-status-request": (Forbidden, False, None),
    "403-metrics": (Forbidden, False, None),
    "404-object": (NotFound, False, None),
    "404-resource-of-served-version": (NotFound, False, None),
    "404-version-not-served": (NotFound, False, None),
    "404-pool-status-request-not-served": (NotFound, False, None),
    "404-group-document": (NotFound, False, None),
    "404-group-not-served": (NotFound, False, None),
    "409-already-exists": (Conflict, False, None),
    "409-conflict": (Conflict, False, None),
    "409-delete-precondition": (Conflict, False, None),
    "405-method": (Rejected, False, None),
    "400-json": (Rejected, False, None),
    "415-media-type": (Rejected, False, None),
    "406-accept": (Rejected, False, None),
    "422-send-initial-events-alone": (Rejected, False, None),
    "422-pool-status-request-limit": (Rejected, False, None),
    "422-pool-status-request-immutable": (Rejected, False, None),
    "422-slice": (Rejected, False, None),
    "400-field-selector": (Rejected, False, None),
    "400-list-resource-version-not-a-number": (Expired, False, None),
    "500-watch-resource-version-not-a-number": (Expired, False, None),
    "504-resource-version-too-large": (ServerError, True, 1.0),
    "410-list-exact-compacted": (Expired, False, None),
    "410-continue-token-expired": (Expired, False, None),
    "429-too-many-requests": (Throttled, True, 1.0),
}


def failure_of(serve: Serve, reply: Reply) -> KubeFailure:
    _, connection = serve(reply)
    with pytest.raises(KubeFailure) as caught:
        connection.get_json("/apis")
    return caught.value


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (version, name)
        for version in ("1.34.4", "1.36.3", "1.37.2")
        for name in recordings.errors(version)
    ],
)
def test_failure_recorded_answer_is_told_apart(serve: Serve, version: str, name: str) -> None:
    failure = failure_of(serve, recordings.error_reply(version, name))

    assert (type(failure), failure.retriable, failure.retry_after_seconds) == RECORDED[name]
    assert failure.status == int(name[:3])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("403-anonymous-list", "saw no credentials"),
        ("403-list-slices", 'User "nobody" cannot list resource "resourceslices"'),
        ("401-bad-token", "Sign in again"),
        ("404-group-not-served", "404 page not found"),
        ("429-too-many-requests", "Too many requests"),
    ],
)
def test_failure_message_says_what_to_do_and_what_the_server_said(
    serve: Serve, name: str, words: str
) -> None:
    failure = failure_of(serve, recordings.error_reply("1.37.2", name))

    assert words in failure.message
    assert str(failure) == failure.message


def test_failure_too_large_resource_version_keeps_its_cause(serve: Serve) -> None:
    failure = failure_of(serve, recordings.error_reply("1.37.2", "504-resource-version-too-large"))

    assert (failure.reason, failure.causes) == ("Timeout", ("ResourceVersionTooLarge",))


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(302, {"location": "https://login.example.com/"}), Malformed),
        (Reply(502, {"content-type": "text/html"}, (b"<html>bad gateway",)), ServerError),
        (Reply(200, {}, (b"<html>please sign in</html>",)), Malformed),
        (Reply(200, {}, (b'{"kind":"Status"',)), Malformed),
        (Reply(500, {}, (b"\xff\xfe",)), ServerError),
        (Reply(503, {"retry-after": "soon"}), ServerError),
        (Reply(200, {}, (b'{"a":1',), end="cut"), Unreachable),
        (Reply(500, {}, (b"half",), end="cut"), Unreachable),
        (reply_json({"code": 404, "details": {"causes": None}}, status=404), NotFound),
        (reply_json({"message": ["odd"]}, status=403), Forbidden),
    ],
)
def test_failure_unusual_answer_is_told_apart(
    serve: Serve, reply: Reply, kind: type[KubeFailure]
) -> None:
    assert type(failure_of(serve, reply)) is kind


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("1", 1.0),
        ("30", 30.0),
        ("-5", 0.0),
        ("86400", 600.0),
        ("nan", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_header_is_read(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds
