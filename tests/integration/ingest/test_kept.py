"""A kind of which most objects are not kept, as pods without claims will not be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from clusters.models import ClusterKind
from dra.values import Release
from ingest.channel import Channel
from ingest.passes import Pass
from ingest.reading import Reader, Round
from ingest.writing import Writer
from kube.connect import connect
from kube.kept import Kept
from kube.kinds import DEVICE_CLASS, served
from kube.targets import Target
from objects.choices import Op
from objects.models import Body, KubeObject, ObjectEvent
from objects.services.partitions import LOG, ensure_partitions
from objects.services.versions import closed_versions
from pools.models import DeviceClass
from tests.factories import kube

if TYPE_CHECKING:
    from clusters.models import Cluster
    from simulator.cluster import Simulator

KIND = DEVICE_CLASS.name
LABELLED: Final = Kept(
    members={"metadata": dict.fromkeys(("name", "uid", "labels")), "spec": None},
    only_with=(("metadata", "labels"),),
)


def device_class(name: str, *, labels: dict[str, str] | None = None) -> dict[str, Any]:
    made = kube.device_class(name)
    return {**made, "metadata": {**made["metadata"], "labels": labels or {}}}


def cursor_of(cluster: Cluster) -> str:
    return ClusterKind.objects.get(cluster=cluster, kind=KIND).resource_version


def read(cluster: Cluster, simulator: Simulator, *, cursor: str = "") -> None:
    """One pass over the kind: everything of it if there is no cursor, a watch window from there if there is."""
    ensure_partitions([*LOG, *closed_versions()], now=datetime.now(UTC))
    writer = Writer(
        cluster_id=cluster.pk,
        clock=lambda: datetime.now(UTC),
        served=frozenset({KIND}),
        release=Release(1, 37),
        cursors={KIND: cursor_of(cluster)},
        reading=set(),
        first_reads=set(),
    )
    writer.begin()
    reader = Reader(
        connect(Target("url", url=simulator.url)),
        served(DEVICE_CLASS, "v1"),
        LABELLED,
        cluster.pk,
        cursor,
        Channel(most_bytes=1 << 20),
        Round(seconds=0),
    )
    Pass(cluster.pk, writer, [reader], lambda: datetime.now(UTC)).run()


def stored(cluster: Cluster) -> tuple[list[str], list[str], int, int | None]:
    """Names of objects, living rows of them, how many bodies, and how many the kind counts."""
    names = KubeObject.objects.filter(cluster=cluster).order_by("name")
    rows = DeviceClass.objects.filter(cluster=cluster, vanished_at=None).order_by("name")
    return (
        list(names.values_list("name", flat=True)),
        list(rows.values_list("name", flat=True)),
        Body.objects.filter(cluster=cluster).count(),
        ClusterKind.objects.get(cluster=cluster, kind=KIND).object_count,
    )


def log(cluster: Cluster) -> list[int]:
    return list(
        ObjectEvent.objects.filter(cluster=cluster).order_by("at").values_list("op", flat=True)
    )


def test_full_read_stores_nothing_of_what_is_not_kept(
    cluster: Cluster, simulator: Simulator
) -> None:
    simulator.put_all([device_class("kept", labels={"a": "b"}), device_class("left-out")])

    read(cluster, simulator)

    assert stored(cluster) == (["kept"], ["kept"], 1, 1)


def test_watch_takes_what_is_no_longer_kept_for_gone_and_stores_what_begins_to_be(
    cluster: Cluster, simulator: Simulator
) -> None:
    simulator.put_all([device_class("first", labels={"a": "b"}), device_class("second")])
    read(cluster, simulator)
    simulator.put_all(
        [device_class("first"), device_class("second", labels={"a": "b"}), device_class("third")]
    )

    read(cluster, simulator, cursor=cursor_of(cluster))

    assert stored(cluster) == (["first", "second"], ["second"], 2, 1)
    assert log(cluster) == [Op.RESYNC_ADDED, Op.DELETED, Op.MODIFIED]


def test_full_read_takes_what_is_no_longer_kept_for_gone(
    cluster: Cluster, simulator: Simulator
) -> None:
    simulator.put_all([device_class("first", labels={"a": "b"})])
    read(cluster, simulator)
    simulator.put_all([device_class("first")])

    read(cluster, simulator)

    assert stored(cluster) == (["first"], [], 1, 0)
    assert log(cluster) == [Op.RESYNC_ADDED, Op.RESYNC_DELETED]
