"""Which representation an answer has: by `format` in the URL, else by the Accept header with its weights."""

from collections.abc import Iterable, Sequence

from django.http.request import MediaType
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.problems import InvalidParameters
from dra.shapes import ParameterError


class Negotiation(BaseContentNegotiation):
    """REST framework's own leaves weights aside (`text/csv;q=0.1`)."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        del request
        return next(iter(parsers), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        del format_suffix
        by_type = {each.media_type: each for each in renderers}
        wanted = request.query_params.get("format")
        if wanted is not None:
            return self._by_format(wanted, list(by_type.values()))
        refused = _refused(request.headers.get("Accept", ""))
        media_type = request.get_preferred_type([each for each in by_type if each not in refused])
        if media_type is None:
            raise NotAcceptable(available_renderers=list(by_type.values()))
        return by_type[media_type], media_type

    def _by_format(
        self, wanted: str, renderers: Sequence[BaseRenderer]
    ) -> tuple[BaseRenderer, str]:
        for each in renderers:
            if each.format == wanted:
                return each, each.media_type
        known = ", ".join(each.format for each in renderers)
        message = _("“%(value)s” is not one of %(known)s.") % {"value": wanted, "known": known}
        raise InvalidParameters([ParameterError(parameter="format", message=message)])


def _refused(accept: str) -> set[str]:
    """Media types with a weight of 0, which Django passes over as if they were not named."""
    accepted = [MediaType(each) for each in accept.split(",") if each.strip()]
    return {f"{each.main_type}/{each.sub_type}" for each in accepted if each.quality == 0}
