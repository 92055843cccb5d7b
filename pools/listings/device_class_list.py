from django.utils.translation import gettext_lazy as _

from dra.shapes import device_classes as shapes
from kube.kinds import DEVICE_CLASS
from pools.listings.places import CLUSTER, NAME
from pools.models import DeviceClass
from pools.queries.device_classes import DEVICE_CLASS_ORDER, DeviceClassFilter, device_classes
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Text, search_box

DEVICE_CLASSES: Listing[DeviceClass, DeviceClassFilter] = Listing(
    id="class-list",
    title=_("Device classes"),
    noun=_("device classes"),
    subject=DEVICE_CLASS.name,
    wanted=DeviceClassFilter,
    parameters=(
        CLUSTER,
        NAME,
        Text(
            name="extended_resource",
            field="extended_resources",
            label=_("extended resource"),
            meaning=_("Name of the extended resource that the class answers to."),
            example="example.com/gpu",
        ),
        search_box(
            meaning=_(
                "Text in the name of a class, its extended resource or its expressions, and terms such as `name:NAME`."
            ),
            example="gpu.example.com",
        ),
    ),
    orders={"name": DEVICE_CLASS_ORDER},
    default_order="name",
    columns=(
        Column("name", _("Device class")),
        Column("cluster", _("Cluster")),
        Column("selectors", _("A device is of it if")),
        Column("extended_resource", _("Extended resource")),
        Column("config", _("Configures")),
        Column("changed", _("Changed")),
    ),
    query=device_classes,
    shape=shapes.DeviceClass,
    api_url="api:device-classes",
    rows="pools/device_classes.html",
    placeholder=_("extended_resource:example.com/gpu"),
)
