"""What `--format json` prints beside pools and devices: counters, claims, compared requests, and problems with their place."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from dra import shapes
from dra.values import AllocationResult, AssessedPool, DeviceKey, Problem, ResourceClaim


class InspectedCounter(Struct, frozen=True, kw_only=True):
    """A shared counter of a pool."""

    driver: str
    pool: str
    counter_set: str
    name: str
    total: str
    left: str | None


class InspectedAllocation(shapes.Allocation, frozen=True, kw_only=True):
    """An allocation result; `published` is null where no slices were given."""

    published: bool | None


class ReservedFor(Struct, frozen=True, kw_only=True):
    """Who a claim is reserved for."""

    api_group: str
    resource: str
    name: str
    uid: str


class InspectedClaim(Struct, frozen=True, kw_only=True):
    """A ResourceClaim."""

    namespace: str
    claim: str
    claim_uid: str
    allocated: bool
    allocations: Sequence[InspectedAllocation]
    reserved_for: Sequence[ReservedFor]
    deleted_at: str | None


class PlacedProblemShape(shapes.Problem, frozen=True, kw_only=True):
    """A problem, and the file and line that it is about."""

    place: str | None


class BlockedPool(Struct, frozen=True, kw_only=True):
    """A pool that keeps the server from answering."""

    driver: str
    pool: str


class ComparedPoolShape(Struct, frozen=True, kw_only=True):
    """One pool of an answer; `differences` null where nothing of it is in the files."""

    driver: str
    pool: str
    server: Mapping[str, Any]
    differences: Sequence[shapes.Difference] | None


class ComparedRequestShape(Struct, frozen=True, kw_only=True):
    """A pool status request, and how its answer compares by the rules of `release`."""

    name: str
    driver: str
    pool: str | None
    partition_type_attribute: str | None
    outcome: str
    message: str
    created_at: str | None
    pool_count: int | None
    pools_answered: int | None
    pools_differing: int | None
    blocked_by: Sequence[BlockedPool]
    release: str
    pools: Sequence[ComparedPoolShape]


def inspected_counters(pool: AssessedPool) -> Iterator[InspectedCounter]:
    """The shared counters of a pool."""
    for counter in shapes.counters_shape(pool.counters):
        yield InspectedCounter(
            driver=pool.key.driver,
            pool=pool.key.pool,
            counter_set=counter.counter_set,
            name=counter.name,
            total=counter.total,
            left=counter.left,
        )


def inspected_claim(
    claim: ResourceClaim, *, published: Collection[DeviceKey] | None
) -> InspectedClaim:
    """A claim; `published` None where it is not known what is."""
    return InspectedClaim(
        namespace=claim.ref.namespace,
        claim=claim.ref.name,
        claim_uid=claim.ref.uid,
        allocated=claim.is_allocated,
        allocations=[_allocation(result, published=published) for result in claim.results],
        reserved_for=[
            ReservedFor(
                api_group=each.api_group, resource=each.resource, name=each.name, uid=each.uid
            )
            for each in claim.reserved_for
        ],
        deleted_at=claim.deletion_timestamp,
    )


def placed_problem(problem: Problem, *, place: str | None) -> PlacedProblemShape:
    """A problem with its words; `place` None when it is about all of the files."""
    (shape,) = shapes.problems_shape([problem])
    return PlacedProblemShape(**structs.asdict(shape), place=place)


def _allocation(
    result: AllocationResult, *, published: Collection[DeviceKey] | None
) -> InspectedAllocation:
    shape = shapes.allocation_shape(result)
    return InspectedAllocation(
        **structs.asdict(shape),
        published=None if published is None else result.key in published,
    )
