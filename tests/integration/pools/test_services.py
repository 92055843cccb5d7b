from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Count
from zstandard import ZstdCompressor

from clusters import services as cluster_services
from clusters.choices import ReadState
from clusters.models import Cluster, Gap
from dra.values import DriverName, PoolKey, PoolName, Release
from kube.digest import body_digest
from kube.objects import decode_metadata, seen_object
from objects.choices import Op
from objects.models import Body, KubeObject
from objects.services.changes import RowChanges
from objects.services.log import NewEvent, record_events
from objects.services.staging import open_cursor
from pools import queries
from pools.models import (
    Allocation,
    Device,
    DirtyPool,
    Pool,
    PoolHour,
    PoolSample,
    PublishedDevice,
    ResourceSlice,
)
from pools.queries import DeviceFilter
from pools.services import allocations, derive, rollups, slices, taint_rules
from pools.services.derive import Knowledge
from tests.factories import kube
from tests.factories.clusters import NOON, watched_cluster
from tests.factories.snapshots import SNAPSHOT

if TYPE_CHECKING:
    from datetime import datetime

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def cluster() -> Cluster:
    return watched_cluster()


def new_event(obj: dict[str, Any], *, op: Op = Op.ADDED) -> NewEvent:
    name = obj["metadata"]["name"]
    obj["metadata"]["uid"] = str(uuid.uuid5(uuid.NAMESPACE_OID, obj["kind"] + name))
    body = json.dumps(obj, separators=(",", ":")).encode()
    from kube.bodies import decode_envelope

    seen = seen_object(
        body, decode_envelope(body), type_="added", kind=obj["kind"], api_version=obj["apiVersion"]
    )
    assert decode_metadata(json.dumps(obj["metadata"]).encode()).name == name
    digest, generation, content = body_digest(seen)
    return NewEvent(
        op=op,
        kind=obj["kind"],
        uid=uuid.UUID(obj["metadata"]["uid"]),
        namespace=obj["metadata"].get("namespace", ""),
        name=name,
        api_version=obj["apiVersion"],
        resource_version="1",
        digest=uuid.UUID(bytes=digest),
        generation=generation,
        content=content,
    )


def store(
    cluster: Cluster,
    *objects: dict[str, Any],
    now: datetime = NOON,
    op: Op = Op.ADDED,
    are_claims_known: bool = True,
) -> None:
    """Log objects and derive what they touch, as the collection does."""
    with transaction.atomic(), open_cursor() as cursor:
        events = [new_event(obj, op=op) for obj in objects]
        moved = record_events(cursor, cluster.pk, events, now=now)
        by_kind = {
            kind: [each for each in moved if each.event.kind == kind]
            for kind in ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
        }
        changes = RowChanges(cluster.pk)
        dirty = slices.record_slices(
            cursor, cluster.pk, by_kind["ResourceSlice"], now=now, changes=changes
        )
        dirty |= allocations.record_claims(
            cursor, cluster.pk, by_kind["ResourceClaim"], now=now, changes=changes
        )
        rules = by_kind["DeviceTaintRule"]
        dirty |= taint_rules.record_taint_rules(
            cursor, cluster.pk, rules, now=now, changes=changes
        )
        knowledge = Knowledge(
            are_claims_known, taint_rules.taint_rules(cluster.pk), Release(1, 37)
        )
        derive.derive_pools(cursor, cluster.pk, dirty, knowledge, now=now, changes=changes)
        changes.hand_over(cursor)


def figures(name: str = "node-1") -> tuple[object, ...]:
    pool = Pool.objects.get(name=name)
    return (pool.devices_total, pool.devices_allocated, pool.devices_available)


def test_derive_writes_pool_slice_and_devices(cluster: Cluster) -> None:
    device = {
        "name": "gpu-0",
        "attributes": {"model": {"string": "x"}, "index": {"int": 3}},
        "capacity": {"memory": {"value": "40Gi"}, "cores": {"value": "1500m"}},
    }

    store(cluster, kube.resource_slice("slice-a", devices=[device]))

    pool, row, stored = Pool.objects.get(), ResourceSlice.objects.get(), Device.objects.get()
    assert (pool.node_kind, pool.node_name, pool.slices_seen, pool.slices_expected) == (
        "node",
        "node-1",
        1,
        1,
    )
    assert (row.object_id, row.device_count, row.pool_name) == (
        stored.slice_object_id,
        1,
        "node-1",
    )
    assert stored.attributes == {"model": "x", "index": 3}
    assert stored.capacity_numbers == {"memory": 40 * 2**30, "cores": 1.5}
    assert (stored.state, stored.pool_id) == ("available", pool.id)


def test_derive_again_rewrites_nothing(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"))
    before = list(Device.objects.order_by("id").values_list("id", "since"))

    with transaction.atomic(), open_cursor() as cursor:
        keys = [PoolKey(DriverName(kube.DRIVER), PoolName("node-1"))]
        knowledge = Knowledge(True, (), Release(1, 37))
        derive.derive_pools(
            cursor, cluster.pk, keys, knowledge, now=NOON + HOUR, changes=RowChanges(cluster.pk)
        )

    assert list(Device.objects.order_by("id").values_list("id", "since")) == before
    assert Pool.objects.get().since == NOON
    assert PoolSample.objects.filter(cluster=cluster).count() == 1


def test_allocation_touches_the_use_of_its_device_and_nothing_else(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=3))
    before = uses()

    store(cluster, kube.resource_claim("claim", holds=["gpu-1"]), now=NOON + MINUTE)

    published, used = uses()
    assert published == before[0]
    assert used - before[1] == {row for row in used if row[0] == "gpu-1"}


def uses() -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Where the rows of each device are, and who has locked them last: a lock is a change of its page."""
    with open_cursor() as cursor:
        cursor.execute("SELECT name, ctid::text, xmax::text FROM pools_publisheddevice")
        published = set(cursor.fetchall())
        cursor.execute(
            "SELECT name, u.ctid::text, u.xmax::text"
            " FROM pools_deviceuse u JOIN pools_publisheddevice d ON d.id = u.device_id"
        )
        return published, set(cursor.fetchall())


def test_taint_of_a_rule_is_no_part_of_what_a_device_publishes(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=1))

    store(
        cluster,
        kube.taint_rule("rule", selector={"pool": "node-1"}),
        now=NOON + MINUTE,
    )

    device = Device.objects.get()
    assert [taint["rule"] for taint in device.taints] == ["rule"]
    assert (device.state, device.since) == ("unavailable", NOON + MINUTE)
    published = PublishedDevice.objects.get()
    assert (published.taints, published.since) == ([], NOON)


def test_roll_out_that_changes_the_generation_alone_touches_no_device(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", generation=1))
    before = uses()

    newer = kube.resource_slice("slice-a", generation=2)
    store(cluster, newer, now=NOON + MINUTE, op=Op.MODIFIED)

    assert uses() == before
    assert set(Device.objects.values_list("generation", flat=True)) == {2}


def test_devices_of_a_pool_that_comes_back_keep_their_ids(cluster: Cluster) -> None:
    slice_ = kube.resource_slice("slice-a")
    store(cluster, slice_)
    ids = dict(Device.objects.values_list("name", "id"))
    store(cluster, slice_, now=NOON + MINUTE, op=Op.DELETED)
    meanwhile = list(Device.objects.values_list("name", "id"))
    gone = {row.name: (row.id, row.vanished_at) for row in Device.known.all()}

    store(cluster, slice_, now=NOON + 2 * MINUTE)

    assert meanwhile == []
    assert gone == {name: (id_, NOON + MINUTE) for name, id_ in ids.items()}
    assert dict(Device.objects.values_list("name", "id")) == ids


def test_device_that_is_published_no_more_goes_and_the_others_keep_their_ids(
    cluster: Cluster,
) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=3))
    ids = dict(Device.objects.values_list("name", "id"))

    store(cluster, kube.resource_slice("slice-a", devices=2), now=NOON + MINUTE, op=Op.MODIFIED)

    del ids["gpu-2"]
    assert dict(Device.objects.values_list("name", "id")) == ids


def test_slice_that_moves_to_another_pool_leaves_the_old_one_vanished(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", pool="node-1"))

    moved = kube.resource_slice("slice-a", pool="node-2")
    store(cluster, moved, now=NOON + MINUTE, op=Op.MODIFIED)

    old = Pool.objects.get(name="node-1")
    assert (old.vanished_at, figures("node-1")) == (NOON + MINUTE, (None, None, None))
    assert figures("node-2") == (2, 0, 2)
    assert set(Device.objects.values_list("pool_name", flat=True)) == {"node-2"}


def test_pool_that_comes_back_keeps_its_id_and_has_samples_of_both_times(cluster: Cluster) -> None:
    slice_ = kube.resource_slice("slice-a")
    store(cluster, slice_)
    pool_id = Pool.objects.get().id
    store(cluster, slice_, now=NOON + MINUTE, op=Op.DELETED)

    store(cluster, slice_, now=NOON + 2 * MINUTE)

    pool = Pool.objects.get()
    assert (pool.id, pool.vanished_at, pool.first_seen_at) == (pool_id, None, NOON)
    samples = PoolSample.objects.filter(cluster=cluster).order_by("at")
    assert list(samples.values_list("total", "has_vanished")) == [
        (2, False),
        (None, True),
        (2, False),
    ]


def test_claims_that_are_not_known_leave_figures_unknown(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"), are_claims_known=False)

    assert figures() == (2, None, None)
    assert set(Device.objects.values_list("state", flat=True)) == {"unknown"}


def test_claim_that_changes_devices_touches_both_pools(cluster: Cluster) -> None:
    store(
        cluster,
        kube.resource_slice("slice-a", pool="node-1"),
        kube.resource_slice("slice-b", pool="node-2"),
        kube.resource_claim("claim", holds=["gpu-0"], pool="node-1"),
    )
    first = (figures("node-1"), figures("node-2"))

    store(
        cluster,
        kube.resource_claim("claim", holds=["gpu-0", "gpu-1"], pool="node-2"),
        now=NOON + MINUTE,
        op=Op.MODIFIED,
    )

    assert first == ((2, 1, 1), (2, 0, 2))
    assert (figures("node-1"), figures("node-2")) == ((2, 0, 2), (2, 2, 0))
    assert Allocation.objects.count() == 2


def test_allocation_keeps_its_row_while_it_is_as_it_was(cluster: Cluster) -> None:
    store(cluster, kube.resource_claim("claim", holds=["gpu-0"]))
    first = Allocation.objects.get()

    store(
        cluster,
        kube.resource_claim("claim", holds=["gpu-0", "gpu-1"]),
        now=NOON + MINUTE,
        op=Op.MODIFIED,
    )

    assert dict(Allocation.objects.values_list("device", "since")) == {
        "gpu-0": NOON,
        "gpu-1": NOON + MINUTE,
    }
    assert Allocation.objects.get(device="gpu-0").id == first.id


def test_taint_rule_touches_the_pools_it_selects_now_and_selected_before(cluster: Cluster) -> None:
    store(
        cluster,
        kube.resource_slice("slice-a", pool="node-1"),
        kube.resource_slice("slice-b", pool="node-2"),
        kube.taint_rule("rule", selector={"pool": "node-1"}),
    )
    first = (figures("node-1"), figures("node-2"))

    store(
        cluster,
        kube.taint_rule("rule", selector={"pool": "node-2"}),
        now=NOON + MINUTE,
        op=Op.MODIFIED,
    )

    assert first == ((2, 0, 0), (2, 0, 2))
    assert (figures("node-1"), figures("node-2")) == ((2, 0, 2), (2, 0, 0))


def test_hostile_text_is_stored_as_far_as_postgres_can(cluster: Cluster) -> None:
    device = {"name": "gpu-0", "attributes": {"a": {"string": "x\x00y\"'<b>\\u0000"}}}

    store(cluster, kube.resource_slice("slice-a", devices=[device]))

    assert Device.objects.get().attributes == {"a": "x\ufffdy\"'<b>\\u0000"}


def test_device_name_that_is_published_twice_is_one_row_and_a_problem(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=[{"name": "gpu-0"}, {"name": "gpu-0"}]))

    pool = Pool.objects.get()
    assert (Device.objects.count(), pool.is_valid, pool.devices_total) == (1, False, None)
    assert pool.severity == 3


def test_slice_without_a_pool_is_logged_and_belongs_to_none(cluster: Cluster) -> None:
    broken = kube.resource_slice("slice-a")
    del broken["spec"]["pool"]["name"]

    store(cluster, broken)

    assert (ResourceSlice.objects.count(), Pool.objects.count()) == (0, 0)


def test_slice_with_a_count_of_the_wrong_type_is_read_as_far_as_it_goes(cluster: Cluster) -> None:
    broken = kube.resource_slice("slice-a")
    broken["spec"]["pool"]["resourceSliceCount"] = "many"

    store(cluster, broken)

    row = ResourceSlice.objects.get()
    assert (row.pool_name, row.resource_slice_count) == ("node-1", None)
    assert [problem["code"] for problem in row.problems] == ["unreadable_field"]


def test_pool_that_postgres_refuses_keeps_its_figures_and_the_others_are_stored(
    cluster: Cluster,
) -> None:
    store(cluster, kube.resource_slice("slice-a", pool="node-1"))
    too_long = "".join(str(uuid.UUID(int=n << 60 | n * 7919)) for n in range(400))

    store(
        cluster,
        kube.resource_slice("slice-a", pool="node-1", devices=[{"name": too_long}]),
        kube.resource_slice("slice-b", pool="node-2"),
        now=NOON + MINUTE,
        op=Op.MODIFIED,
    )

    assert (figures("node-1"), figures("node-2")) == ((2, 0, 2), (2, 0, 2))
    assert Pool.objects.get(name="node-1").problem_codes == ["figures_not_stored"]


def test_pool_of_a_slice_that_is_no_json_keeps_its_figures_and_the_others_are_stored(
    cluster: Cluster,
) -> None:
    store(cluster, kube.resource_slice("slice-a", pool="node-1"))
    no_number = b'{"spec":{"driver":"gpu.example.com","pool":{"name":"node-1"},"devices":1e400}}'
    bodies = Body.objects.filter(digest=ResourceSlice.objects.get().digest)
    bodies.update(content=ZstdCompressor().compress(no_number))

    store(
        cluster,
        kube.resource_claim("claim-a", holds=["gpu-0"], pool="node-1"),
        kube.resource_slice("slice-b", pool="node-2"),
        now=NOON + MINUTE,
    )

    assert (figures("node-1"), figures("node-2")) == ((2, 0, 2), (2, 0, 2))
    assert Pool.objects.get(name="node-1").problem_codes == ["figures_not_stored"]


def test_pool_of_a_slice_whose_body_is_lost_keeps_its_figures_and_the_others_are_stored(
    cluster: Cluster,
) -> None:
    store(cluster, kube.resource_slice("slice-a", pool="node-1"))
    Body.objects.filter(digest=ResourceSlice.objects.get().digest).delete()

    store(
        cluster,
        kube.resource_claim("claim-a", holds=["gpu-0"], pool="node-1"),
        kube.resource_slice("slice-b", pool="node-2"),
        now=NOON + MINUTE,
    )

    assert (figures("node-1"), figures("node-2")) == ((2, 0, 2), (2, 0, 2))
    assert Pool.objects.get(name="node-1").problem_codes == ["figures_not_stored"]


def test_device_is_not_free_when_a_taint_rule_cannot_be_read(cluster: Cluster) -> None:
    store(
        cluster,
        kube.taint_rule("rule-a", selector={"pool": "node-1"}),
        kube.taint_rule("rule-b", selector={"pool": "elsewhere"}),
    )
    Body.objects.filter(digest=KubeObject.objects.get(name="rule-a").digest).delete()

    store(cluster, kube.resource_slice("slice-a"), now=NOON + MINUTE)

    assert figures() == (2, 0, None)
    assert set(Device.objects.values_list("state", flat=True)) == {"unknown"}


def test_pool_of_two_devices_that_are_one_once_stored_keeps_its_figures(cluster: Cluster) -> None:
    model = {"attributes": {"model": {"string": "x"}}}
    store(cluster, kube.resource_slice("slice-a", devices=[{"name": "gpu\ufffd"}]))

    store(
        cluster,
        kube.resource_slice(
            "slice-a", devices=[{"name": "gpu\0", **model}, {"name": "gpu\ufffd", **model}]
        ),
        now=NOON + MINUTE,
        op=Op.MODIFIED,
    )

    assert figures() == (1, 0, 1)
    assert Pool.objects.get().problem_codes == ["figures_not_stored"]


def test_pools_that_were_marked_are_taken_once(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"))

    with transaction.atomic(), open_cursor() as cursor:
        derive.mark_all_dirty(cursor, cluster.pk)
        derive.mark_all_dirty(cursor, cluster.pk)
        marked = DirtyPool.objects.count()
        taken = derive.take_dirty(cursor, cluster.pk, limit=10)
        again = derive.take_dirty(cursor, cluster.pk, limit=10)

    assert (marked, taken, again) == (
        1,
        [PoolKey(DriverName(kube.DRIVER), PoolName("node-1"))],
        [],
    )


def raised(cluster: Cluster) -> int:
    """How often the revision of pools has risen, which `store` leaves alone."""
    return sum(cluster.revisions.filter(subject="Pool").values_list("number", flat=True))


def hours(cluster: Cluster) -> list[tuple[object, ...]]:
    rows = PoolHour.objects.filter(cluster=cluster).order_by("hour")
    return list(rows.values_list("hour", "known_seconds", "least", "most", "mean"))


def note_read(cluster: Cluster, *, until: datetime) -> None:
    cluster.kinds.update(last_synced_at=until)


def test_roll_up_weighs_by_time_and_counts_gaps_as_not_known(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=4))
    store(cluster, kube.resource_claim("c", holds=["gpu-0", "gpu-1"]), now=NOON + 30 * MINUTE)
    Gap.objects.create(
        cluster=cluster,
        kind="ResourceClaim",
        started_at=NOON + 45 * MINUTE,
        ended_at=NOON + 50 * MINUTE,
        reason="relist",
    )

    note_read(cluster, until=NOON + 2 * HOUR + 3 * MINUTE)

    written = rollups.roll_up(cluster.pk, now=NOON + 2 * HOUR + 3 * MINUTE)
    again = rollups.roll_up(cluster.pk, now=NOON + 2 * HOUR + 3 * MINUTE)

    assert (written, again) == (2, 0)
    assert raised(cluster) == 2
    # 30 min with 4 available, 25 min with 2: 3.09; the gap counts for nothing.
    mean = (30 * 4 + 25 * 2) / 55
    assert hours(cluster) == [
        (
            NOON,
            55 * 60,
            [4, 0, 0, 0, 0, 2],
            [4, 2, 0, 0, 0, 4],
            [4, pytest.approx(4 - mean), 0, 0, 0, pytest.approx(mean)],
        ),
        (NOON + HOUR, 3600, [4, 2, 0, 0, 0, 2], [4, 2, 0, 0, 0, 2], [4, 2, 0, 0, 0, 2]),
    ]


def test_roll_up_of_unknown_figures_is_null_and_never_zero(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"), are_claims_known=False)
    note_read(cluster, until=NOON + HOUR + 3 * MINUTE)

    rollups.roll_up(cluster.pk, now=NOON + HOUR + 3 * MINUTE)

    hour = PoolHour.objects.get(cluster=cluster)
    assert (hour.known_seconds, hour.least) == (3600, [2, None, None, None, None, None])
    assert hour.mean == hour.least


def test_roll_up_leaves_hours_of_a_pause_until_it_is_known_what_they_were(
    cluster: Cluster,
) -> None:
    store(cluster, kube.resource_slice("slice-a"))
    note_read(cluster, until=NOON + 90 * MINUTE)
    cluster.kinds.filter(kind="DeviceTaintRule").update(
        state=ReadState.NOT_SERVED, last_synced_at=None
    )
    cluster.kinds.filter(kind="ResourceSlice").update(
        state=ReadState.WATCHING, resource_version="7"
    )
    cluster_services.pause_cluster(cluster.pk)

    while_paused = rollups.roll_up(cluster.pk, now=NOON + 9 * HOUR)
    cluster_services.resume_cluster(cluster.pk, now=NOON + 9 * HOUR)
    cluster_services.close_gaps(cluster.pk, ["ResourceSlice"], now=NOON + 9 * HOUR)
    note_read(cluster, until=NOON + 11 * HOUR)
    rollups.roll_up(cluster.pk, now=NOON + 10 * HOUR + 3 * MINUTE)

    assert while_paused == 1
    assert [(hour, seconds) for hour, seconds, *_ in hours(cluster)] == [
        (NOON, 3600),
        (NOON + HOUR, 1800),
        (NOON + 9 * HOUR, 3600),
    ]


def test_roll_up_leaps_over_hours_in_which_nothing_can_be_known(cluster: Cluster) -> None:
    slice_ = kube.resource_slice("slice-a")
    store(cluster, slice_)
    store(cluster, slice_, now=NOON + 30 * MINUTE, op=Op.DELETED)
    note_read(cluster, until=NOON + 5 * DAY)

    empty = rollups.roll_up(cluster.pk, now=NOON + 5 * DAY)
    store(cluster, slice_, now=NOON + 5 * DAY)
    note_read(cluster, until=NOON + 5 * DAY + 2 * HOUR)
    back = rollups.roll_up(cluster.pk, now=NOON + 5 * DAY + HOUR + 3 * MINUTE)

    assert (empty, back) == (2, 2)
    assert [(hour, seconds) for hour, seconds, *_ in hours(cluster)] == [
        (NOON, 1800),
        (NOON + 5 * DAY, 3600),
    ]


def test_renew_samples_once_a_day_of_pools_that_never_change(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"))

    early = rollups.renew_samples(cluster.pk, now=NOON + 23 * HOUR)
    late = rollups.renew_samples(cluster.pk, now=NOON + 25 * HOUR)

    assert (early, late) == (0, 1)
    assert raised(cluster) == 1
    samples = PoolSample.objects.filter(cluster=cluster).order_by("at")
    assert list(samples.values_list("at", "total")) == [(NOON, 2), (NOON + 25 * HOUR, 2)]


def test_pool_whose_counts_do_not_add_up_is_refused(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"))

    with pytest.raises(IntegrityError), transaction.atomic():
        Pool.objects.update(devices_allocated=1)


def test_pool_with_a_negative_count_is_refused(cluster: Cluster) -> None:
    store(cluster, kube.resource_slice("slice-a"))

    with pytest.raises(IntegrityError), transaction.atomic():
        Pool.objects.update(devices_seen=-1)


@pytest.mark.parametrize("model", [Pool, PublishedDevice])
def test_second_row_of_the_same_name_is_refused(
    cluster: Cluster, model: type[Pool] | type[PublishedDevice]
) -> None:
    store(cluster, kube.resource_slice("slice-a", devices=1))
    row = model.objects.get()
    row.id = row.id + 1_000_000
    row.pk = (cluster.pk, row.id)

    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


CEL = {"deviceClassName": "gpu"}


@pytest.mark.parametrize("are_claims_known", [True, False])
def test_facets_from_figures_of_pools_are_those_of_their_devices(
    cluster: Cluster, are_claims_known: bool
) -> None:
    """A pool that is whole, one that is not, one with a tainted device, and one with a rule that cannot be evaluated."""
    store(
        cluster,
        kube.resource_slice("a", pool="whole", devices=3),
        kube.resource_slice("b", pool="half", devices=2, count=2),
        kube.resource_slice("c", pool="tainted", devices=2),
        kube.resource_slice("d", pool="unsure", devices=3, driver="other.example.com"),
        kube.taint_rule("rule", selector={"pool": "tainted", "device": "gpu-1"}),
        kube.taint_rule("cel", selector={"driver": "other.example.com", **CEL}),
        kube.resource_claim("one", holds=["gpu-0"], pool="whole"),
        kube.resource_claim("two", holds=["gpu-0"], pool="half"),
        are_claims_known=are_claims_known,
    )

    found = queries.device_facets(SNAPSHOT, DeviceFilter())

    rows = Device.objects.order_by()
    states = dict(rows.values_list("state").annotate(n=Count("*")))
    drivers = dict(rows.values_list("driver").annotate(n=Count("*")))
    assert {facet.value: facet.count for facet in found["state"]} == states
    assert {facet.value: facet.count for facet in found["driver"]} == drivers
    assert queries.device_count(SNAPSHOT, DeviceFilter()) == 10
    asked = DeviceFilter(states=("unknown",), pools=("half",))
    assert queries.device_count(SNAPSHOT, asked) == (1 if are_claims_known else 2)
