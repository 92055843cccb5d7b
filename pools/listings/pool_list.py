from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from clusters import choices
from dra import shapes
from dra.problems import CODES
from pools import queries
from pools.listings.places import CLUSTER, DRIVER, NODE, POOL
from pools.models import Pool
from pools.queries import PoolFilter
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Choice, Flag, Text, search_box

POOLS: Listing[Pool, PoolFilter] = Listing(
    id="pool-list",
    title=_("Pools"),
    noun=_("pools"),
    subject=choices.POOLS,
    wanted=PoolFilter,
    parameters=(
        CLUSTER,
        replace(DRIVER, any_label=_("any driver")),
        Text(
            name="fits",
            field="fits",
            label=_("What still fits"),
            meaning=_(
                "A partition type of which one could be allocated now; `device`: any device."
            ),
            example="1g.10gb",
            any_label=_("fits or not"),
            special={"device": _("fits any device")},
            offered=queries.partition_types,
        ),
        Choice(
            name="problem",
            field="problems",
            label=_("Problem"),
            meaning=_(
                "Code of a problem; `serious` is an error or a warning, `any` a note too; or `none`."
            ),
            example="incomplete_pool",
            any_label=_("problems or not"),
            choices={
                "any": _("with any problem or note"),
                "serious": _("with an error or a warning"),
                "none": _("without a problem"),
                **{code: code.replace("_", " ") for code in CODES},
            },
            are_all_offered=False,
            always_offered=("serious", "any", "none"),
        ),
        Flag(
            name="complete",
            field="is_complete",
            label=_("Completeness"),
            meaning=_("Whether all slices of the pool are there."),
            any_label=_("complete or not"),
            true_label=_("complete"),
            false_label=_("incomplete"),
        ),
        POOL,
        NODE,
        Flag(
            name="vanished",
            field="has_vanished",
            label=_("vanished"),
            meaning=_("Whether the pool's last slice has gone. Default: false."),
            default=False,
        ),
        Flag(
            name="include_vanished",
            field="includes_vanished",
            label=_("vanished ones too"),
            meaning=_("Whether pools that have vanished are listed beside those that are there."),
            default=False,
        ),
        search_box(
            meaning=_(
                "Text that the name of a pool, its driver or its node contains, and terms such as `driver:NAME`."
            ),
            example="node:node-7 fits:3g.40gb",
        ),
    ),
    orders=queries.POOL_ORDERS,
    default_order="problems",
    columns=(
        Column("name", _("Pool"), is_sortable=True),
        Column("driver", _("Driver"), is_sortable=True),
        Column("cluster", _("Cluster")),
        Column("node", _("Node"), is_sortable=True),
        Column("devices", _("Devices"), note=_("Of the newest generation.")),
        Column("available", _("Free"), is_sortable=True, is_number=True),
        Column("total", _("Total"), is_sortable=True, is_number=True),
        Column("fits", _("Fits now"), note=_("Partition types are alternatives.")),
        Column("problems", _("Problems"), is_sortable=True),
    ),
    query=queries.pools,
    shape=shapes.Pool,
    api_url="api:pools",
    rows="pools/pools.html",
    placeholder=_("node:node-7 fits:3g.40gb"),
)
