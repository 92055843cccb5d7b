"""What every answer carries, and the two addresses that answer before anything that could fail."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dradash import errors, probes
from dradash.database_watch import watched_database

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# style-src and script-src have no 'unsafe-inline': no page holds an inline script or style.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Django has this built in from 6.0 on."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return middleware


def database_watch(get_response: GetResponse) -> GetResponse:
    """Bounds how long an answer waits for a Postgres that went silent; the body of a streamed one is not watched."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with watched_database():
            return get_response(request)

    return middleware


def readable_parameters(get_response: GetResponse) -> GetResponse:
    """Refuse a query string with too many parameters, or that is no text, here, where Django makes 400 of it.

    Whoever reads it first would fail otherwise: a view, or the page that says that something failed. Of bytes that are no text Django
    makes a character that no name has, so that a filter would match nothing.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        # As WSGI gives it: each character is a byte.
        query = str(request.META.get("QUERY_STRING", "")).encode("latin-1", "replace")
        try:
            unquote_to_bytes(query).decode()
        except UnicodeDecodeError:
            # Answered here: Django would log a traceback for each, which is nothing of ours.
            return errors.bad_request(request, errors.NotUTF8())
        request.GET  # noqa: B018 -- reading is what is refused
        return get_response(request)

    return middleware


def probe(get_response: GetResponse) -> GetResponse:
    """Answer the probes first: before hosts, sessions and redirects, none of which a kubelet has to satisfy."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        match request.path_info:
            case "/healthz":
                return probes.healthz()
            case "/readyz":
                return probes.readyz()
            case _:
                return get_response(request)

    return middleware
