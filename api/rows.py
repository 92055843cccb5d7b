"""Rows as shapes. `coverage` says how fresh their clusters are, `links` where this API has them."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert

from api.coverage import Coverage
from api.links import Links
from dra import series, shapes
from pools import models
from pools.choices import counts_of
from pools.queries import History, HistoryPoint, PoolIds, capacity_of
from ui.words import all_words_of, figure_of, reason_of, source_words, words_of


def pool(row: models.Pool, coverage: Coverage, links: Links) -> shapes.Pool:
    fresh = coverage.freshness[row.cluster_id]
    return shapes.Pool(
        id=str(row.id),
        url=links.pool(row.id),
        cluster=fresh.cluster_name,
        cluster_id=str(row.cluster_id),
        driver=row.driver,
        pool=row.name,
        generation=row.generation,
        complete=row.is_complete,
        slices=shapes.SliceCounts(seen=row.slices_seen, expected=row.slices_expected),
        node=row.node_name,
        node_selection=shapes.NodeSelection(
            kind=row.node_kind,  # type: ignore[arg-type]  # one of its choices
            text=row.node_name or row.node_selection,
        ),
        devices=device_counts(row),
        partitions=convert(row.partitions, list[shapes.Partition]),
        capacity=_capacity(row.capacity),
        problems=problems(row.problems),
        vanished_at=row.vanished_at,
        observed_at=fresh.observed_at,
        source=source_words(fresh.resource_versions, fresh.observed_at),
        resource_versions=fresh.resource_versions,
    )


def device_counts(row: models.Pool) -> shapes.DeviceCounts:
    return shapes.DeviceCounts(**counts_of(row))


def device(row: models.Device, coverage: Coverage, links: Links) -> shapes.Device:
    return shapes.Device(**_device_members(row, coverage, links))


def device_with_holders(
    row: models.Device, coverage: Coverage, links: Links, *, holders: Sequence[models.Allocation]
) -> shapes.DeviceDetail:
    fresh = coverage.freshness[row.cluster_id]
    return shapes.DeviceDetail(
        **_device_members(row, coverage, links),
        holders=[allocation(each) for each in holders],
        source=source_words(fresh.resource_versions, fresh.observed_at),
        resource_versions=fresh.resource_versions,
    )


def _device_members(row: models.Device, coverage: Coverage, links: Links) -> dict[str, Any]:
    fresh = coverage.freshness[row.cluster_id]
    return {
        "id": str(row.id),
        "url": links.device(row.id),
        "cluster": fresh.cluster_name,
        "cluster_id": str(row.cluster_id),
        "driver": row.driver,
        "pool": row.pool_name,
        "pool_id": str(row.pool_id),
        "pool_url": links.pool(row.pool_id),
        "device": row.name,
        "node": row.node_name,
        "generation": row.generation,
        "state": row.state,
        "partly_used": row.is_partly_used,
        "attributes": _sorted(row.attributes),
        "capacity": _capacity(capacity_of(row)),
        "taints": convert(row.taints, list[shapes.Taint]),
        "problems": problems(row.problems),
        "slice_id": str(row.slice_object_id),
        "slice_url": None if row.vanished_at else links.resource_slice(row.slice_object_id),
        "vanished_at": row.vanished_at,
        "observed_at": fresh.observed_at,
    }


def allocation(row: models.Allocation) -> shapes.Allocation:
    return shapes.Allocation(
        driver=row.driver,
        pool=row.pool_name,
        device=row.device,
        namespace=row.claim_namespace,
        claim=row.claim_name,
        claim_uid=str(row.claim_uid),
        request=row.request,
        share_id=row.share_id or None,
        admin_access=row.has_admin_access,
        consumed_capacity=_sorted(row.consumed_capacity),
    )


def resource_slice(
    row: models.ResourceSlice, coverage: Coverage, links: Links, *, pool_ids: PoolIds
) -> shapes.ResourceSlice:
    fresh = coverage.freshness[row.cluster_id]
    pool_id = pool_ids.get((row.cluster_id, row.driver, row.pool_name))
    return shapes.ResourceSlice(
        id=str(row.object_id),
        url=links.resource_slice(row.object_id),
        cluster=fresh.cluster_name,
        cluster_id=str(row.cluster_id),
        name=row.name,
        api_version=row.api_version,
        driver=row.driver,
        pool=row.pool_name,
        pool_id=_text_or_null(pool_id),
        pool_url=None if pool_id is None else links.pool(pool_id),
        generation=row.generation,
        resource_slice_count=row.resource_slice_count,
        node=row.node_name,
        node_kind=row.node_kind,  # type: ignore[arg-type]  # one of its choices
        device_count=row.device_count,
        problems=problems(row.problems),
        changed_at=row.since,
        observed_at=fresh.observed_at,
        source=source_words(fresh.resource_versions, fresh.observed_at),
        resource_versions=fresh.resource_versions,
    )


def status_request(
    row: models.PoolStatusRequest, coverage: Coverage, links: Links
) -> shapes.PoolStatusRequest:
    return shapes.PoolStatusRequest(**_status_request_members(row, coverage, links))


def answered_status_request(
    row: models.PoolStatusRequest,
    coverage: Coverage,
    links: Links,
    *,
    answers: Sequence[models.PoolStatusAnswer],
    pool_ids: Mapping[tuple[str, str], int],
) -> shapes.PoolStatusRequestDetail:
    return shapes.PoolStatusRequestDetail(
        **_status_request_members(row, coverage, links),
        pools=[
            _comparison(each, links, pool_id=pool_ids.get((each.driver, each.pool_name)))
            for each in answers
        ],
        answer=row.answer,
    )


def _status_request_members(
    row: models.PoolStatusRequest, coverage: Coverage, links: Links
) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "url": links.status_request(row.pk),
        "cluster": coverage.freshness[row.cluster_id].cluster_name,
        "cluster_id": str(row.cluster_id),
        "name": row.name,
        "driver": row.driver,
        "pool": row.pool_name or None,
        "partition_type_attribute": row.partition_type_attribute or None,
        "outcome": row.outcome,
        "message": all_words_of(row.notes),
        "notes": problems(row.notes),
        "created_at": row.created_at,
        "answered_at": row.answered_at,
        "removed": row.is_removed,
        "pool_count": row.pool_count,
        "pools_answered": row.pools_answered,
        "pools_differing": row.pools_differing,
        "blocked_by": _blockers(row.blocked_by),
    }


def _comparison(
    row: models.PoolStatusAnswer, links: Links, *, pool_id: int | None
) -> shapes.PoolComparison:
    return shapes.PoolComparison(
        pool_id=_text_or_null(pool_id),
        pool_url=None if pool_id is None else links.pool(pool_id),
        driver=row.driver,
        pool=row.pool_name,
        observed_at=row.observed_at,
        server=row.server,
        ours=_our_figures(row.ours),
        differences=None if row.differences is None else _differences(row.differences),
    )


def _our_figures(stored: dict[str, Any] | None) -> shapes.PoolFigures | None:
    if stored is None:
        return None
    problems = [{**each, "message": words_of(each)} for each in stored["problems"]]
    return convert({**stored, "problems": problems}, shapes.PoolFigures)


def _differences(stored: list[Any]) -> list[shapes.Difference]:
    """Of a row that an earlier release stored there is only the sentence."""
    said = [
        {"parameters": {}, **each, "name": figure_of(each), "reason": reason_of(each)}
        for each in stored
    ]
    return convert(said, list[shapes.Difference])


def history(
    row: models.Pool, recorded: History, coverage: Coverage, links: Links
) -> shapes.PoolHistory:
    fresh = coverage.freshness[row.cluster_id]
    return shapes.PoolHistory(
        id=str(row.id),
        url=links.pool(row.id),
        cluster=fresh.cluster_name,
        cluster_id=str(row.cluster_id),
        driver=row.driver,
        pool=row.name,
        start=recorded.start,
        end=recorded.end,
        step_seconds=int(recorded.step.total_seconds()) if recorded.step else None,
        points=[_point(each) for each in recorded.points],
        gaps=[shapes.Span(started_at=each.start, ended_at=each.end) for each in recorded.gaps],
        observed_at=fresh.observed_at,
        source=source_words(fresh.resource_versions, fresh.observed_at),
        resource_versions=fresh.resource_versions,
    )


def _point(point: HistoryPoint) -> shapes.HistoryPoint:
    return shapes.HistoryPoint(
        at=point.at,
        generation=point.generation,
        complete=point.is_complete,
        devices=_figures(point.figures),
        least=_figures(point.least) if point.least else None,
        most=_figures(point.most) if point.most else None,
    )


def _figures(figures: series.Figures) -> shapes.HistoryFigures:
    return shapes.HistoryFigures(**{name: getattr(figures, name) for name in series.FIGURES})


def _capacity(stored: list[Any]) -> list[shapes.Capacity]:
    return convert(stored, list[shapes.Capacity])


def problems(stored: list[Any]) -> list[shapes.Problem]:
    return [
        shapes.Problem(code=each["code"], message=words_of(each), parameters=each["parameters"])
        for each in stored
    ]


def _blockers(stored: list[Any]) -> list[shapes.Blocker]:
    return [
        shapes.Blocker(
            driver=each["driver"],
            pool=each["pool"],
            code=each["code"],
            reason=words_of(each),
            parameters=each["parameters"],
        )
        for each in stored
    ]


def _sorted(members: Mapping[str, Any]) -> dict[str, Any]:
    """In order of name, as the core gives them; jsonb keeps an order of its own."""
    return dict(sorted(members.items()))


def _text_or_null(number: int | None) -> str | None:
    return None if number is None else str(number)
