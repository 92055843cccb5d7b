"""Refusals, with the bodies a real API server sends."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from simulator.kinds import Resource


class Cause(NamedTuple):
    """One thing that is wrong with an object. `message` begins with the reason in words, as the API has it."""

    reason: str
    field: str
    message: str


class Refusal(Exception):
    """An answer other than success. `body` is a Status, or plain text where the server sends that."""

    def __init__(
        self,
        code: int,
        body: dict[str, Any] | str,
        *,
        headers: dict[str, str] | None = None,
        delay_seconds: float = 0.0,
    ) -> None:
        super().__init__(str(body))
        self.code = code
        self.body = body
        self.headers = headers or {}
        self.delay_seconds = delay_seconds


def status(
    code: int,
    message: str,
    *,
    reason: str | None = None,
    details: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A `Status` of kind Failure, its fields in the order of the API."""
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata or {},
        "status": "Failure",
        "message": message,
    }
    if reason is not None:
        body["reason"] = reason
    if details is not None:
        body["details"] = details
    body["code"] = code
    return body


def success(resource: Resource, *, name: str, uid: str) -> dict[str, Any]:
    """What a delete answers with."""
    details = {"name": name, "group": resource.group, "kind": resource.plural, "uid": uid}
    if not resource.group:
        del details["group"]
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def _details(resource: Resource, name: str | None, kind: str | None = None) -> dict[str, Any]:
    details: dict[str, Any] = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    details["kind"] = kind or resource.plural
    return details


def unauthorized() -> Refusal:
    return Refusal(401, status(401, "Unauthorized", reason="Unauthorized"))


def forbidden(
    user: str, verb: str, resource: Resource, *, name: str | None, namespace: str | None
) -> Refusal:
    scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    what = f'{resource.full_name} "{name}"' if name else resource.full_name
    message = (
        f'{what} is forbidden: User "{user}" cannot {verb} resource "{resource.plural}" '
        f'in API group "{resource.group}" {scope}'
    )
    details = _details(resource, name)
    return Refusal(403, status(403, message, reason="Forbidden", details=details))


def forbidden_path(user: str, verb: str, path: str) -> Refusal:
    message = f'forbidden: User "{user}" cannot {verb} path "{path}"'
    return Refusal(403, status(403, message, reason="Forbidden", details={}))


def not_found(resource: Resource, name: str) -> Refusal:
    message = f'{resource.full_name} "{name}" not found'
    details = _details(resource, name)
    return Refusal(404, status(404, message, reason="NotFound", details=details))


def not_served() -> Refusal:
    """For an unknown version or resource of a group that is served."""
    message = "the server could not find the requested resource"
    return Refusal(404, status(404, message, reason="NotFound", details={}))


def unknown_group() -> Refusal:
    return Refusal(404, "404 page not found\n")


def method_not_allowed() -> Refusal:
    message = "the server does not allow this method on the requested resource"
    return Refusal(405, status(405, message, reason="MethodNotAllowed", details={}))


def not_acceptable() -> Refusal:
    message = (
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
        "application/vnd.kubernetes.protobuf;stream=watch"
    )
    return Refusal(406, status(406, message, reason="NotAcceptable", details={}))


def already_exists(resource: Resource, name: str) -> Refusal:
    message = f'{resource.full_name} "{name}" already exists'
    details = _details(resource, name)
    return Refusal(409, status(409, message, reason="AlreadyExists", details=details))


def conflict(resource: Resource, name: str) -> Refusal:
    message = (
        f'Operation cannot be fulfilled on {resource.full_name} "{name}": the object has been '
        "modified; please apply your changes to the latest version and try again"
    )
    details = _details(resource, name)
    return Refusal(409, status(409, message, reason="Conflict", details=details))


def wrong_uid(resource: Resource, name: str, *, wanted: str, actual: str) -> Refusal:
    message = (
        f'Operation cannot be fulfilled on {resource.full_kind} "{name}": the UID in the '
        f"precondition ({wanted}) does not match the UID in record ({actual}). The object might "
        "have been deleted and then recreated"
    )
    details = _details(resource, name, resource.kind)
    return Refusal(409, status(409, message, reason="Conflict", details=details))


def bad_request(message: str) -> Refusal:
    return Refusal(400, status(400, message, reason="BadRequest"))


def unsupported_media_type() -> Refusal:
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )
    return Refusal(415, status(415, message, reason="UnsupportedMediaType"))


def unsupported_field_label(resource: Resource, api_version: str, label: str) -> Refusal:
    return bad_request(
        f"field label not supported for {api_version}, Kind={resource.kind}: {label}"
    )


def invalid(resource: Resource, name: str, causes: Sequence[Cause]) -> Refusal:
    details = _details(resource, name, resource.kind)
    return Refusal(422, _invalid(f'{resource.full_kind} "{name}"', details, causes))


def must_name_version(resource: Resource, name: str) -> Refusal:
    """For an update without resourceVersion."""
    text = "Invalid value: 0: must be specified for an update"
    cause = Cause("FieldValueInvalid", "metadata.resourceVersion", text)
    details = _details(resource, name)
    return Refusal(422, _invalid(f'{resource.full_name} "{name}"', details, [cause]))


def invalid_list_options(field: str, message: str) -> Refusal:
    cause = Cause("FieldValueForbidden", field, f"Forbidden: {message}")
    details = {"group": "meta.k8s.io", "kind": "ListOptions"}
    return Refusal(422, _invalid('ListOptions.meta.k8s.io ""', details, [cause]))


def _invalid(subject: str, details: dict[str, Any], causes: Sequence[Cause]) -> dict[str, Any]:
    said = [f"{cause.field}: {cause.message}" for cause in causes]
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    rows = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    return status(
        422,
        f"{subject} is invalid: {text}",
        reason="Invalid",
        details={**details, "causes": rows},
    )


def _not_a_number(value: str) -> str:
    return (
        f'resourceVersion: Invalid value: "{value}": strconv.ParseUint: parsing "{value}": '
        "invalid syntax"
    )


def list_version_not_a_number(value: str) -> Refusal:
    return bad_request(f"invalid resource version: {_not_a_number(value)}")


def watch_version_not_a_number(value: str) -> Refusal:
    return Refusal(500, status(500, _not_a_number(value)))


def version_too_large(wanted: int, current: int, *, delay_seconds: float) -> Refusal:
    """A list from the future is answered only after the server has waited for it."""
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause], "retryAfterSeconds": 1}
    return Refusal(
        504,
        status(504, message, reason="Timeout", details=details),
        headers={"Retry-After": "1"},
        delay_seconds=delay_seconds,
    )


def list_version_expired() -> Refusal:
    message = "The resourceVersion for the provided list is too old."
    return Refusal(410, status(410, message, reason="Expired"))


def continue_expired(token: str) -> Refusal:
    """The token in the answer continues at the same place, without consistency."""
    message = (
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted "
        "between the time the first chunk was returned and now may show up in the list."
    )
    return Refusal(410, status(410, message, reason="Expired", metadata={"continue": token}))


def watch_version_expired(wanted: int, oldest: int) -> dict[str, Any]:
    """The Status inside an ERROR event; the HTTP answer itself is 200."""
    return status(410, f"too old resource version: {wanted} ({oldest})", reason="Expired")


def too_many_requests() -> Refusal:
    text = "Too many requests, please try again later.\n"
    return Refusal(429, text, headers={"Retry-After": "1"})


def internal_error() -> Refusal:
    message = "Internal error occurred: the simulator was told to fail"
    cause = {"message": "the simulator was told to fail"}
    return Refusal(500, status(500, message, reason="InternalError", details={"causes": [cause]}))


def unavailable(code: int) -> Refusal:
    message = "the server is currently unable to handle the request"
    return Refusal(code, status(code, message, reason="ServiceUnavailable", details={}))
