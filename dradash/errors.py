"""The page for what went wrong on our side; an absent Postgres is told apart from a bug."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import server_error as bug

RETRY_AFTER_SECONDS = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls this inside its `except`, also for errors in middleware, where no middleware of ours would see them."""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        return database_away(request)
    return bug(request)


def database_away(request: HttpRequest) -> HttpResponse:
    """503 with a page that needs neither the database nor the session."""
    del request
    try:
        page: str = render_to_string("503.html", {"retry_after_seconds": RETRY_AFTER_SECONDS})
    except TemplateDoesNotExist:
        page = _("DRA-Dash cannot reach its database. It tries again by itself.")
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)
