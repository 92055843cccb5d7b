"""Pool status requests: make one, wait for its answer, take it away.

A request is answered at most once and never corrected; asking again means making another. No
answer can mean that nobody answers at all, or that one pool of the driver is not complete:
which of them is not told by the API.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from dra.catalogue import Statement
from kube.connect import Connection
from kube.failures import Conflict, Expired, KubeFailure, Malformed, NotFound
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST, ServedResource
from kube.objects import Seen, decode_metadata
from kube.watching import watch_window

HIGHEST_LIMIT: Final = 1000
_PAUSE_SECONDS: Final = 0.5  # before a broken watch is opened again


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """A pool status request as it stands."""

    name: str
    uid: str
    resource_version: str
    created_at: str | None  # as sent, RFC 3339
    labels: dict[str, str]
    spec: dict[str, Any]  # as the server kept it: fields behind a gate may be gone
    status: dict[str, Any] | None  # None = not answered (yet)
    body: bytes  # the whole object as sent

    @property
    def is_answered(self) -> bool:
        """Whether there is a status; a failed calculation is an answer too."""
        return self.status is not None

    @property
    def is_failed(self) -> bool:
        """Answered, but only to say that it could not be calculated."""
        return any(
            condition.get("type") == "Failed" and condition.get("status") == "True"
            for condition in self.conditions
        )

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """The controller writes one: Complete or Failed."""
        return _dicts((self.status or {}).get("conditions"))

    @property
    def pools(self) -> list[dict[str, Any]]:
        """The pools that were returned, by driver and name."""
        return _dicts((self.status or {}).get("pools"))

    @property
    def pool_count(self) -> int | None:
        """How many pools match, returned or not; None while unanswered."""
        count = (self.status or {}).get("poolCount")
        return count if isinstance(count, int) else None

    @property
    def is_truncated(self) -> bool:
        """More pools match than were returned."""
        return self.pool_count is not None and len(self.pools) < self.pool_count


def create(
    connection: Connection,
    served: ServedResource,
    *,
    name: str,
    labels: Mapping[str, str],
    driver: str,
    pool_name: str | None = None,
    limit: int = HIGHEST_LIMIT,
    default_partition_type_attribute: str | None = None,
) -> RequestAnswer:
    """Raises `Conflict` when the name is taken.

    Servers that do not know the partition attribute, or have it off, drop it silently: see
    `spec` of what comes back.
    """
    spec: dict[str, Any] = {"driver": driver, "limit": limit}
    if pool_name is not None:
        spec["poolName"] = pool_name
    if default_partition_type_attribute is not None:
        spec["defaultPartitionTypeAttribute"] = default_partition_type_attribute
    wanted = {
        "apiVersion": served.group_version,
        "kind": RESOURCE_POOL_STATUS_REQUEST.name,
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": spec,
    }
    return _answer(connection.read("POST", served.path, body=wanted))


def _pause(seconds: float) -> bool:
    time.sleep(seconds)
    return True


def wait(
    connection: Connection,
    served: ServedResource,
    name: str,
    *,
    resource_version: str,
    timeout_seconds: float,
    pause: Callable[[float], bool] = _pause,
) -> RequestAnswer:
    """The request as soon as it is answered, or as it stands when time is up.

    `resource_version` is that of the created request, so that no answer is missed. Raises
    `NotFound` when somebody deletes it meanwhile. `pause` waits before a broken watch is opened
    again, and says whether to: where it says no, what broke the watch is raised.
    """
    deadline = time.monotonic() + timeout_seconds
    reached = resource_version
    while (seconds := round(deadline - time.monotonic())) >= 1:
        try:
            for event in watch_window(
                connection,
                served,
                resource_version=reached,
                timeout_seconds=seconds,
                field_selector=f"metadata.name={name}",
            ):
                reached = event.resource_version
                if isinstance(event, Seen) and (event.status or event.type == "deleted"):
                    return _outcome(event)
        except Expired:
            break
        except KubeFailure as failure:
            if not failure.retriable:
                raise
            seconds_left = max(0.0, deadline - time.monotonic())
            if not pause(min(failure.retry_after_seconds or _PAUSE_SECONDS, seconds_left)):
                raise
    return get(connection, served, name)


def get(connection: Connection, served: ServedResource, name: str) -> RequestAnswer:
    """The request as it stands now."""
    return _answer(connection.read("GET", f"{served.path}/{name}"))


def delete(connection: Connection, served: ServedResource, name: str, *, uid: str) -> bool:
    """Whether it was there. One of the same name but another uid is somebody else's and stays."""
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
    try:
        connection.delete(f"{served.path}/{name}", body=options)
    except (NotFound, Conflict):
        return False
    return True


def list_ours(
    connection: Connection, served: ServedResource, *, label_selector: str
) -> list[RequestAnswer]:
    """What we left behind, or other instances still wait for."""
    body = connection.read("GET", served.path, params={"labelSelector": label_selector})
    try:
        listing = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        items = msgspec.json.decode(listing["items"], type=list[msgspec.Raw] | None)
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise Malformed(
            Statement.of("kind_list_unreadable", kinds=served.plural, error=str(error))
        ) from error
    return [_answer(bytes(item)) for item in items or []]


def _outcome(event: Seen) -> RequestAnswer:
    if event.type == "deleted":
        raise NotFound(Statement.of("status_request_deleted", name=event.name))
    return _answer(event.body)


def _answer(body: bytes) -> RequestAnswer:
    try:
        envelope = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        metadata = decode_metadata(envelope["metadata"])
        spec = msgspec.json.decode(envelope.get("spec", b"{}"))
        status = msgspec.json.decode(envelope.get("status", b"null"))
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise Malformed(Statement.of("status_answer_unreadable", error=str(error))) from error
    return RequestAnswer(
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        created_at=metadata.creation_timestamp,
        labels=metadata.labels or {},
        spec=spec if isinstance(spec, dict) else {},
        status=status if isinstance(status, dict) and status else None,
        body=body,
    )


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
