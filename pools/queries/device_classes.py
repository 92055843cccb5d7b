"""Reads of DeviceClasses."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from pools.models import DeviceClass
from pools.queries.conditions import places
from ui.snapshot import Snapshot

DEVICE_CLASS_ORDER = ("name", "id")


@dataclass(frozen=True, slots=True)
class DeviceClassFilter:
    """Which DeviceClasses; what is empty does not restrict."""

    clusters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    extended_resources: tuple[str, ...] = ()
    # Of the name, the extended resource name, or an expression.
    text: str = ""


def device_classes(snapshot: Snapshot, wanted: DeviceClassFilter) -> QuerySet[DeviceClass]:
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


def device_class(snapshot: Snapshot, class_id: int) -> DeviceClass:
    """One class, also one that is gone; raises DeviceClass.DoesNotExist."""
    return DeviceClass.objects.get(id=class_id)
