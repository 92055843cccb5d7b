"""What a list can be filtered by, with counts."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facet:
    """One value that a list can be filtered by, and how many rows have it."""

    value: str
    count: int


def facets_of(counts: Mapping[str, int]) -> list[Facet]:
    """The commonest first."""
    facets = [Facet(value, n) for value, n in counts.items()]
    return sorted(facets, key=lambda facet: (-facet.count, facet.value))
