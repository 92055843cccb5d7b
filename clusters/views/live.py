"""Live pages: read from one snapshot, and answered with 304 while what they show is what the reader has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from clusters.views.frame import scope_of, snapshot_of
from ui.htmx import fragment_etag, not_modified, render_page_or_fragment
from ui.lists import with_query
from ui.moments import NotAMoment, moment_text
from ui.past import set_in_the_past

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.http import HttpRequest

    from clusters.views.frame import Scope
    from ui.frame import Entry

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Live:
    """What a view answers: all that its live part depends on, and how the values of its templates are made.

    `state` goes into the ETag and is computed for each request, so it has to be cheap. `context` is called only when the reader does not
    have this state yet.
    """

    state: tuple[object, ...]
    context: Callable[[], Mapping[str, Any]]


class LivePage(Generic[P]):
    """A view whose page and fragment are read, and rendered, inside of one snapshot."""

    def __init__(
        self,
        view: Callable[Concatenate[HttpRequest, Scope, P], Live],
        *,
        page: str,
        fragment: str,
        entry: Entry | None = None,
    ) -> None:
        self._view = view
        self.entry = entry
        self._page = page
        self._fragment = fragment
        update_wrapper(self, view)

    # It takes `at`.
    answers_for_moments = True

    def __call__(self, request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return require_GET(self._answer)(request, *args, **kwargs)

    def _answer(self, request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return self._read(request, *args, **kwargs)
        except NotAMoment as error:
            now_url = with_query(request.path, request.GET, at=None)
            page = render_to_string("400.html", {"reason": str(error), "now_url": now_url})
            return HttpResponse(page, status=400, headers={"Cache-Control": "no-store"})

    def _read(self, request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        with snapshot_of(request) as snapshot:
            live = self._view(request, scope_of(request), *args, **kwargs)
            etag = fragment_etag(request, snapshot.viewer, *live.state)
            unchanged = not_modified(request, etag=etag)
            if unchanged is not None:
                return unchanged
            response = render_page_or_fragment(
                request,
                page=self._page,
                fragment=self._fragment,
                context=live.context(),
                etag=etag,
            )
            if snapshot.at is not None:
                at = moment_text(snapshot.at)
                response.content = set_in_the_past(response.content.decode(), at=at).encode()
            return response


def live_page(
    *, page: str, fragment: str, entry: Entry | None = None
) -> Callable[[Callable[Concatenate[HttpRequest, Scope, P], Live]], LivePage[P]]:
    """The templates of a view: `page` for everyone, `fragment` for htmx; and its entry in the navigation."""

    def decorate(view: Callable[Concatenate[HttpRequest, Scope, P], Live]) -> LivePage[P]:
        return LivePage(view, page=page, fragment=fragment, entry=entry)

    return decorate
