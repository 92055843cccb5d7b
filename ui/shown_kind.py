"""Objects of one kind as pages and the API show them: a list, one of them by itself, and their addresses (docs/adding-a-kind.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from django.db.models import Manager, Model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.utils.functional import Promise
    from msgspec import Struct

    from ui.listing import Listing
    from ui.snapshot import Snapshot

M = TypeVar("M", bound=Model)
W = TypeVar("W")


class Addresses(Protocol):
    """Where the API has things."""

    def one(self, name: str, number: int) -> str:
        """One thing of the list that has this name among the URLs of the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKind(Generic[M, W]):
    """One kind, by its list. Its rows have what `dra.shapes.objects.NamedObject` tells, by the names of `pools.models.DeviceClass`."""

    listing: Listing[M, W]
    rows: Manager[M]
    path: str
    """Where its list is, among the pages and in the API: "device-classes"."""
    id: str
    """Begins the names of its addresses: "device_class"."""
    noun: Promise | str
    """One of them, in words: "device class"."""
    plural: str
    """As Kubernetes writes it, for the reference of the API: "DeviceClasses"."""
    members: Callable[[M], Mapping[str, Any]]
    """From a row to those members of the shape that only this kind has."""
    page: type[Struct]
    """The shape of a page of the list."""
    detail: type[Struct] | None = None
    """The shape of one by itself; None: that of the list."""
    more: Callable[[Snapshot, M, Addresses], Mapping[str, Any]] | None = None
    """The members that `detail` has beside those of the list."""

    @property
    def name(self) -> str:
        """The kind."""
        return self.listing.subject

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whose revisions tell whether something of it has changed."""
        return (self.listing.subject, *self.listing.also_subjects)

    def one(self, snapshot: Snapshot, number: int) -> M:
        """One of them, also one that is gone; raises ObjectDoesNotExist."""
        del snapshot  # whose moment the connection answers for
        return self.rows.get(id=number)
