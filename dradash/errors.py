"""The page for what went wrong on our side; an absent Postgres is told apart from a bug."""

import sys

import psycopg
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.defaults import bad_request as refused
from django.views.defaults import server_error as bug

from api import problems as api

API_PATH = "/api/"
RETRY_AFTER_SECONDS = 5
# Django's names, and the driver's own where a query goes past Django.
UNREACHABLE = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls this inside its `except`, also for errors in middleware, where no middleware of ours would see them."""
    error = sys.exception()
    is_away = isinstance(error, UNREACHABLE)
    if request.path.startswith(API_PATH):
        return api.unavailable(request) if is_away else api.server_error(request)
    return database_away(request) if is_away else bug(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before any view: a host that is not ours, above all."""
    if request.path.startswith(API_PATH):
        return api.bad_request(request)
    return refused(request, exception)


def database_away(request: HttpRequest) -> HttpResponse:
    """503 with a page that needs neither the database nor the session."""
    del request
    page = render_to_string("503.html", {"retry_after_seconds": RETRY_AFTER_SECONDS})
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)
