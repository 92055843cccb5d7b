"""Whether a request wants a fragment or a page, and answers that a live part can ask for again and again."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags
from django.utils.translation import get_language

from ui.snapshot import Viewer


def wants_fragment(request: HttpRequest) -> bool:
    """True when htmx asked for a part of a page.

    False for boosted links and for history restores: both replace the whole page.
    """
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and headers.get("HX-Boosted") != "true"
        and headers.get("HX-History-Restore-Request") != "true"
    )


def fragment_etag(request: HttpRequest, viewer: Viewer, *parts: object) -> str:
    """An ETag for what this person sees at this address, given `parts` that change whenever the data does."""
    seen_by = (viewer, get_language(), request.get_full_path())
    digest = hashlib.sha256(repr((seen_by, parts)).encode()).hexdigest()
    return f'"{digest[:32]}"'


def not_modified(request: HttpRequest, *, etag: str) -> HttpResponse | None:
    """304 for a live part that already shows `etag`; None means: build the answer."""
    # Compression makes an ETag weak; the fragment is the same all the same.
    known = parse_etags(request.headers.get("If-None-Match", "").replace("W/", ""))
    if not wants_fragment(request) or etag not in known:
        return None
    return _with_headers(HttpResponseNotModified(), etag=etag)


def render_page_or_fragment(
    request: HttpRequest,
    *,
    page: str,
    fragment: str,
    context: Mapping[str, Any],
    etag: str | None = None,
) -> HttpResponse:
    """The template `fragment` for htmx, `page` for everyone else.

    `etag` belongs to the fragment alone; templates get it as `live_etag` for the first question of a live part, and
    `is_fragment` for what only a fragment brings along, out of band.
    """
    is_fragment = wants_fragment(request)
    template = fragment if is_fragment else page
    response = render(
        request, template, {**context, "live_etag": etag, "is_fragment": is_fragment}
    )
    return _with_headers(response, etag=etag if is_fragment else None)


def _with_headers(response: HttpResponse, *, etag: str | None) -> HttpResponse:
    patch_vary_headers(response, ("HX-Request",))
    patch_cache_control(response, private=True, no_cache=True)
    if etag:
        response.headers["ETag"] = etag
    return response
