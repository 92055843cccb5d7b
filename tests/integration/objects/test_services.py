from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from objects import queries
from objects.choices import Op
from objects.models import Body, BodyDictionary, KubeObject, ObjectEvent
from objects.queries import Version
from objects.services import bodies, keeping
from objects.services.log import NewEvent, ObjectChange, record_events, record_missing
from objects.services.partitions import (
    LOG,
    drop_partitions,
    ensure_partitions,
    pack_partitions,
)
from objects.services.staging import as_jsonb, as_long_as_it_takes, open_cursor
from tests.factories.clusters import NOON, watched_cluster
from tests.factories.snapshots import SNAPSHOT
from tests.series import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clusters.models import Cluster

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def cluster() -> Cluster:
    return watched_cluster()


def event(
    name: str = "a", *, op: Op = Op.ADDED, text: str = "1", kind: str = "DeviceClass"
) -> NewEvent:
    content = json.dumps({"metadata": {"name": name}, "spec": {"text": text}}).encode()
    return NewEvent(
        op=op,
        kind=kind,
        uid=uuid.uuid5(uuid.NAMESPACE_OID, name),
        namespace="",
        name=name,
        api_version="resource.k8s.io/v1",
        resource_version=text,
        digest=uuid.uuid5(uuid.NAMESPACE_OID, content.decode()),
        generation=None,
        content=content,
    )


def record(cluster: Cluster, *events: NewEvent, now: datetime = NOON) -> list[ObjectChange]:
    with transaction.atomic(), open_cursor() as cursor:
        return record_events(cursor, cluster.pk, events, now=now)


def log(cluster: Cluster) -> list[tuple[object, ...]]:
    rows = ObjectEvent.objects.filter(cluster=cluster).order_by("at")
    return list(rows.values_list("op", "resource_version"))


def test_record_events_keeps_each_change_of_one_batch_at_its_own_moment(
    cluster: Cluster,
) -> None:
    record(
        cluster,
        event(text="1"),
        event(op=Op.MODIFIED, text="2"),
        event(op=Op.DELETED, text="3"),
        event(op=Op.ADDED, text="4"),
    )

    assert log(cluster) == [
        (Op.ADDED, "1"),
        (Op.MODIFIED, "2"),
        (Op.DELETED, "3"),
        (Op.ADDED, "4"),
    ]
    moments = (
        ObjectEvent.objects.filter(cluster=cluster).order_by("at").values_list("at", flat=True)
    )
    assert list(moments) == [NOON + timedelta(microseconds=n) for n in range(4)]
    stored = KubeObject.objects.get(cluster=cluster)
    assert (stored.resource_version, stored.deleted_at, stored.first_seen_at) == ("4", None, NOON)


def test_record_events_given_twice_stores_once(cluster: Cluster) -> None:
    record(cluster, event())

    again = record(cluster, event(), now=NOON + HOUR)

    assert again == []
    assert log(cluster) == [(Op.ADDED, "1")]


def test_record_events_with_a_clock_set_back_keeps_the_order(cluster: Cluster) -> None:
    record(cluster, event(text="1"))

    record(cluster, event(op=Op.MODIFIED, text="2"), now=NOON - HOUR)

    assert log(cluster) == [(Op.ADDED, "1"), (Op.MODIFIED, "2")]


def test_record_events_deletion_of_what_is_unknown_leaves_no_trace(cluster: Cluster) -> None:
    assert record(cluster, event(op=Op.DELETED)) == []
    assert not KubeObject.objects.exists()


def test_record_events_same_content_of_two_objects_is_one_body(cluster: Cluster) -> None:
    first, second = event("a"), event("b")
    twin = NewEvent(
        **{name: getattr(second, name) for name in ("op", "kind", "uid", "namespace", "name")},
        api_version=first.api_version,
        resource_version="9",
        digest=first.digest,
        generation=None,
        content=first.content,
    )

    record(cluster, first, twin)

    assert Body.objects.filter(cluster=cluster).count() == 1
    assert queries.bodies(cluster.pk, [first.digest]) == {first.digest: first.content}


def test_record_missing_logs_what_a_full_read_did_not_find(cluster: Cluster) -> None:
    record(cluster, event())
    object_id = KubeObject.objects.get(cluster=cluster).id

    with transaction.atomic(), open_cursor() as cursor:
        changed = record_missing(cursor, cluster.pk, [object_id, object_id + 1], now=NOON + HOUR)

    assert [(each.object_id, each.after) for each in changed] == [(object_id, None)]
    assert log(cluster) == [(Op.ADDED, "1"), (Op.RESYNC_DELETED, "1")]


def test_bodies_many_of_one_kind_train_a_dictionary_and_are_read_back(cluster: Cluster) -> None:
    events = [event(f"name-{n}", text=f"a text of some length, {n} of it") for n in range(150)]

    record(cluster, *events)

    dictionary = BodyDictionary.objects.get(cluster=cluster)
    assert (dictionary.kind, dictionary.driver, dictionary.ratio > 1) == ("DeviceClass", "", True)
    assert set(Body.objects.values_list("dictionary_id", flat=True)) == {dictionary.pk}
    expected = {each.digest: each.content for each in events}
    assert queries.bodies(cluster.pk, expected) == expected


def test_renew_dictionaries_trains_for_bodies_that_came_one_by_one(cluster: Cluster) -> None:
    events = [event(f"name-{n}", text=f"a text of some length, {n} of it") for n in range(120)]
    for_each(range(0, 120, 40), lambda start: record(cluster, *events[start : start + 40]))

    made = bodies.renew_dictionaries(cluster.pk, now=NOON)
    made_again = bodies.renew_dictionaries(cluster.pk, now=NOON)

    assert (len(made), made_again) == (1, [])
    record(cluster, event("new", text="a text of some length, new"))
    assert Body.objects.filter(dictionary_id=made[0]).count() == 1


def test_renew_dictionaries_trains_anew_once_there_are_more_bodies_than_at_first(
    cluster: Cluster,
) -> None:
    events = [event(f"name-{n}", text=f"a text of some length, {n} of it") for n in range(160)]
    record(cluster, *events[:110])
    record(cluster, *events[110:])

    made = bodies.renew_dictionaries(cluster.pk, now=NOON)
    made_again = bodies.renew_dictionaries(cluster.pk, now=NOON)

    # All 160 are in the first one, which is less than half as many again as it was trained on.
    assert (len(made), made_again) == (0, [])
    record(cluster, *(event(f"later-{n}", text=f"a text of some length, {n}") for n in range(10)))

    made = bodies.renew_dictionaries(cluster.pk, now=NOON)
    made_again = bodies.renew_dictionaries(cluster.pk, now=NOON)

    assert (len(made), made_again) == (1, [])
    assert BodyDictionary.objects.get(pk=made[0]).sample_count == 170


def test_object_body_puts_the_pool_generation_back(cluster: Cluster) -> None:
    content = b'{"kind":"ResourceSlice","spec":{"driver":"d","pool":{"name":"p"}}}'
    slice_ = NewEvent(
        op=Op.ADDED,
        kind="ResourceSlice",
        uid=uuid.uuid4(),
        namespace="",
        name="s",
        api_version="resource.k8s.io/v1",
        resource_version="1",
        digest=uuid.uuid4(),
        generation=7,
        content=content,
    )
    record(cluster, slice_)
    object_id = KubeObject.objects.get(cluster=cluster).id

    found = queries.object_body(SNAPSHOT, cluster.pk, object_id)

    assert found is not None
    assert json.loads(found[1])["spec"]["pool"] == {"name": "p", "generation": 7}


def test_version_at_is_that_of_the_log_or_else_of_the_checkpoint_before(cluster: Cluster) -> None:
    older, newer = event("a", text="1"), event("a", op=Op.MODIFIED, text="2")
    record(cluster, older, event("b", text="1"))
    written = keeping.write_checkpoint(cluster.pk, "DeviceClass", now=NOON + HOUR)
    record(cluster, newer, now=NOON + 2 * HOUR)
    ObjectEvent.objects.filter(cluster=cluster, at__lt=NOON + HOUR).delete()
    object_id = KubeObject.objects.get(cluster=cluster, name="a").id
    version_at = partial(queries.version_at, cluster.pk, object_id, kind="DeviceClass")

    assert written == 2
    assert version_at(at=NOON) is None
    assert version_at(at=NOON + HOUR) == Version(older.digest, None)
    assert version_at(at=NOON + 2 * HOUR) == Version(newer.digest, None)


@pytest.mark.parametrize(
    ("kind", "age", "events", "is_due"),
    [
        ("ResourceClaim", timedelta(minutes=59), 5, False),
        ("ResourceClaim", timedelta(minutes=61), 5, True),
        ("ResourceClaim", timedelta(minutes=61), 0, False),
        ("DeviceClass", timedelta(hours=23), 5, False),
        ("DeviceClass", timedelta(hours=24), 0, True),
    ],
)
def test_write_checkpoint_is_due_by_events_and_age(
    cluster: Cluster, kind: str, age: timedelta, events: int, is_due: bool
) -> None:
    record(cluster, event("a", kind=kind))
    keeping.write_checkpoint(cluster.pk, kind, now=NOON)
    record(
        cluster,
        *(event("a", kind=kind, op=Op.MODIFIED, text=str(n)) for n in range(2, 2 + events)),
        now=NOON + timedelta(minutes=1),
    )

    written = keeping.write_checkpoint(cluster.pk, kind, now=NOON + age)

    assert written == (1 if is_due else None)


def test_remove_orphans_removes_only_what_nothing_names(cluster: Cluster) -> None:
    old, new = event(text="1"), event(op=Op.MODIFIED, text="2")
    record(cluster, old, new)
    gone = event("gone")
    record(cluster, gone, event("gone", op=Op.DELETED))
    ObjectEvent.objects.filter(cluster=cluster).delete()

    removed = keeping.remove_orphans(
        cluster.pk, gone_before=NOON + HOUR, now=NOON + timedelta(days=31)
    )

    assert removed == (1, 2)
    assert list(Body.objects.filter(cluster=cluster).values_list("digest", flat=True)) == [
        new.digest
    ]


# Nothing compresses it, so only a difference to it is short.
LONG = "".join(uuid.uuid5(uuid.NAMESPACE_OID, str(number)).hex for number in range(40))


def stored(cluster: Cluster) -> dict[uuid.UUID, uuid.UUID | None]:
    """The base of each body that is stored."""
    return dict(Body.objects.filter(cluster=cluster).values_list("digest", "base"))


def test_body_is_kept_as_the_difference_to_what_the_object_was(cluster: Cluster) -> None:
    first, second, third = (event(text=LONG + text) for text in ("1", "2", "3"))
    record(cluster, first)
    record(cluster, second)
    record(cluster, third)

    assert stored(cluster) == {
        first.digest: None,
        second.digest: first.digest,
        third.digest: first.digest,
    }
    assert queries.bodies(cluster.pk, stored(cluster)) == {
        each.digest: each.content for each in (first, second, third)
    }


def test_body_whose_base_is_lost_counts_as_not_stored(cluster: Cluster) -> None:
    first, second = event(text=LONG + "1"), event(text=LONG + "2")
    record(cluster, first)
    record(cluster, second)
    Body.objects.filter(cluster=cluster, digest=first.digest).delete()

    assert queries.bodies(cluster.pk, [second.digest]) == {}


def test_body_that_has_little_of_what_the_object_was_is_kept_whole(cluster: Cluster) -> None:
    first, second = event(text=LONG), event(text=LONG[::-1])
    record(cluster, first)
    record(cluster, second)

    assert stored(cluster) == {first.digest: None, second.digest: None}


def test_body_is_kept_as_the_difference_with_a_dictionary_too(cluster: Cluster) -> None:
    bodies.train_dictionary(
        cluster.pk,
        bodies.Group("DeviceClass", ""),
        [event(f"name-{number}").content for number in range(100)],
        now=NOON,
    )
    first, second = event(text=LONG + "1"), event(text=LONG + "2")
    record(cluster, first)
    record(cluster, second)

    assert stored(cluster) == {first.digest: None, second.digest: first.digest}
    assert queries.bodies(cluster.pk, [second.digest]) == {second.digest: second.content}


def test_bodies_of_many_objects_at_once_are_kept_whole(cluster: Cluster) -> None:
    names = [f"name-{number}" for number in range(201)]
    record(cluster, *(event(name, text=LONG) for name in names))
    record(cluster, *(event(name, text=LONG + "2") for name in names))

    assert set(stored(cluster).values()) == {None}


def test_remove_orphans_keeps_the_base_of_a_difference(cluster: Cluster) -> None:
    first, second = event(text=LONG + "1"), event(text=LONG + "2")
    record(cluster, first)
    record(cluster, second)
    ObjectEvent.objects.filter(cluster=cluster).delete()

    removed = keeping.remove_orphans(
        cluster.pk, gone_before=NOON + HOUR, now=NOON + timedelta(days=31)
    )

    assert removed == (0, 0)
    assert queries.bodies(cluster.pk, [second.digest]) == {second.digest: second.content}


def test_remove_orphans_removes_differences_and_then_their_base(cluster: Cluster) -> None:
    first, second = event(text=LONG + "1"), event(text=LONG + "2")
    record(cluster, first)
    record(cluster, second)
    record(cluster, event(op=Op.DELETED, text="3"))
    ObjectEvent.objects.filter(cluster=cluster).delete()
    later = NOON + timedelta(days=31)

    removed = [keeping.remove_orphans(cluster.pk, gone_before=later, now=later) for _ in range(2)]

    assert removed == [(1, 1), (0, 1)]
    assert stored(cluster) == {}


@pytest.fixture
def far_off(transactional_db: None) -> Iterator[datetime]:
    """A day whose partitions no other test has. They are detached outside of transactions, so nothing takes them back by itself."""
    now = NOON + timedelta(days=3650)
    yield now
    drop_partitions(LOG, before=now + timedelta(days=9))


def test_partitions_are_made_ahead_and_dropped_when_all_of_one_is_too_old(
    far_off: datetime,
) -> None:
    made = ensure_partitions(LOG, now=far_off)
    made_again = ensure_partitions(LOG, now=far_off)
    dropped = drop_partitions(LOG, before=far_off + timedelta(days=1))

    days = ["20361125", "20361126"]
    assert len(made) == 2 * 9
    assert made_again == []
    assert {f"objects_objectevent_p{day}" for day in days} <= set(dropped)
    assert "objects_objectevent_p20361127" not in dropped


def test_drop_partitions_goes_on_where_it_was_stopped(far_off: datetime) -> None:
    ensure_partitions(LOG, now=far_off)
    detach = "ALTER TABLE objects_objectevent DETACH PARTITION objects_objectevent_p20361125"
    with connection.cursor() as cursor:
        cursor.execute(detach)

    dropped = drop_partitions(LOG, before=far_off)

    assert "objects_objectevent_p20361125" in dropped
    assert drop_partitions(LOG, before=far_off) == []


def index_bytes(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_indexes_size(%s::regclass)", [table])
        return int(cursor.fetchone()[0])


def test_pack_partitions_packs_each_day_once_when_it_has_been_over_for_an_hour(
    far_off: datetime,
) -> None:
    ensure_partitions(LOG, now=far_off)
    pack_partitions(LOG, now=far_off)
    midnight = far_off.replace(hour=0) + timedelta(days=1)

    too_early = pack_partitions(LOG, now=midnight + timedelta(minutes=59))
    packed = pack_partitions(LOG, now=midnight + HOUR)
    again = pack_partitions(LOG, now=midnight + HOUR)

    assert too_early == []
    assert packed == ["objects_objectevent_p20361126", "objects_checkpoint_p20361126"]
    assert again == []


def test_pack_partitions_leaves_no_holes_in_indexes_and_all_rows(far_off: datetime) -> None:
    ensure_partitions(LOG, now=far_off)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO objects_objectevent (cluster_id, object_id, at, kind, op, resource_version, digest)"
            " SELECT 1, n * 7919 %% 20011, %s, 6, 1, '1', gen_random_uuid()"
            " FROM generate_series(1, 20000) n",
            [far_off],
        )
    loose = index_bytes("objects_objectevent_p20361126")

    pack_partitions(LOG, now=far_off + timedelta(days=2))

    assert index_bytes("objects_objectevent_p20361126") < 0.9 * loose
    assert ObjectEvent.objects.filter(cluster=1, at=far_off).count() == 20000


@pytest.fixture
def reader(transactional_db: None) -> Iterator[psycopg.Connection[Any]]:
    """Another connection."""
    parameters = connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}
    with psycopg.connect(**parameters) as opened:
        yield opened
    # What the test set on ours goes with it.
    connection.close()


def set_timeouts(*, statement: str, lock: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{lock}'; SET statement_timeout = '{statement}'")


def test_partitions_are_made_while_somebody_reads(
    far_off: datetime, reader: psycopg.Connection[Any]
) -> None:
    reader.execute("SELECT FROM objects_objectevent")
    set_timeouts(statement="2s", lock="400ms")

    made = ensure_partitions(LOG, now=far_off)

    assert len(made) == 2 * 9


def test_pack_partitions_leaves_what_is_being_read_to_the_next_time(
    far_off: datetime, reader: psycopg.Connection[Any]
) -> None:
    ensure_partitions(LOG, now=far_off)
    pack_partitions(LOG, now=far_off)
    midnight = far_off.replace(hour=0) + timedelta(days=1)
    reader.execute("SELECT FROM objects_objectevent")
    set_timeouts(statement="200ms", lock="400ms")

    with as_long_as_it_takes():
        while_read = pack_partitions(LOG, now=midnight + HOUR)
        reader.rollback()
        afterwards = pack_partitions(LOG, now=midnight + HOUR)

    assert while_read == ["objects_checkpoint_p20361126"]
    assert afterwards == ["objects_objectevent_p20361126"]
    assert invalid_indexes() == []


def test_drop_partitions_leaves_what_is_being_read_to_the_next_time(
    far_off: datetime, reader: psycopg.Connection[Any]
) -> None:
    drop_partitions(LOG, before=far_off)
    ensure_partitions(LOG, now=far_off)
    reader.execute("SELECT FROM objects_objectevent")
    set_timeouts(statement="2s", lock="400ms")

    while_read = drop_partitions(LOG, before=far_off)
    reader.rollback()
    afterwards = drop_partitions(LOG, before=far_off)

    assert while_read == ["objects_checkpoint_p20361125"]
    assert afterwards == ["objects_objectevent_p20361125"]


def test_drop_partitions_goes_on_where_one_table_is_being_read(
    far_off: datetime, reader: psycopg.Connection[Any]
) -> None:
    drop_partitions(LOG, before=far_off)
    ensure_partitions(LOG, now=far_off)
    reader.execute("SELECT FROM objects_objectevent")
    set_timeouts(statement="2s", lock="400ms")
    before = far_off + timedelta(days=1)

    while_read = drop_partitions(LOG, before=before)
    reader.rollback()
    afterwards = drop_partitions(LOG, before=before)

    assert while_read == ["objects_checkpoint_p20361125", "objects_checkpoint_p20361126"]
    assert afterwards == ["objects_objectevent_p20361125", "objects_objectevent_p20361126"]


def invalid_indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid")
        return [name for (name,) in cursor.fetchall()]


def test_as_jsonb_replaces_what_postgres_cannot_keep() -> None:
    with open_cursor() as cursor:
        cursor.execute("SELECT %s::jsonb #>> '{}'", (as_jsonb("a\x00b \\u0000"),))
        assert cursor.fetchone() == ("a\ufffdb \\u0000",)


def test_log_row_of_the_same_object_and_moment_is_refused(cluster: Cluster) -> None:
    record(cluster, event())
    row = ObjectEvent.objects.get(cluster=cluster)

    with pytest.raises(IntegrityError), transaction.atomic():
        ObjectEvent(
            cluster=cluster,
            object_id=row.object_id,
            at=row.at,
            kind=row.kind,
            op=Op.MODIFIED,
            resource_version="2",
            digest=row.digest,
        ).save(force_insert=True)


def test_object_of_the_same_uid_is_refused(cluster: Cluster) -> None:
    record(cluster, event())
    row = KubeObject.objects.get(cluster=cluster)

    with pytest.raises(IntegrityError), transaction.atomic():
        KubeObject.objects.create(
            cluster=cluster,
            kind=row.kind,
            uid=row.uid,
            name="another",
            api_version=row.api_version,
            resource_version="2",
            digest=row.digest,
            first_seen_at=NOON,
            changed_at=NOON,
        )
