"""DeviceClasses: which are asked for, and what is shown of each."""

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from dra.shapes import device_classes as shapes
from kube.kinds import DEVICE_CLASS
from pools.listings.places import CLUSTER, NAME
from pools.models import DeviceClass
from pools.queries.conditions import places
from ui.listing import Listing
from ui.lists import Column
from ui.parameters import Text, search_box
from ui.shown_kind import ShownKind
from ui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DeviceClassFilter:
    """Which DeviceClasses; what is empty does not restrict."""

    clusters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    extended_resources: tuple[str, ...] = ()
    # Of the name, the extended resource name, or an expression.
    text: str = ""


def _device_classes(snapshot: Snapshot, wanted: DeviceClassFilter) -> QuerySet[DeviceClass]:
    """The classes that are there and match."""
    condition = places(wanted.clusters, (), ()) & Q(vanished_at__isnull=True)
    if wanted.names:
        condition &= Q(name__in=wanted.names)
    if wanted.extended_resources:
        condition &= Q(extended_resource_name__in=wanted.extended_resources)
    classes = DeviceClass.objects.filter(condition)
    if not wanted.text:
        return classes
    return classes.alias(expressions=Cast("selectors", TextField())).filter(
        Q(name__icontains=wanted.text)
        | Q(extended_resource_name__icontains=wanted.text)
        | Q(expressions__icontains=wanted.text)
    )


_LISTING: Final[Listing[DeviceClass, DeviceClassFilter]] = Listing(
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
    orders={"name": ("name", "id")},
    default_order="name",
    columns=(
        Column("name", _("Device class")),
        Column("cluster", _("Cluster")),
        Column("selectors", _("A device is of it if")),
        Column("extended_resource", _("Extended resource")),
        Column("config", _("Configures")),
        Column("changed", _("Changed")),
    ),
    query=_device_classes,
    shape=shapes.DeviceClass,
    api_url="api:device-classes",
    rows="pools/device_classes.html",
    placeholder=_("extended_resource:example.com/gpu"),
)


def _members(row: DeviceClass) -> dict[str, Any]:
    return {
        "selectors": row.selectors,
        "extended_resource_name": row.extended_resource_name or None,
        "config_drivers": row.config_drivers,
    }


DEVICE_CLASSES: Final = ShownKind(
    listing=_LISTING,
    rows=DeviceClass.objects,
    path="device-classes",
    id="device_class",
    noun=_("device class"),
    plural="DeviceClasses",
    members=_members,
    page=shapes.DeviceClassList,
)
