from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api import rows
from api.coverage import read_coverage
from api.csv_text import CSV, csv_chunks
from api.links import Links
from api.parameters import Parameters
from api.query_parameters import RANGE
from api.renderers import CSVText, JSONText
from api.views.base import SnapshotView
from clusters.choices import POOLS
from dra import shapes
from pools import queries
from pools.models import Pool
from ui.snapshot import Snapshot

DEFAULT_RANGE = timedelta(hours=24)
MOST_POINTS = 2000
HOUR = timedelta(hours=1)
# Steps that are worth writing, as they are written.
STEPS = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": HOUR,
    "6h": 6 * HOUR,
    "1d": 24 * HOUR,
    "7d": 168 * HOUR,
    "30d": 720 * HOUR,
}


class PoolHistory(SnapshotView):
    """What a pool was like over a time.

    Without `step` every change is a point, exactly, and holds until the next one. With it, each point is the mean of one step by
    time, with least and most beside it. Where something may have been missed there is a gap, and its figures are null.
    """

    operation_id = "pool_history"
    summary = "Read the history of one pool"
    tag = "Pools"
    subjects = (POOLS,)
    answers: ClassVar = {"application/json": shapes.PoolHistory, "text/csv": CSV}
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONText, CSVText)

    @property
    def described(self) -> Sequence[OpenApiParameter]:
        return (*RANGE, *super().described)

    def read(self, request: Request, snapshot: Snapshot, **names: Any) -> HttpResponseBase:
        now = snapshot.moment
        parameters = self.parameters(request)
        end = min(parameters.moment("to", now=now, default=now), now)
        start = parameters.moment("from", now=now, default=end - DEFAULT_RANGE)
        step = parameters.step()
        parameters.check()
        start = check_range(parameters, start=start, end=end, step=step)
        every = read_coverage(snapshot)
        try:
            row = queries.pool(snapshot, names["id"])
        except Pool.DoesNotExist as error:
            raise Http404 from error
        coverage = every.of([row.cluster_id])
        also = (start, end, step)
        same = self.unchanged(request, coverage=coverage, also=also)
        if same is not None:
            return same
        if step is None:
            check_changes(parameters, snapshot, row, start=start, end=end)
        recorded = queries.pool_history(snapshot, row, start=start, end=end, step=step)
        body = rows.history(row, recorded, coverage, Links(request))
        if request.accepted_renderer.format == CSVText.format:
            return self.tagged(request, _csv(body, now=now), coverage=coverage, also=also)
        return self.answer(request, body, coverage=coverage, also=also)


def _csv(body: shapes.PoolHistory, *, now: datetime) -> HttpResponse:
    """A line per point; in a gap its figures are empty. There are few enough points to send them at once."""
    whose = {name: _always(getattr(body, name)) for name in ("cluster", "driver", "pool")}
    lines = csv_chunks(body.points, {**whose, **shapes.columns(shapes.HistoryPoint)})
    name = f"pool-history-{body.id}-{now:%Y%m%dT%H%M%SZ}.csv"
    return HttpResponse(
        b"".join(lines),
        content_type="text/csv; charset=utf-8; header=present",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _always(value: str) -> Callable[[Any], str]:
    return lambda _point: value


def check_range(
    parameters: Parameters, *, start: datetime, end: datetime, step: timedelta | None
) -> datetime:
    """The start, moved to a full hour where figures are kept by the hour; raises InvalidParameters."""
    if start >= end:
        parameters.refuse("from", _("Write a time before `to`, which is never later than now."))
    elif step is not None and (end - start) / step > MOST_POINTS:
        fitting = _("This step gives more than %(most)s points; write step=%(step)s.")
        parameters.refuse("step", fitting % _fitting(end - start))
    elif step is not None and end - start > queries.RAW_HISTORY:
        if step % HOUR:
            parameters.refuse("step", _("Above 8 days write a step of whole hours, such as 1h."))
        start = start.replace(minute=0, second=0, microsecond=0)
    parameters.check()
    return start


def check_changes(
    parameters: Parameters, snapshot: Snapshot, row: Pool, *, start: datetime, end: datetime
) -> None:
    """Raises InvalidParameters when a pool changed too often to name every change."""
    if queries.has_more_samples(snapshot, row, start=start, end=end, limit=MOST_POINTS):
        fitting = _("There are more than %(most)s changes in this time; write step=%(step)s.")
        parameters.refuse("step", fitting % _fitting(end - start))
        parameters.check()


def _fitting(length: timedelta) -> dict[str, Any]:
    """The shortest step of STEPS with which a time has few enough points."""
    is_rolled_up = length > queries.RAW_HISTORY
    fitting = [
        word
        for word, step in STEPS.items()
        if length / step <= MOST_POINTS and not (is_rolled_up and step % HOUR)
    ]
    return {"most": MOST_POINTS, "step": fitting[0] if fitting else f"{length.days // 1000}d"}
