from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from clusters import services
from clusters.choices import PoolStatusMode, Reach, Source
from clusters.models import Cluster, ClusterKind, Gap
from clusters.services import KindFailure
from dra.catalogue import Statement
from kube.identity import Identity
from kube.targets import Target
from tests.factories.clusters import NOON, revisions, watched_cluster

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def kind(cluster: Cluster, name: str = "ResourceSlice") -> ClusterKind:
    return ClusterKind.objects.get(cluster=cluster, kind=name)


def read_once(cluster: Cluster) -> ClusterKind:
    row = kind(cluster)
    services.end_reading(
        row, resource_version="10", count=1, api_version="v1", has_changed=True, now=NOON
    )
    return row


def gaps(cluster: Cluster) -> list[tuple[object, ...]]:
    rows = Gap.objects.filter(cluster=cluster).order_by("started_at")
    return list(rows.values_list("started_at", "ended_at", "reason"))


def test_ensure_clusters_again_changes_nothing() -> None:
    first = watched_cluster()
    before = revisions(first)

    second = watched_cluster()

    assert (second.pk, revisions(second)) == (first.pk, before)
    assert ClusterKind.objects.filter(cluster=first).count() == 5


def test_ensure_clusters_adds_a_kind_that_is_new_to_a_cluster_that_was_watched_before() -> None:
    cluster = watched_cluster()
    kind(cluster, "Node").delete()

    watched_cluster()

    assert kind(cluster, "Node").state == "waiting"


def test_ensure_clusters_no_longer_watches_what_is_not_named() -> None:
    one = watched_cluster("one")

    two = watched_cluster("two")

    assert dict(Cluster.objects.values_list("name", "is_watched")) == {"one": False, "two": True}
    assert (revisions(one), revisions(two)) == ({"Cluster": 1}, {})
    assert two.is_watched


def test_ensure_clusters_follows_an_address_that_has_moved() -> None:
    watched_cluster()
    moved = services.WatchedCluster(
        "one", Source.SIMULATED, Target("url", url="http://127.0.0.1:2")
    )

    services.ensure_clusters([moved], now=NOON)

    cluster = Cluster.objects.get()
    assert (cluster.url, services.target_of(cluster)) == (moved.target.url, moved.target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (Source.KUBECONFIG, Target("kubeconfig", path="/a/b", context="c")),
        (Source.KUBECONFIG, Target("kubeconfig")),
        (Source.IN_CLUSTER, Target("in_cluster")),
    ],
)
def test_target_of_is_what_the_cluster_was_made_with(source: Source, target: Target) -> None:
    cluster = services.ensure_clusters([services.WatchedCluster("x", source, target)], now=NOON)[0]

    assert services.target_of(cluster) == target


def test_pause_and_mode_raise_the_revision_only_when_they_change_something() -> None:
    cluster = watched_cluster()

    services.pause_cluster(cluster.pk)
    services.pause_cluster(cluster.pk)
    services.set_pool_status_mode(cluster.pk, PoolStatusMode.ON)

    cluster.refresh_from_db()
    assert (cluster.is_paused, cluster.pool_status_mode) == (True, "on")
    assert revisions(cluster) == {"Cluster": 2}


def test_record_reach_again_writes_nothing() -> None:
    cluster = watched_cluster()
    services.record_reach(cluster.pk, Reach.OK, failure=None, now=NOON)

    services.record_reach(cluster.pk, Reach.OK, failure=None, now=NOON + MINUTE)

    cluster.refresh_from_db()
    assert (cluster.reach_changed_at, revisions(cluster)) == (NOON, {"Cluster": 1})


def test_failure_opens_a_gap_from_the_latest_moment_known_and_recovery_closes_it() -> None:
    cluster = watched_cluster()
    row = read_once(cluster)

    services.record_failure(
        row,
        KindFailure("unreachable", Statement.of("server_said", text="gone")),
        now=NOON + MINUTE,
    )
    services.record_failure(
        row,
        KindFailure("timeout", Statement.of("server_said", text="slow")),
        now=NOON + 2 * MINUTE,
    )
    failing = kind(cluster)
    services.record_current(cluster.pk, {row.kind: row.resource_version}, now=NOON + 3 * MINUTE)
    services.close_gaps(cluster.pk, [row.kind], now=NOON + 3 * MINUTE)

    assert gaps(cluster) == [(NOON, NOON + 3 * MINUTE, "api_unreachable")]
    assert (failing.state, failing.failures, failing.failing_since) == (
        "failing",
        2,
        NOON + MINUTE,
    )
    row.refresh_from_db()
    assert (row.state, row.failures, row.retry_at) == ("watching", 0, None)


def test_failure_of_a_kind_that_was_never_read_is_no_gap() -> None:
    cluster = watched_cluster()

    services.record_failure(
        kind(cluster), KindFailure("forbidden", Statement.of("server_said", text="no")), now=NOON
    )

    assert (kind(cluster).state, gaps(cluster)) == ("forbidden", [])


@pytest.mark.parametrize(
    ("code", "state", "reason"),
    [
        ("forbidden", "forbidden", "forbidden"),
        ("not_found", "not_served", "api_unreachable"),
        ("server_error", "failing", "api_unreachable"),
        ("disk_full", "failing", "disk_full"),
    ],
)
def test_failure_codes_become_states_and_reasons(code: str, state: str, reason: str) -> None:
    cluster = watched_cluster()
    row = read_once(cluster)

    services.record_failure(
        row, KindFailure(code, Statement.of("server_said", text="why")), now=NOON
    )

    assert (kind(cluster).state, [gap[2] for gap in gaps(cluster)]) == (state, [reason])


def test_failure_waits_as_long_as_the_server_asks() -> None:
    cluster = watched_cluster()
    failure = KindFailure(
        "throttled", Statement.of("server_said", text="busy"), retry_after_seconds=120
    )

    services.record_failure(kind(cluster), failure, now=NOON)

    assert kind(cluster).retry_at == NOON + 2 * MINUTE


def fail(cluster: Cluster, name: str, code: str) -> None:
    services.record_failure(
        kind(cluster, name),
        KindFailure(code, Statement.of("server_said", text="no")),
        now=NOON + MINUTE,
    )


def waiting(cluster: Cluster) -> set[str]:
    rows = ClusterKind.objects.filter(cluster=cluster, retry_at__isnull=False)
    return set(rows.values_list("kind", flat=True))


def test_window_of_a_kind_that_recovers_lets_the_others_be_tried_at_once() -> None:
    cluster, other = watched_cluster(), watched_cluster("two")
    row = read_once(cluster)
    fail(cluster, row.kind, "unreachable")
    fail(cluster, "ResourceClaim", "unreachable")
    fail(cluster, "Node", "forbidden")
    fail(other, "Node", "unreachable")

    services.record_current(cluster.pk, {row.kind: row.resource_version}, now=NOON + 2 * MINUTE)

    assert (waiting(cluster), waiting(other)) == ({"Node"}, {"Node"})


def test_read_of_a_kind_that_recovers_lets_the_others_be_tried_at_once() -> None:
    cluster = watched_cluster()
    fail(cluster, "ResourceSlice", "unreachable")
    fail(cluster, "ResourceClaim", "unreachable")

    read_once(cluster)

    assert waiting(cluster) == set()


def test_window_of_a_kind_that_was_well_leaves_the_others_their_pace() -> None:
    cluster = watched_cluster()
    row = read_once(cluster)
    fail(cluster, "ResourceClaim", "unreachable")

    services.record_current(cluster.pk, {row.kind: row.resource_version}, now=NOON + 2 * MINUTE)

    assert waiting(cluster) == {"ResourceClaim"}


@pytest.mark.parametrize("failures", [1, 2, 5, 6, 50])
def test_backoff_is_between_a_second_and_a_minute(failures: int) -> None:
    ceiling = min(60.0, 2.0**failures)

    drawn = [services.backoff_seconds(failures) for _ in range(200)]

    assert min(drawn) >= 1.0
    assert max(drawn) <= ceiling


def test_lock_kinds_refuses_a_reader_that_was_overtaken() -> None:
    cluster = watched_cluster()
    read_once(cluster)

    with pytest.raises(services.Overtaken), transaction.atomic():
        services.lock_kinds(cluster.pk, {"ResourceSlice": "9"})


def test_begin_reading_shows_a_first_read_and_keeps_a_later_one_quiet() -> None:
    cluster = watched_cluster()
    row = kind(cluster)
    services.begin_reading(row, now=NOON)
    services.count_reading(row, 500)
    first = kind(cluster)
    row = read_once(cluster)

    services.begin_reading(row, now=NOON)
    services.count_reading(row, 500)

    assert (first.state, first.read_count) == ("reading", 500)
    assert (kind(cluster).state, kind(cluster).read_count) == ("watching", None)


def test_gap_that_ends_before_it_began_is_refused() -> None:
    cluster = watched_cluster()

    with pytest.raises(IntegrityError), transaction.atomic():
        Gap.objects.create(
            cluster=cluster, kind="Node", started_at=NOON, ended_at=NOON - MINUTE, reason="relist"
        )


@pytest.mark.parametrize(
    ("second", "told"),
    [("restored", "restored"), ("relist", "forbidden"), ("api_unreachable", "forbidden")],
)
def test_open_gap_keeps_its_first_reason_unless_the_store_was_set_back(
    second: str, told: str
) -> None:
    cluster = watched_cluster()
    row = read_once(cluster)
    services.open_gap(row, reason="forbidden", failure=None, now=NOON + MINUTE)

    services.open_gap(row, reason=second, failure=None, now=NOON + 2 * MINUTE)

    assert gaps(cluster) == [(NOON, None, told)]


def test_second_open_gap_of_a_kind_is_refused() -> None:
    cluster = watched_cluster()
    Gap.objects.create(cluster=cluster, kind="Node", started_at=NOON, reason="relist")

    with pytest.raises(IntegrityError), transaction.atomic():
        Gap.objects.create(cluster=cluster, kind="Node", started_at=NOON, reason="relist")


def test_kind_with_negative_failures_is_refused() -> None:
    cluster = watched_cluster()

    with pytest.raises(IntegrityError), transaction.atomic():
        ClusterKind.objects.filter(cluster=cluster).update(failures=-1)


def test_cluster_without_a_name_is_refused() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Cluster.objects.create(name="", source=Source.SIMULATED, created_at=NOON)


def known(cluster: Cluster, found: Identity, *, now: datetime = NOON) -> bool:
    return services.recognise(cluster.pk, found, now=now)


def test_recognise_a_cluster_that_moved_as_the_same() -> None:
    cluster = watched_cluster()

    first = known(cluster, Identity("uid", "ca", "https://old"))
    moved = known(cluster, Identity("uid", "another ca", "https://new"))

    cluster.refresh_from_db()
    assert (first, moved) == (True, True)
    assert (cluster.kube_system_uid, cluster.authority, cluster.server) == (
        "uid",
        "another ca",
        "https://new",
    )
    assert Cluster.objects.count() == 1


def test_recognise_a_cluster_whose_uid_may_no_longer_be_read_keeps_it() -> None:
    cluster = watched_cluster()
    known(cluster, Identity("uid", "ca", "https://old"))

    assert known(cluster, Identity("", "ca", "https://old"))

    cluster.refresh_from_db()
    assert cluster.kube_system_uid == "uid"


def test_cluster_made_anew_begins_anew_under_its_name_and_the_earlier_one_stays() -> None:
    cluster = watched_cluster("one")
    read_once(cluster)
    services.set_pool_status_mode(cluster.pk, PoolStatusMode.OFF)
    known(cluster, Identity("uid-1", "ca", "https://same"))

    is_same = known(cluster, Identity("uid-2", "ca", "https://same"), now=NOON + MINUTE)

    successor = Cluster.objects.get(name="one", replaced_at=None)
    cluster.refresh_from_db()
    assert is_same is False
    assert (successor.replaces_id, successor.is_watched, successor.capabilities) == (
        cluster.pk,
        True,
        None,
    )
    assert (successor.pool_status_mode, successor.url) == ("off", cluster.url)
    assert successor.kube_system_uid == "uid-2"
    assert set(successor.kinds.values_list("resource_version", flat=True)) == {""}
    assert (cluster.name, cluster.replaced_at, cluster.is_watched) == ("one", NOON + MINUTE, False)
    assert kind(cluster).resource_version == "10"
    assert watched_cluster("one").pk == successor.pk
