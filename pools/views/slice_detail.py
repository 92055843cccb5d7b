"""One ResourceSlice as the cluster holds it, in YAML."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from clusters.queries import Freshness
from clusters.views.frame import Scope
from clusters.views.kubectl import kubectl
from clusters.views.live import Live, live_page
from pools import queries
from pools.models import ResourceSlice
from pools.views.manifests import manifest_of
from pools.views.shared import (
    ShownProblem,
    problems_of,
)


@dataclass(frozen=True, slots=True)
class SlicePage:
    """What the page of one ResourceSlice shows."""

    slice: ResourceSlice
    fresh: Freshness
    pool_id: int | None
    manifest: str
    command: str
    problems: tuple[ShownProblem, ...]


@live_page(page="pools/slice_detail.html", fragment="pools/_slice.html")
def slice_detail(request: HttpRequest, scope: Scope, object_id: int) -> Live:
    """One ResourceSlice; htmx gets what is live in it."""
    try:
        row = queries.resource_slice(scope.snapshot, object_id)
    except ResourceSlice.DoesNotExist:
        raise Http404(_("There is no such ResourceSlice now.")) from None
    only = scope.about(row.cluster_id)
    # Its pool, which it leads to, is there from when its devices are counted.
    state = (*only.state(), row.since, row.device_count, row.problems)
    return Live(state, lambda: {"page": _slice_page(row, only)})


def _slice_page(row: ResourceSlice, scope: Scope) -> SlicePage:
    ids = queries.pools_of_keys(scope.snapshot, row.cluster_id, [(row.driver, row.pool_name)])
    return SlicePage(
        slice=row,
        fresh=scope.fresh[row.cluster_id],
        pool_id=ids.get((row.driver, row.pool_name)),
        manifest=manifest_of(row, scope),
        command=kubectl(scope.chosen, "get", "resourceslice", row.name, "-o", "yaml"),
        problems=problems_of(row),
    )
