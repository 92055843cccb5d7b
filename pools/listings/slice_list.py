from django.utils.translation import gettext_lazy as _

from dra import shapes
from kube.kinds import RESOURCE_SLICE
from pools import queries
from pools.listings.places import CLUSTER, DRIVER, NAME, NODE, POOL
from pools.models import ResourceSlice
from pools.queries import SliceFilter
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import search_box

SLICES: Listing[ResourceSlice, SliceFilter] = Listing(
    id="slice-list",
    title=_("Resource slices"),
    noun=_("resource slices"),
    subject=RESOURCE_SLICE.name,
    wanted=SliceFilter,
    parameters=(
        CLUSTER,
        DRIVER,
        POOL,
        NAME,
        NODE,
        search_box(
            meaning=_(
                "Text that the name of a slice or its pool contains, and terms such as `driver:NAME`."
            ),
            example="driver:gpu.example.com node:node-7",
        ),
    ),
    orders={"name": queries.SLICE_ORDER},
    default_order="name",
    columns=(
        Column("name", _("Resource slice")),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("node", _("Node")),
        Column("generation", _("Generation"), is_number=True),
        Column("devices", _("Devices"), is_number=True),
        Column("changed", _("Changed")),
    ),
    query=queries.slices,
    shape=shapes.ResourceSlice,
    api_url="api:resource-slices",
    rows="pools/resource_slices.html",
    placeholder=_("driver:gpu.example.com node:node-7"),
)
