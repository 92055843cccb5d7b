"""Living objects from the log, given as if each had changed just now, so that their rows can be made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from objects import queries
from objects.choices import Op
from objects.models import KubeObject
from objects.queries import Version
from objects.services.log import NewEvent, ObjectChange

if TYPE_CHECKING:
    from collections.abc import Iterator


def living_objects(cluster_id: int, kind: str, *, at_once: int) -> Iterator[list[ObjectChange]]:
    """All of a kind, so many at a time as bounds memory."""
    living = KubeObject.objects.filter(
        cluster_id=cluster_id, kind=kind, deleted_at__isnull=True
    ).order_by("id")
    latest = 0
    while rows := list(living.filter(id__gt=latest)[:at_once]):
        latest = rows[-1].id
        contents = queries.bodies(cluster_id, [row.digest for row in rows])
        yield [_as_changed(row, contents[row.digest]) for row in rows if row.digest in contents]


def _as_changed(row: KubeObject, content: bytes) -> ObjectChange:
    version = Version(row.digest, row.generation)
    event = NewEvent(
        op=Op.RESYNC_MODIFIED,
        kind=row.kind,
        uid=row.uid,
        namespace=row.namespace,
        name=row.name,
        api_version=row.api_version,
        resource_version=row.resource_version,
        digest=row.digest,
        generation=row.generation,
        content=content,
    )
    return ObjectChange(row.id, version, version, event)
