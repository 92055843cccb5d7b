"""Objects of the kinds that are shown by their declaration: a list, and each by itself."""

from typing import Any, ClassVar

from django.db.models import Model
from django.urls import URLPattern, path
from msgspec import Struct

from api import rows
from api.coverage import Coverage
from api.links import Links
from api.views.details import DetailView
from api.views.listing import ListView
from ui.shown_kind import ShownKind
from ui.snapshot import Snapshot

AnyKind = ShownKind[Any, Any]


class ObjectList(ListView[Model]):
    """All of them that are in the cluster and match the filters."""

    kind: ClassVar[AnyKind]

    def shape(self, row: Model, coverage: Coverage, links: Links) -> Struct:
        return self.kind.listing.shape(**_members(self.kind, row, coverage, links))


class ObjectDetail(DetailView):
    """One of them, also one that is no longer in the cluster."""

    kind: ClassVar[AnyKind]

    def find(self, snapshot: Snapshot, number: int) -> Model:
        found: Model = self.kind.one(snapshot, number)
        return found

    def shape(self, row: Model, coverage: Coverage, links: Links) -> Struct:
        members = _members(self.kind, row, coverage, links)
        if self.kind.more:
            members |= self.kind.more(coverage.snapshot, row, links)
        return (self.kind.detail or self.kind.listing.shape)(**members)


def addresses_of(kind: AnyKind) -> list[URLPattern]:
    """Of the list, by the name that is its path, and of one."""
    said: dict[str, Any] = {"kind": kind, "tag": kind.plural}
    of_list = {
        "__doc__": ObjectList.__doc__,
        "operation_id": f"{kind.path.replace('-', '_')}",
        "summary": f"List {kind.plural}",
        "listing": kind.listing,
        "page": kind.page,
    }
    of_one = {
        "__doc__": ObjectDetail.__doc__,
        "operation_id": kind.id,
        "summary": f"Read one {kind.name}",
        "subjects": kind.subjects,
        "answers": {"application/json": kind.detail or kind.listing.shape},
    }
    every: Any = type(f"{kind.name}List", (ObjectList,), said | of_list)
    one: Any = type(f"{kind.name}Detail", (ObjectDetail,), said | of_one)
    return [
        path(f"{kind.path}/", every.as_view(), name=kind.path),
        path(f"{kind.path}/<int:id>/", one.as_view(), name=kind.id.replace("_", "-")),
    ]


def _members(kind: AnyKind, row: Any, coverage: Coverage, links: Links) -> dict[str, Any]:
    fresh = coverage.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "url": links.one(kind.path, row.id),
        "cluster": fresh.cluster_name,
        "cluster_id": str(row.cluster_id),
        "name": row.name,
        "uid": row.uid,
        "created_at": row.created_at,
        "changed_at": row.since,
        "vanished_at": row.vanished_at,
        "observed_at": fresh.read_at.get(kind.name),
        "problems": rows.problems(row.problems),
        **kind.members(row),
    }
