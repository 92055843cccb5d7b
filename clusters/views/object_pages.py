"""The pages of one kind that is shown by its declaration: its list, and one of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model
from django.http import Http404
from django.urls import URLPattern, path, resolve, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from clusters.views.detail_page import DetailContent, DetailPage, one_of_a_list
from clusters.views.list_page import Asked, Content, list_page
from clusters.views.live import Live, LivePage

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    from clusters.views.frame import Scope
    from ui.frame import Entry
    from ui.shown_kind import ShownKind

M = TypeVar("M", bound=Model)
W = TypeVar("W")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPages(Generic[M, W]):
    """What an app says of a kind's objects; an app's `urls` takes its addresses."""

    kind: ShownKind[M, W]
    content: Callable[[Asked[M, W]], Content]
    content_of_one: Callable[[M, Scope], DetailContent]
    entry: Entry
    """Of the list, in the navigation."""

    def addresses(self) -> list[URLPattern]:
        """Of the list and of one, named `<id>_list` and `<id>_detail`."""
        kind = self.kind
        every = list_page(kind.listing, self.content, entry=self.entry)
        return [
            path(f"{kind.path}/", every, name=f"{kind.id}_list"),
            path(f"{kind.path}/<int:number>/", _one(self), name=f"{kind.id}_detail"),
        ]


def _one(pages: ObjectPages[Any, Any]) -> LivePage[[int]]:
    kind = pages.kind

    @one_of_a_list
    def view(request: HttpRequest, scope: Scope, number: int) -> Live:
        try:
            row = kind.one(scope.snapshot, number)
        except ObjectDoesNotExist:
            raise Http404(_("There is no such %(what)s.") % {"what": kind.noun}) from None
        only = scope.about(row.cluster_id)
        list_url = reverse(f"{resolve(request.path).namespace}:{kind.id}_list")
        state = (number, only.state(*kind.subjects))
        return Live(state, lambda: {"page": _page(pages, row, only, list_url=list_url)})

    return view


def _page(pages: ObjectPages[Any, Any], row: Any, scope: Scope, *, list_url: str) -> DetailPage:
    kind = pages.kind
    return DetailPage(
        id=kind.id.replace("_", "-"),
        kind=capfirst(str(kind.noun)),
        list_title=kind.listing.title,
        list_url=list_url,
        fresh=scope.fresh[row.cluster_id],
        row=row,
        content=pages.content_of_one(row, scope),
    )
