"""The pages for what cannot be answered. None of them is kept by a browser or proxy, or names anything of a cluster by itself."""

import sys

import psycopg
from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views import csrf, defaults

from api import problems as api
from clusters.views.frame import moment_of
from ui.moments import moment_text
from ui.past import set_in_the_past

API_PATH = "/api/"
RETRY_AFTER_SECONDS = 5
# Django's names, and the driver's own where a query goes past Django.
UNREACHABLE = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)


class NotUTF8(BadRequest):
    """A query string whose bytes are no text."""


def server_error(request: HttpRequest) -> HttpResponse:
    """500 for a bug, 503 for an absent Postgres.

    Django calls this inside its `except`, also for errors in middleware, where no middleware of ours would see them.
    """
    is_away = isinstance(sys.exception(), UNREACHABLE)
    if request.path.startswith(API_PATH):
        return api.unavailable(request) if is_away else api.server_error(request)
    return database_away(request) if is_away else _not_kept(defaults.server_error(request))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, for what is refused before any view, without reading anything of the request but its path."""
    reason = _reason(exception)
    if request.path.startswith(API_PATH):
        return api.bad_request(request, reason)
    return _not_kept(HttpResponse(render_to_string("400.html", {"reason": reason}), status=400))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return _not_kept(defaults.permission_denied(request, exception))


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403, for a form without the token that our page gave it."""
    return _not_kept(csrf.csrf_failure(request, reason))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404; its links keep the moment that the address asks for."""
    response = _not_kept(defaults.page_not_found(request, exception))
    if at := moment_of(request):
        response.content = set_in_the_past(response.content.decode(), at=moment_text(at)).encode()
    return response


def database_away(request: HttpRequest) -> HttpResponse:
    """503 with a page that needs neither the database nor the session."""
    del request
    page = render_to_string("503.html", {"retry_after_seconds": RETRY_AFTER_SECONDS})
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return _not_kept(HttpResponse(page, status=503, headers=headers))


def _reason(exception: Exception) -> str:
    match exception:
        case TooManyFieldsSent():
            most = number_format(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, force_grouping=True)
            return _("More than %(most)s parameters. Ask for less at once.") % {"most": most}
        case RequestDataTooBig():
            return _("The request is too long. Send less at once.")
        case NotUTF8():
            return _("A parameter is no text. Write it in UTF-8.")
        case _:
            return _(
                "The request cannot be read; its Host header may name a host that is not served."
            )


def _not_kept(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = "no-store"
    return response
