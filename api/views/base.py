"""What all API views do: sign-in, unknown parameters, problems, ETags."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from drf_spectacular.utils import OpenApiParameter
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.versioning import NamespaceVersioning
from rest_framework.views import APIView

from api.coverage import Coverage, etag, has_etag
from api.negotiation import Negotiation
from api.openapi import Operation
from api.parameters import Parameters
from api.problems import on_exception
from api.query_parameters import MOMENT, format_parameter
from api.renderers import JSONText
from api.views.authentication import BearerAuthentication, QuietSession
from ui.moments import moment_text
from ui.snapshot import Snapshot, open_snapshot, viewer_of

# An answer belongs to whoever signed in, and is asked for anew each time, which a 304 makes cheap.
CACHE_CONTROL = "private, no-cache"


class ReadView(APIView):
    """GET, HEAD and OPTIONS for those who are signed in, with the query parameters of `described` and no other."""

    http_method_names = ["get", "head", "options"]
    authentication_classes: Sequence[type[BaseAuthentication]] = (
        BearerAuthentication,
        QuietSession,
    )
    permission_classes: Sequence[type[BasePermission]] = (IsAuthenticated,)
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONText,)
    content_negotiation_class = Negotiation
    versioning_class = NamespaceVersioning
    schema: Operation | None = Operation()

    # For the schema. Without an `operation_id` a view is no part of it.
    operation_id: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    tag: ClassVar[str] = ""
    # Shape by media type.
    answers: ClassVar[Mapping[str, Any]] = {}

    # Subjects whose revisions are in the ETag, beside that of clusters.
    subjects: tuple[str, ...] = ()

    @property
    def described(self) -> Sequence[OpenApiParameter]:
        """Every query parameter that the OpenAPI document names."""
        formats = [each.format for each in self.renderer_classes if each.format]
        return (format_parameter(formats),)

    @property
    def allowed(self) -> tuple[str, ...]:
        """Every query parameter there is."""
        return tuple(each.name for each in self.described)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A method that is not there is told before anything else is asked for."""
        if str(request.method).lower() not in self.http_method_names:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)

    def get_exception_handler(self) -> Any:
        return on_exception

    def options(  # type: ignore[override]  # its types know the Response of REST framework only
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Which methods there are; REST framework adds the Allow header."""
        del request, args, kwargs
        return HttpResponse(status=204)

    def parameters(self, request: Request) -> Parameters:
        return Parameters(request.query_params, allowed=self.allowed)

    def answer(
        self, request: Request, body: Any, *, coverage: Coverage, also: Sequence[Any] = ()
    ) -> HttpResponseBase:
        """A shape or plain values, to be encoded as it was negotiated."""
        return self.tagged(request, Response(body), coverage=coverage, also=also)

    def unchanged(
        self, request: Request, *, coverage: Coverage, also: Sequence[Any] = ()
    ) -> HttpResponseBase | None:
        """304 when the reader has what would be answered; asked before rows are read."""
        if not has_etag(request, etag(request, coverage, subjects=self.subjects, also=also)):
            return None
        return self.tagged(request, HttpResponse(status=304), coverage=coverage, also=also)

    def tagged(
        self,
        request: Request,
        response: HttpResponseBase,
        *,
        coverage: Coverage,
        also: Sequence[Any] = (),
    ) -> HttpResponseBase:
        response["ETag"] = etag(request, coverage, subjects=self.subjects, also=also)
        response["Cache-Control"] = CACHE_CONTROL
        patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
        response["Dradash-Stale"] = "true" if coverage.is_stale() else "false"
        if coverage.snapshot.at is not None:
            response["Dradash-At"] = moment_text(coverage.snapshot.at)
        observed_at = coverage.observed_at()
        if observed_at is not None:
            response["Dradash-Observed-At"] = observed_at.isoformat().replace("+00:00", "Z")
        return response


class SnapshotView(ReadView):
    """GET of something that is read from the database: from one snapshot, which `read` gets.

    Who asks is found out before, since that may write. A body that is made while it is sent keeps the snapshot until its end.
    """

    # It takes `at`.
    answers_for_moments = True

    @property
    def described(self) -> Sequence[OpenApiParameter]:
        return (MOMENT, *super().described)

    def read(self, request: Request, snapshot: Snapshot, **names: Any) -> HttpResponseBase:
        raise NotImplementedError

    def get(self, request: Request, **names: Any) -> HttpResponseBase:
        now = timezone.now()
        parameters = self.parameters(request)
        at = parameters.at(now=now)
        parameters.check()
        with ExitStack() as stack:
            opened = open_snapshot(viewer_of(request.user), now=now, at=at)
            response = self.read(request, stack.enter_context(opened), **names)
            if isinstance(response, StreamingHttpResponse) and request.method != "HEAD":
                chunks: Any = response.streaming_content
                response.streaming_content = _Sent(chunks, stack.pop_all())
            return response


class _Sent(Iterator[bytes]):
    """A body whose snapshot ends with it, or when the reader goes away, which the server tells by `close`."""

    def __init__(self, chunks: Iterator[bytes], snapshot: ExitStack) -> None:
        self._chunks = chunks
        self._snapshot = snapshot

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._snapshot.close()
