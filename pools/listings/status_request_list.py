from django.utils.translation import gettext_lazy as _

from dra import shapes
from kube.kinds import RESOURCE_POOL_STATUS_REQUEST
from pools import queries
from pools.choices import Outcome
from pools.listings.places import CLUSTER, DRIVER, NAME, POOL
from pools.models import PoolStatusRequest
from pools.queries import StatusFilter
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Choice, Flag, search_box

STATUS_REQUESTS: Listing[PoolStatusRequest, StatusFilter] = Listing(
    id="status-list",
    title=_("Pool status requests"),
    noun=_("pool status requests"),
    subject=RESOURCE_POOL_STATUS_REQUEST.name,
    wanted=StatusFilter,
    parameters=(
        CLUSTER,
        DRIVER,
        POOL,
        NAME,
        Choice(
            name="outcome",
            field="outcomes",
            label=_("Outcome"),
            meaning=_("What became of the request."),
            example="answered",
            any_label=_("any outcome"),
            choices=dict(Outcome.choices),
        ),
        Flag(
            name="differing",
            field="is_differing",
            label=_("Agreement"),
            meaning=_("Whether the server counts some pool otherwise."),
            any_label=_("agreeing or not"),
            true_label=_("that differ"),
            false_label=_("that agree"),
        ),
        search_box(
            meaning=_(
                "Text that the name of a request, its driver or its pool contains, and terms such as `driver:NAME`."
            ),
            example="driver:gpu.example.com",
        ),
    ),
    orders={"newest": queries.STATUS_ORDER},
    default_order="newest",
    columns=(
        Column("created", _("Asked")),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("outcome", _("Outcome")),
        Column("pools", _("Pools answered"), is_number=True),
        Column("differing", _("Differing"), is_number=True),
        Column("took", _("Took"), is_number=True),
    ),
    query=queries.status_requests,
    shape=shapes.PoolStatusRequest,
    api_url="api:pool-status-requests",
    rows="pools/status_requests.html",
    placeholder=_("driver:gpu.example.com"),
)
