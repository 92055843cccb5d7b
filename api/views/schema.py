import functools
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import msgspec
import yaml
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.negotiation import Negotiation
from api.problems import on_exception
from api.reference import reference
from api.renderers import OpenAPIJSON, OpenAPIYAML
from api.views.authentication import BearerAuthentication
from api.views.base import CACHE_CONTROL, ReadView


@functools.cache
def openapi() -> dict[str, Any]:
    """The whole document; the same for everybody, and for as long as the process lives."""
    generator: Any = SchemaGenerator
    # It is kept, so it must not be in the language of whoever asks first.
    with translation.override("en"):
        document: dict[str, Any] = generator().get_schema(request=None, public=True)
    return document


@functools.cache
def _as_json() -> bytes:
    return msgspec.json.format(msgspec.json.encode(openapi()), indent=2)


@functools.cache
def _as_yaml() -> bytes:
    # By way of JSON, so that nothing is an alias of something else.
    plain = msgspec.json.decode(_as_json())
    text: str = yaml.dump(plain, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    return text.encode()


class ByAddress(Negotiation):
    """The address says in which form the document comes."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        del request, format_suffix
        only = next(iter(renderers))
        return only, only.media_type


class OpenAPIDocument(ReadView):
    """The description of this API, in the form that its address ends in."""

    described: ClassVar[Sequence[OpenApiParameter]] = ()
    renderer_classes: Sequence[type[BaseRenderer]] = (OpenAPIJSON,)
    content_negotiation_class = ByAddress

    def get(self, request: Request) -> HttpResponseBase:
        self.parameters(request).check()
        media_type = request.accepted_renderer.media_type
        body = _as_yaml() if media_type == OpenAPIYAML.media_type else _as_json()
        headers = {"Cache-Control": CACHE_CONTROL}
        response = HttpResponse(body, content_type=media_type, headers=headers)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response


@login_not_required
def docs(request: HttpRequest) -> HttpResponse:
    """The same for people, made on the server: no script, and nothing from elsewhere.

    Signed in as the rest of the API is, by a token too; who is not gets the page to sign in.
    """
    bearer, asked = BearerAuthentication(), Request(request)
    try:
        if found := bearer.authenticate(asked):
            request.user, _token = found
    except APIException as error:
        error.auth_header = bearer.authenticate_header(asked)  # type: ignore[attr-defined]  # what views of REST framework set
        return on_exception(error, {"request": request})
    except (OperationalError, InterfaceError) as error:
        return on_exception(error, {"request": request})
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    address = request.build_absolute_uri(reverse("api:pools"))
    call = f'curl -H "Authorization: Bearer $TOKEN" {address}'
    context = {"reference": reference(openapi()), "example_call": call}
    return render(request, "api/docs.html", context)
