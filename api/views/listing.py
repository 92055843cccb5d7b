"""A list: filtered, sorted, in pages as JSON or whole as CSV. Five queries with sign-in apart, whatever its length."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api import cluster_shapes
from api.csv_text import Columns, csv_chunks
from api.known import Known, read_known
from api.negotiation import CSVText, JSONText
from api.parameters import DEFAULT_LIMIT, Parameters, filter_values
from api.views.base import Json, SnapshotView, encode
from pools.filters import Params, Read
from ui.paging import InvalidCursor, Page, keyset_page, order_columns
from ui.snapshot import Snapshot

M = TypeVar("M", bound=Model)

LIST_PARAMS = ("ordering", "sort", "limit", "cursor", "format")
ROWS_AT_ONCE = 2000


class ListView(SnapshotView, Generic[M]):
    """What each list fills in: how its filter is read, how its rows are found, sorted and shown."""

    renderer_classes: Sequence[type[BaseRenderer]] = (JSONText, CSVText)
    orders: ClassVar[Mapping[str, tuple[str, ...]]]
    default_ordering: ClassVar[str]
    columns: ClassVar[Columns]

    def read_filter(self, snapshot: Snapshot, params: Params) -> Read[Any]:
        raise NotImplementedError

    def find(self, snapshot: Snapshot, wanted: Any) -> QuerySet[M]:
        raise NotImplementedError

    def shape(self, row: M, known: Known) -> Json:
        raise NotImplementedError

    def also(self, known: Known) -> Sequence[Any]:
        """What else the ETag names, where the revision of clusters does not cover it."""
        del known
        return ()

    def read(self, request: Request, snapshot: Snapshot, **names: Any) -> HttpResponseBase:
        del names
        parameters = self.parameters(request)
        read = self.read_filter(snapshot, filter_values(request.query_params))
        parameters.take(read.problems)
        order = order_columns(
            self.orders, parameters.ordering(tuple(self.orders), default=self.default_ordering)
        )
        limit, cursor = parameters.limit(), parameters.cursor()
        parameters.check()
        known = read_known(snapshot)
        clusters = getattr(read.wanted, "clusters", ())
        check_clusters(parameters, clusters, known=known)
        asked = known.named(clusters)
        same = self.unchanged(request, known=asked, also=self.also(asked))
        if same is not None:
            return same
        rows = self.find(snapshot, read.wanted)
        is_csv = request.accepted_renderer.format == CSVText.format
        if is_csv and limit is None and cursor is None:
            return self._csv(request, self._all(rows.order_by(*order)), known=known, asked=asked)
        page = _page(parameters, rows, order=order, cursor=cursor, limit=limit or DEFAULT_LIMIT)
        if is_csv:
            return self._csv(request, iter(page.rows), known=known, asked=asked)
        body = {
            "count": rows.count(),
            "next": _link(request, page.next_cursor),
            "previous": _link(request, page.previous_cursor),
            "stale": asked.is_stale(),
            "freshness": cluster_shapes.freshness(asked),
            "gaps": cluster_shapes.open_gaps(asked),
            "results": [self.shape(row, known) for row in page.rows],
        }
        return self.answer(request, encode(body), known=asked, also=self.also(asked))

    def _all(self, rows: QuerySet[M]) -> Iterator[M]:
        """By a cursor on the server, so that memory does not grow with the list."""
        return rows.iterator(chunk_size=ROWS_AT_ONCE)

    def _csv(
        self, request: Request, rows: Iterator[M], *, known: Known, asked: Known
    ) -> HttpResponseBase:
        found = iter(()) if request.method == "HEAD" else rows
        shown = (self.shape(row, known) for row in found)
        response = StreamingHttpResponse(
            csv_chunks(shown, self.columns),
            content_type="text/csv; charset=utf-8; header=present",
            headers={
                "Content-Disposition": f'attachment; filename="{self._file_name(known.now)}"'
            },
        )
        return self.tagged(request, response, known=asked, also=self.also(asked))

    def _file_name(self, now: datetime) -> str:
        return f"{self.operation_id.replace('_', '-')}-{now:%Y%m%dT%H%M%SZ}.csv"


def check_clusters(parameters: Parameters, names: Sequence[str], *, known: Known) -> None:
    """Raises InvalidParameters for a cluster that there is not, and names those that there are."""
    there = ", ".join(sorted(each.name for each in known.clusters.values()))
    for name in names:
        if not known.named([name]).clusters:
            message = _("There is no cluster “%(name)s”; there are: %(names)s.")
            words = {"name": name, "names": there or _("none")}
            parameters.refuse("cluster", message % words)
    parameters.check()


def _page(
    parameters: Parameters,
    rows: QuerySet[M],
    *,
    order: Sequence[str],
    cursor: str | None,
    limit: int,
) -> Page[M]:
    try:
        return keyset_page(rows, order=order, cursor=cursor, size=limit)
    except InvalidCursor:
        parameters.refuse_cursor()
        parameters.check()
        raise


def _link(request: Request, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    given = [(name, values) for name, values in request.query_params.lists() if name != "cursor"]
    query = urlencode([*given, ("cursor", cursor)], doseq=True)
    return f"{request.build_absolute_uri(request.path)}?{query}"
