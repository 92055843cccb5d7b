from typing import ClassVar

from api import rows
from api.coverage import Coverage
from api.links import Links
from api.views.details import DetailView
from api.views.listing import ListView
from dra.shapes import device_classes as shapes
from kube.kinds import DEVICE_CLASS
from pools.listings.device_class_list import DEVICE_CLASSES
from pools.models import DeviceClass
from pools.queries.device_classes import device_class
from ui.snapshot import Snapshot


def shape_of(row: DeviceClass, coverage: Coverage, links: Links) -> shapes.DeviceClass:
    """A row as its shape."""
    fresh = coverage.freshness[row.cluster_id]
    return shapes.DeviceClass(
        id=str(row.id),
        url=links.one("device-classes", row.id),
        cluster=fresh.cluster_name,
        cluster_id=str(row.cluster_id),
        name=row.name,
        uid=row.uid,
        selectors=row.selectors,
        extended_resource_name=row.extended_resource_name or None,
        config_drivers=row.config_drivers,
        created_at=row.created_at,
        problems=rows.problems(row.problems),
        changed_at=row.since,
        vanished_at=row.vanished_at,
        observed_at=fresh.read_at.get(DEVICE_CLASS.name),
    )


class DeviceClassList(ListView[DeviceClass]):
    """All DeviceClasses that are in the cluster and match the filters."""

    operation_id = "device_classes"
    summary = "List DeviceClasses"
    tag = "DeviceClasses"
    listing = DEVICE_CLASSES
    page = shapes.DeviceClassList

    def shape(self, row: DeviceClass, coverage: Coverage, links: Links) -> shapes.DeviceClass:
        return shape_of(row, coverage, links)


class DeviceClassDetail(DetailView):
    """One DeviceClass, in the shape of the list; also one that is no longer in the cluster."""

    operation_id = "device_class"
    summary = "Read one DeviceClass"
    tag = "DeviceClasses"
    subjects = (DEVICE_CLASS.name,)
    answers: ClassVar = {"application/json": shapes.DeviceClass}

    def find(self, snapshot: Snapshot, number: int) -> DeviceClass:
        return device_class(snapshot, number)

    def shape(self, row: DeviceClass, coverage: Coverage, links: Links) -> shapes.DeviceClass:
        return shape_of(row, coverage, links)
