from django.http.response import HttpResponseBase
from django.urls import URLPattern, get_resolver, reverse
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request
from rest_framework.response import Response

from api.views.base import CACHE_CONTROL, ReadView


def names() -> list[str]:
    """Lists, and the descriptions of the API: what has an address without an id."""
    patterns = get_resolver("api.urls").url_patterns
    return [
        str(each.name)
        for each in patterns
        if isinstance(each, URLPattern) and each.name != "index" and not each.pattern.converters
    ]


class Index(ReadView):
    """What there is, by name; the addresses of single things follow from the ids in the lists."""

    def get(self, request: Request) -> HttpResponseBase:
        self.parameters(request).check()
        links = {name: request.build_absolute_uri(reverse(f"api:{name}")) for name in names()}
        response = Response(links, headers={"Cache-Control": CACHE_CONTROL})
        patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
        return response
