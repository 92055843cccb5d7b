from typing import Any

from django.http import Http404, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.views import View
from rest_framework.request import Request

from api.views.base import ReadView


class Missing(ReadView):
    """Every other address: a problem instead of a page; without sign-in, since there is nothing to hide."""

    http_method_names = list(View.http_method_names)
    authentication_classes = ()
    permission_classes = ()
    schema = None

    @property
    def allowed_methods(self) -> list[str]:
        """Methods that the Allow header names, as those of an address that is there."""
        return ["GET", "HEAD", "OPTIONS"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Whatever the method and whatever the reader accepts: nothing is here."""
        del args, kwargs
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(
            request, force=True
        )

    def get(self, request: Request, rest: str = "") -> HttpResponseBase:
        """An address without its closing slash leads to the one with it."""
        del rest
        path = f"{request.path}/"
        if request.path.endswith("/") or not _is_there(path):
            raise Http404
        query = request.META.get("QUERY_STRING", "")
        return HttpResponseRedirect(f"{path}?{query}" if query else path, status=308)

    post = put = patch = delete = trace = get


def _is_there(path: str) -> bool:
    try:
        return resolve(path).url_name != "missing"
    except Resolver404:
        return False
