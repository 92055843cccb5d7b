"""What the filters of a list leave out: how many rows there are without any, and which of them leaves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import IntegerField, Model, Value
from django.http import QueryDict

from clusters import registry
from kube.kinds import RESOURCE_SLICE
from ui.parameters import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from ui.listing import Listing
    from ui.lists import Chip
    from ui.snapshot import Snapshot

M = TypeVar("M", bound=Model)
W = TypeVar("W")


def kind_behind(listing: Listing[Any, Any]) -> str:
    """The kind that has to be read so that the list has anything; what has no kind of its own is made of slices."""
    is_kind = registry.watched_kind(listing.subject) is not None
    return listing.subject if is_kind else RESOURCE_SLICE.name


def unfiltered_count(
    listing: Listing[M, W],
    snapshot: Snapshot,
    wanted: W,
    *,
    clusters: Sequence[str],
    count: int,
) -> int | None:
    """Rows without any filter but the cluster, of which `count` match; None where those that match are not among them.

    One query, or none where nothing else is asked for.
    """
    everything = listing.read({"cluster": clusters}).wanted
    if wanted == everything:
        return count
    if _is_of_others(listing, wanted):
        return None
    if listing.count:
        return listing.count(snapshot, everything)
    return listing.query(snapshot, everything).count()


def _is_of_others(listing: Listing[M, W], wanted: W) -> bool:
    """Whether it is asked for rows that a list without filters leaves out, such as pools that have vanished."""
    return any(
        isinstance(each, Flag)
        and each.default is not None
        and getattr(wanted, each.field) != each.default
        for each in listing.parameters
    )


def culprits(
    listing: Listing[M, W], snapshot: Snapshot, chips: Sequence[Chip]
) -> tuple[Chip, ...]:
    """Filters without any one of which something would match; one query for all of them."""
    without = [listing.query(snapshot, _wanted_at(listing, chip.url)) for chip in chips]
    having_rows = _having_rows(without)
    return tuple(chip for place, chip in enumerate(chips) if place in having_rows)


def _wanted_at(listing: Listing[M, W], url: str) -> W:
    query = QueryDict(url.partition("?")[2])
    return listing.read(dict(query.lists())).wanted


def _having_rows(asked: Sequence[QuerySet[Any]]) -> set[int]:
    """Which of these have a row, by their place in the sequence."""
    marked = [
        rows.order_by()
        .annotate(place=Value(place, output_field=IntegerField()))
        .values_list("place", flat=True)[:1]
        for place, rows in enumerate(asked)
    ]
    first, *others = marked
    return set(first.union(*others, all=True))
