from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from clusters import choices
from dra import shapes
from pools import queries
from pools.choices import DeviceState
from pools.listings.matches import attribute_match, capacity_match, either_match
from pools.listings.places import CLUSTER, DRIVER, NODE, POOL
from pools.models import Device
from pools.queries import DeviceFilter
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Choice, Flag, Match, Text, search_box

ATTRIBUTE = Match(
    name="attribute",
    field="matches",
    label=_("attribute"),
    meaning=_(
        "An attribute: `name`, `name=value`, `name!=value`, or `>=` `<=` `>` `<` and a whole number."
    ),
    example="model=A100",
    parse=attribute_match,
)
CAPACITY = Match(
    name="capacity",
    field="matches",
    label=_("capacity"),
    meaning=_("A capacity, compared by `=` `>=` `<=` `>` or `<` with a quantity of Kubernetes."),
    example="memory>=40Gi",
    parse=capacity_match,
)

DEVICES: Listing[Device, DeviceFilter] = Listing(
    id="device-list",
    title=_("Devices"),
    noun=_("devices"),
    subject=choices.POOLS,
    wanted=DeviceFilter,
    parameters=(
        CLUSTER,
        replace(DRIVER, any_label=_("any driver")),
        Choice(
            name="state",
            field="states",
            label=_("State"),
            meaning=_("State of the device."),
            example="available",
            any_label=_("any state"),
            choices=dict(DeviceState.choices),
        ),
        Flag(
            name="tainted",
            field="is_tainted",
            label=_("Taints"),
            meaning=_("Whether it has any taint."),
            any_label=_("tainted or not"),
            true_label=_("tainted"),
            false_label=_("not tainted"),
        ),
        Text(
            name="taint",
            field="taints",
            label=_("taint"),
            meaning=_("Key of a taint that the device has."),
            example="example.com/maintenance",
        ),
        Text(
            name="taint_rule",
            field="taint_rules",
            label=_("taint rule"),
            meaning=_("Name of a DeviceTaintRule that taints the device."),
            example="node-7-maintenance",
        ),
        POOL,
        Text(
            name="device",
            field="devices",
            label=_("device"),
            meaning=_(
                "Name of a device; with `driver` and `pool` it is just one of each cluster."
            ),
            example="gpu-0",
        ),
        NODE,
        ATTRIBUTE,
        CAPACITY,
        Flag(
            name="partly_used",
            field="is_partly_used",
            label=_("partly used"),
            meaning=_("Whether it is allocated and has room for another share."),
        ),
        Flag(
            name="vanished",
            field="has_vanished",
            label=_("vanished"),
            meaning=_("Whether the device is no longer published. Default: false."),
            default=False,
        ),
        Flag(
            name="include_vanished",
            field="includes_vanished",
            label=_("vanished ones too"),
            meaning=_(
                "Whether devices that have vanished are listed beside those that are there."
            ),
            default=False,
        ),
        search_box(
            meaning=_(
                "Text that the name of a device, its pool or its node contains, and terms such as `driver:NAME` or `memory>=40Gi`."
            ),
            example="node:node-7 memory>=40Gi",
            match=replace(ATTRIBUTE, parse=either_match),
        ),
    ),
    orders=queries.DEVICE_ORDERS,
    default_order="name",
    columns=(
        Column("name", _("Device"), is_sortable=True),
        Column("state", _("State"), is_sortable=True),
        Column("holders", _("Held by")),
        Column("driver", _("Driver")),
        Column("pool", _("Pool")),
        Column("cluster", _("Cluster")),
        Column("node", _("Node"), is_sortable=True),
        # After these stand the attributes and capacities that a person chooses.
    ),
    query=queries.devices,
    count=queries.device_count,
    shape=shapes.Device,
    api_url="api:devices",
    rows="pools/devices.html",
    unshown=("capacity_numbers",),
    placeholder=_("node:node-7 memory>=40Gi"),
    page_parameters=("column",),
)
