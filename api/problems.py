"""Everything that goes wrong, as RFC 9457 problem details. Says what to do about it, and nothing of our insides."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
import psycopg
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, NotAcceptable, Throttled

from dra.shapes import ParameterError, ProblemDetails

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5


class InvalidParameters(Exception):
    """A request that asks for what there is not; `allowed` names the parameters when one was unknown."""

    def __init__(
        self, problems: Sequence[ParameterError], *, allowed: Sequence[str] | None = None
    ) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)
        self.allowed = allowed


def problem(
    request: HttpRequest,
    status: int,
    *,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> HttpResponse:
    """One problem; `members` are those of its shape that not all have."""
    body = ProblemDetails(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        instance=request.path,
        **members,
    )
    return HttpResponse(
        msgspec.json.encode(body),
        status=status,
        content_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def on_exception(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The exception handler of every API view."""
    request: HttpRequest = context["request"]
    match error:
        case InvalidParameters():
            return _invalid(request, error)
        case APIException():
            return _known(request, error)
        case Http404():
            return not_found(request)
        case PermissionDenied():
            return problem(
                request, 403, code="permission_denied", detail=_("You may not do this.")
            )
        case OperationalError() | InterfaceError():
            return unavailable(request, error)
        case _:
            logger.error("error in %s", request.path, exc_info=error)
            return server_error(request)


def not_found(request: HttpRequest) -> HttpResponse:
    """404."""
    return problem(request, 404, code="not_found", detail=_("There is nothing at this address."))


def bad_request(request: HttpRequest, reason: str) -> HttpResponse:
    """400, for a request that no view has seen."""
    return problem(request, 400, code="bad_request", detail=reason)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, for a bug of ours."""
    detail = _("Something went wrong on our side. It is in the log of the server.")
    return problem(request, 500, code="server_error", detail=detail)


def unavailable(request: HttpRequest, error: Exception | None = None) -> HttpResponse:
    """503: Postgres does not answer, or not in time."""
    is_slow = isinstance(error and error.__cause__, psycopg.errors.QueryCanceled)
    away = _("The database does not answer. Try again in a few seconds.")
    slow = _("The database took too long. Ask for less, or try again later.")
    return problem(
        request,
        503,
        code="database_slow" if is_slow else "database_away",
        detail=slow if is_slow else away,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def _invalid(request: HttpRequest, error: InvalidParameters) -> HttpResponse:
    members: dict[str, Any] = {"errors": error.problems}
    if error.allowed is not None:
        members["allowed"] = list(error.allowed)
    detail = " ".join(f"{each.parameter}: {each.message}" for each in error.problems)
    return problem(request, 400, code="invalid_parameters", detail=detail, **members)


def _known(request: HttpRequest, error: APIException) -> HttpResponse:
    headers = {}
    if auth := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth
    if isinstance(error, Throttled):
        headers["Retry-After"] = str(getattr(error, "wait", None) or 1)
    members = {}
    if isinstance(error, NotAcceptable) and error.available_renderers:
        members["available"] = [each.media_type for each in error.available_renderers]
    return problem(
        request,
        error.status_code,
        code=str(error.get_codes()),
        detail=str(error.detail),
        headers=headers,
        **members,
    )
