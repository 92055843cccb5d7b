"""ResourceSlices: who publishes what, and since when?"""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy, ngettext

from clusters.views.kubectl import get_resource_slices
from clusters.views.list_page import Asked, Content, list_page
from pools import queries
from pools.listings import SLICES
from pools.models import ResourceSlice
from pools.queries import SliceFilter
from pools.views.shared import ShownProblem, problems_of
from ui.formatting import number
from ui.frame import Entry


@dataclass(frozen=True, slots=True)
class SliceLine:
    """One ResourceSlice in the list."""

    slice: ResourceSlice
    cluster: str
    pool_id: int | None
    problems: tuple[ShownProblem, ...]


def _content(asked: Asked[ResourceSlice, SliceFilter]) -> Content:
    scope, wanted = asked.scope, asked.wanted
    count = asked.found.count()
    text = ngettext("%(n)s resource slice.", "%(n)s resource slices.", count)
    return Content(
        answer=text % {"n": number(count)} if count else "",
        lines=_lines(asked),
        count=count,
        kubectl=get_resource_slices(scope.only, drivers=wanted.drivers, nodes=wanted.nodes),
    )


slice_list = list_page(
    SLICES, _content, entry=Entry(gettext_lazy("Resource slices"), "slices", "s")
)


def _lines(asked: Asked[ResourceSlice, SliceFilter]) -> tuple[SliceLine, ...]:
    ids = queries.pool_ids(asked.scope.snapshot, asked.rows)
    return tuple(
        SliceLine(
            row,
            asked.scope.name_of(row.cluster_id),
            ids.get((row.cluster_id, row.driver, row.pool_name)),
            problems_of(row),
        )
        for row in asked.rows
    )
