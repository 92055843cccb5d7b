"""A list: filtered, sorted, in pages as JSON or whole as CSV. A fixed number of queries, whatever its length."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from msgspec import Struct
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api import cluster_rows
from api.coverage import Coverage, read_coverage
from api.csv_text import CSV, csv_chunks
from api.links import Links
from api.parameters import DEFAULT_LIMIT, Parameters, filter_values
from api.query_parameters import PAGING, filter_parameters, order_parameter
from api.renderers import CSVText, JSONText
from api.views.base import SnapshotView
from clusters.views.narrowing import kind_behind, unfiltered_count
from dra import shapes
from ui.listing import Listing
from ui.moments import AT, moment_text
from ui.paging import InvalidCursor, Page, keyset_page
from ui.parameters import Flag
from ui.snapshot import Snapshot

M = TypeVar("M", bound=Model)

ROWS_AT_ONCE = 2000
# The pages' word for `ordering`, so that the query of a page's address fits here.
SORT = "sort"


class ListView(SnapshotView, Generic[M]):
    """One list, by its declaration. `page` is the shape of a page; how a row becomes a shape is filled in."""

    renderer_classes: Sequence[type[BaseRenderer]] = (JSONText, CSVText)
    listing: ClassVar[Listing[Any, Any]]
    page: ClassVar[type[shapes.Page[Any]]]

    @property
    def answers(self) -> dict[str, Any]:  # type: ignore[override]  # follows from `page`
        return {JSONText.media_type: self.page, CSVText.media_type: CSV}

    @property
    def subjects(self) -> tuple[str, ...]:  # type: ignore[override]  # follows from the declaration
        return (self.listing.subject, *self.listing.also_subjects)

    @property
    def described(self) -> Sequence[OpenApiParameter]:
        filters = filter_parameters(self.listing)
        return (*filters, order_parameter(self.listing), *PAGING, *super().described)

    @property
    def allowed(self) -> tuple[str, ...]:
        return (*super().allowed, SORT)

    def shape(self, row: M, coverage: Coverage, links: Links) -> Struct:
        raise NotImplementedError

    def shown(self, rows: Sequence[M], coverage: Coverage, links: Links) -> Sequence[Struct]:
        """The rows of one page; what they need beside themselves is read for all of them at once."""
        return [self.shape(row, coverage, links) for row in rows]

    def is_known(self, coverage: Coverage) -> bool:
        """Whether what there is was read of any of the clusters, so that none is none."""
        kind = kind_behind(self.listing)
        return any(kind in fresh.read_at for fresh in coverage.freshness.values())

    def also(self, coverage: Coverage) -> Sequence[Any]:
        """What else the ETag names, where the revision of clusters does not cover it."""
        del coverage
        return ()

    def read(self, request: Request, snapshot: Snapshot, **names: Any) -> HttpResponseBase:
        del names
        parameters = self.parameters(request)
        wanted = self._wanted(parameters, request, snapshot)
        order = self._order(parameters)
        limit, cursor = parameters.limit(), parameters.cursor()
        parameters.check()
        every, links = read_coverage(snapshot), Links(request)
        clusters = getattr(wanted, "clusters", ())
        check_clusters(parameters, clusters, coverage=every)
        coverage = every.named(clusters)
        also = self.also(coverage)
        same = self.unchanged(request, coverage=coverage, also=also)
        if same is not None:
            return same
        rows = self.listing.query(snapshot, wanted)
        is_csv = request.accepted_renderer.format == CSVText.format
        if is_csv and limit is None and cursor is None:
            return self._csv(
                request, self._all(rows.order_by(*order)), coverage=coverage, also=also
            )
        page = _page(
            parameters,
            rows,
            of=(self.listing.id, wanted),
            order=order,
            cursor=cursor,
            limit=limit or DEFAULT_LIMIT,
        )
        if is_csv:
            return self._csv(request, iter(page.rows), coverage=coverage, also=also)
        count, total = None, None
        if page.rows or self.is_known(coverage):
            count = self.listing.count(snapshot, wanted) if self.listing.count else rows.count()
            total = unfiltered_count(
                self.listing, snapshot, wanted, clusters=clusters, count=count
            )
        body = self.page(
            count=count,
            total=total,
            next=_link(request, page.next_cursor, snapshot.at),
            previous=_link(request, page.previous_cursor, snapshot.at),
            stale=coverage.is_stale(),
            freshness=cluster_rows.freshness(coverage),
            gaps=cluster_rows.open_gaps(coverage),
            results=self.shown(page.rows, coverage, links),
        )
        return self.answer(request, body, coverage=coverage, also=also)

    def _wanted(self, parameters: Parameters, request: Request, snapshot: Snapshot) -> Any:
        for each in self.listing.parameters:
            if isinstance(each, Flag):
                parameters.flag(each.name)
        read = self.listing.read(filter_values(request.query_params))
        parameters.take((*read.problems, *self.listing.absent(snapshot, read.wanted)))
        return read.wanted

    def _order(self, parameters: Parameters) -> tuple[str, ...]:
        words, default = tuple(self.listing.orders), self.listing.default_order
        return self.listing.order(parameters.ordering(words, default=default))

    def _all(self, rows: QuerySet[M]) -> Iterator[M]:
        """By a cursor on the server, so that memory does not grow with the list."""
        return rows.iterator(chunk_size=ROWS_AT_ONCE)

    def _csv(
        self, request: Request, rows: Iterator[M], *, coverage: Coverage, also: Sequence[Any]
    ) -> HttpResponseBase:
        rows_sent = iter(()) if request.method == "HEAD" else rows
        links = Links(request)
        shown = (self.shape(row, coverage, links) for row in rows_sent)
        response = StreamingHttpResponse(
            csv_chunks(shown, shapes.columns(self.listing.shape)),
            content_type="text/csv; charset=utf-8; header=present",
            headers={
                "Content-Disposition": f'attachment; filename="{self._file_name(coverage.now)}"'
            },
        )
        return self.tagged(request, response, coverage=coverage, also=also)

    def _file_name(self, now: datetime) -> str:
        return f"{self.operation_id.replace('_', '-')}-{now:%Y%m%dT%H%M%SZ}.csv"


def check_clusters(parameters: Parameters, names: Sequence[str], *, coverage: Coverage) -> None:
    """Raises InvalidParameters for a cluster that there is not, and names those that there are."""
    there = ", ".join(sorted(each.name for each in coverage.clusters.values()))
    for name in names:
        if not coverage.named([name]).clusters:
            message = _("There is no cluster “%(name)s”; there are: %(names)s.")
            words = {"name": name, "names": there or _("none")}
            parameters.refuse("cluster", message % words)
    parameters.check()


def _page(
    parameters: Parameters,
    rows: QuerySet[M],
    *,
    of: object,
    order: Sequence[str],
    cursor: str | None,
    limit: int,
) -> Page[M]:
    try:
        return keyset_page(rows, of=of, order=order, cursor=cursor, size=limit)
    except InvalidCursor:
        parameters.refuse_cursor()
        parameters.check()
        raise


def _link(request: Request, cursor: str | None, at: datetime | None) -> str | None:
    if cursor is None:
        return None
    given = [
        (name, values)
        for name, values in request.query_params.lists()
        if name not in {"cursor", AT}
    ]
    # Exactly, since `-2h` would be another moment on the next page.
    moment = [(AT, moment_text(at))] if at else []
    query = urlencode([*given, *moment, ("cursor", cursor)], doseq=True)
    return f"{request.build_absolute_uri(request.path)}?{query}"
