from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request
from rest_framework.response import Response

from api.views.base import CACHE_CONTROL, ReadView

# Lists, and the descriptions of the API.
NAMES = (
    "clusters",
    "pools",
    "devices",
    "resource-slices",
    "pool-status-requests",
    "docs",
    "openapi",
    "openapi-yaml",
)


class Index(ReadView):
    """What there is, by name; the addresses of single things follow from the ids in the lists."""

    def get(self, request: Request) -> HttpResponseBase:
        self.parameters(request).check()
        links = {name: request.build_absolute_uri(reverse(f"api:{name}")) for name in NAMES}
        response = Response(links, headers={"Cache-Control": CACHE_CONTROL})
        patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
        return response
