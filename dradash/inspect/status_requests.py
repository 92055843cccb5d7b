"""ResourcePoolStatusRequests of a dump: what the server answered, beside our figures for the same files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra.compare import Difference, compare_with_server
from dra.fields import Fields
from dra.parsing import Parsed, unidentified
from dra.server import Answer, PoolStatus, StatusRequest, answer_1_36, answer_1_37
from dra.server_json import parse_pool_statuses, parse_status_request, pool_status_json
from dra.shapes import difference_shape
from dra.values import (
    AllocationResult,
    AssessedPool,
    DriverName,
    PoolKey,
    PoolName,
    Problem,
    Release,
    ResourceSlice,
)
from dradash.inspect.shapes import BlockedPool, ComparedPoolShape, ComparedRequestShape

# Releases that answer, each with its own way of counting; the newest first.
ANSWERING = (Release(1, 37), Release(1, 36))


@dataclass(frozen=True, slots=True)
class AskedStatus:
    """One request with its answer; `statuses` None while there is none."""

    name: str
    request: StatusRequest
    created_at: str | None
    statuses: tuple[PoolStatus, ...] | None
    pool_count: int | None
    failure: str | None
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class ComparedPool:
    """One pool of an answer; `differences` None where nothing of it is in the files."""

    status: PoolStatus
    differences: tuple[Difference, ...] | None


@dataclass(frozen=True, slots=True)
class ComparedRequest:
    """One request, and how its answer compares by the rules of `release`."""

    asked: AskedStatus
    release: Release
    pools: tuple[ComparedPool, ...]
    blocked_by: tuple[PoolKey, ...]
    """Why, by the rules of the server, there is no answer."""

    @property
    def outcome(self) -> str:
        """In the words of the REST API."""
        if self.asked.failure is not None:
            return "failed"
        if self.asked.statuses is not None:
            return "answered"
        return "blocked" if self.blocked_by else "pending"

    @property
    def differing(self) -> int:
        """Pools of which at least one figure is another one."""
        return sum(1 for pool in self.pools if pool.differences)


def parse_asked_status(obj: Any, *, api_version: str = "") -> Parsed[AskedStatus]:
    """Read a ResourcePoolStatusRequest."""
    problems: list[Problem] = []
    fields = Fields(obj, path="", problems=problems)
    metadata, status = fields.child("metadata"), fields.child("status")
    request = parse_status_request(fields.raw.get("spec"))
    name = metadata.text("name")
    if request.value is None:
        return Parsed(None, (*problems, *request.problems))
    if not name:
        return unidentified(problems, kind="ResourcePoolStatusRequest", missing="metadata.name")
    answered = parse_pool_statuses(status.raw) if fields.has("status") else Parsed(None)
    asked = AskedStatus(
        name=name,
        request=request.value,
        created_at=metadata.text("creationTimestamp"),
        statuses=answered.value,
        pool_count=status.integer("poolCount"),
        failure=_failure(status),
        resource_version=metadata.text("resourceVersion") or "",
    )
    return Parsed(asked, (*problems, *request.problems, *answered.problems))


def _failure(status: Fields) -> str | None:
    for condition in status.children("conditions"):
        if condition.text("type") == "Failed" and condition.text("status") == "True":
            return condition.text("message") or condition.text("reason") or ""
    return None


def compare_request(
    asked: AskedStatus,
    *,
    pools: Mapping[PoolKey, AssessedPool],
    slices: Sequence[ResourceSlice],
    allocations: Sequence[AllocationResult],
    release: Release | None,
) -> ComparedRequest:
    """Compare by the rules of a release; without one, by those that explain most of what differs."""
    releases = ANSWERING if release is None else (max(release, ANSWERING[-1]),)
    compared = [_compared(asked, pools=pools, release=each) for each in releases]
    best = min(compared, key=_unexplained)
    answer = _ANSWERS[best.release >= ANSWERING[0]]
    blocked_by = answer(slices, allocations, request=asked.request).blocked_by
    is_open = asked.statuses is None and asked.failure is None
    return ComparedRequest(asked, best.release, best.pools, blocked_by if is_open else ())


_ANSWERS: Mapping[bool, Callable[..., Answer]] = {False: answer_1_36, True: answer_1_37}


def _compared(
    asked: AskedStatus, *, pools: Mapping[PoolKey, AssessedPool], release: Release
) -> ComparedRequest:
    compared = []
    for status in asked.statuses or ():
        own = pools.get(PoolKey(DriverName(status.driver), PoolName(status.pool)))
        differences = compare_with_server(own, status, release=release) if own else None
        compared.append(ComparedPool(status, differences))
    return ComparedRequest(asked, release, tuple(compared), ())


def _unexplained(compared: ComparedRequest) -> int:
    return sum(
        not difference.is_explained
        for pool in compared.pools
        for difference in pool.differences or ()
    )


def compared_request_shape(compared: ComparedRequest) -> ComparedRequestShape:
    """In the words of the REST API's pool status requests."""
    asked = compared.asked
    return ComparedRequestShape(
        name=asked.name,
        driver=asked.request.driver,
        pool=asked.request.pool,
        partition_type_attribute=asked.request.default_partition_type_attribute,
        outcome=compared.outcome,
        message=asked.failure or "",
        created_at=asked.created_at,
        pool_count=asked.pool_count,
        pools_answered=None if asked.statuses is None else len(asked.statuses),
        pools_differing=None if asked.statuses is None else compared.differing,
        blocked_by=[BlockedPool(driver=key.driver, pool=key.pool) for key in compared.blocked_by],
        release=f"{compared.release.major}.{compared.release.minor}",
        pools=[_pool_shape(pool) for pool in compared.pools],
    )


def _pool_shape(pool: ComparedPool) -> ComparedPoolShape:
    differences = None
    if pool.differences is not None:
        differences = [difference_shape(each) for each in pool.differences]
    return ComparedPoolShape(
        driver=pool.status.driver,
        pool=pool.status.pool,
        server=pool_status_json(pool.status),
        differences=differences,
    )
