"""A small live list for tests of live.js: rows and revision are set by the test, answers are counted."""

from dataclasses import dataclass, field

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone

from dradash import urls as project_urls
from ui.htmx import fragment_etag, not_modified, render_page_or_fragment
from ui.lists import Column, list_view
from ui.snapshot import viewer_of


@dataclass
class Shown:
    rows: list[tuple[str, int]] = field(default_factory=list)
    revision: int = 0
    statuses: list[int] = field(default_factory=list)
    is_failing: bool = False


SHOWN = Shown()


@login_not_required
def live_list(request: HttpRequest) -> HttpResponse:
    if SHOWN.is_failing:
        return _counted(HttpResponse(status=503))
    etag = fragment_etag(request, viewer_of(request.user), SHOWN.revision)
    if answer := not_modified(request, etag=etag):
        return _counted(answer)
    word = request.GET.get("q", "")
    rows = [row for row in SHOWN.rows if word in row[0]]
    view = list_view(
        id="live-list",
        path=request.path,
        query=request.GET,
        columns=(Column("name", "Name", is_sortable=True),),
        noun="rows",
        shown=len(rows),
        count=len(rows),
    )
    context = {"list": view, "rows": rows, "now": timezone.now()}
    return _counted(
        render_page_or_fragment(
            request, page="live.html", fragment="_live-list.html", context=context, etag=etag
        )
    )


def _counted(response: HttpResponse) -> HttpResponse:
    SHOWN.statuses.append(response.status_code)
    return response


urlpatterns = [path("live/", live_list), *project_urls.urlpatterns]
