"""Single steps of a measurement, each in a process of its own, so that its peak memory is its own.

`python -m bench.steps CLUSTER_URL NAME` prints one JSON object, and with `--prepare` makes so what has to be so before the step.
Postgres is the one that DATABASE_URL names.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

CLUSTER = "bench"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"


def clock() -> datetime:
    """The time, for code that takes it as an argument."""
    return datetime.now(UTC)


def main() -> None:
    """Run one step and print what it measured, with its wall time and peak memory."""
    url, name, *options = sys.argv[1:]
    import django

    django.setup()
    if "--prepare" in options:
        PREPARATIONS.get(name, lambda: None)()
        return
    # What Django imports late is not part of any step.
    warm_up()
    before, cpu_before = time.perf_counter(), time.process_time()
    found = STEPS[name](url)
    seconds = time.perf_counter() - before
    cpu_seconds = time.process_time() - cpu_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    measured = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_bytes": peak}
    json.dump({**measured, **found}, sys.stdout)


def warm_up() -> None:
    """Load modules and connect; reads and writes nothing."""
    from importlib import import_module

    from django.db import connection

    import_module("ingest.services")
    connection.ensure_connection()


def sync(url: str) -> dict[str, Any]:
    """Read what is due of the cluster, with everything that follows from what is new."""
    from clusters import registry
    from clusters.choices import Source
    from clusters.models import Cluster
    from ingest import services

    cluster, is_new = Cluster.objects.get_or_create(
        name=CLUSTER, defaults={"source": Source.SIMULATED, "url": url, "created_at": clock()}
    )
    if is_new:
        for kind in registry.watched_names():
            cluster.kinds.get_or_create(kind=kind)
    result = services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    if result.failure or result.is_busy:
        sys.exit(f"the cluster could not be read: {result}")
    return {"objects": sum(kind.object_count or 0 for kind in cluster.kinds.all())}


def slices_are_too_old() -> None:
    """As after a restart of the API server, of slices alone; the other kinds, which are empty, are not due."""
    from clusters.models import ClusterKind

    later = clock() + timedelta(hours=1)
    ClusterKind.objects.update(last_synced_at=clock(), retry_at=later)
    slices = ClusterKind.objects.filter(kind="ResourceSlice")
    slices.update(resource_version="", retry_at=None)


def all_are_due() -> None:
    """Every kind is followed, and was seen a moment ago."""
    from clusters.models import ClusterKind

    ClusterKind.objects.update(last_synced_at=clock(), retry_at=None)


def window(url: str) -> dict[str, Any]:
    """Watch every kind for the shortest window, nothing changing."""
    from clusters.models import Cluster
    from ingest import services

    services.sync_cluster(Cluster.objects.get(name=CLUSTER).pk, seconds=5, clock=clock)
    return {}


def follow(url: str) -> dict[str, Any]:
    """One window after the other, as the worker's tasks do, until SIGTERM."""
    from clusters.models import Cluster
    from ingest import services

    del url
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    pk = Cluster.objects.get(name=CLUSTER).pk
    while not is_over.is_set():
        services.follow_cluster(pk, seconds=30, longest=30, clock=clock)
    return {}


def official_client(url: str) -> dict[str, Any]:
    """What most would write: the official client's models, upserted by the ORM."""
    from kubernetes import client

    table = peer_table()
    api = client.ResourceV1Api(client.ApiClient(client.Configuration(host=url)))
    slices: Any = api.list_resource_slice().items
    convert = api.api_client.sanitize_for_serialization
    rows = [
        table(
            uid=item.metadata.uid,
            name=item.metadata.name,
            resource_version=item.metadata.resource_version,
            driver=item.spec.driver,
            pool=item.spec.pool.name,
            node=item.spec.node_name or "",
            generation=item.spec.pool.generation,
            seen_at=clock(),
            spec=convert(item.spec),
        )
        for item in slices
    ]
    table.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["uid"],
        update_fields=[
            "name",
            "resource_version",
            "driver",
            "pool",
            "node",
            "generation",
            "seen_at",
            "spec",
        ],
    )
    return {"objects": len(rows)}


def json_loads(url: str) -> dict[str, Any]:
    """A careful middle way: one gzipped list, `json.loads`, and only resourceVersions compared. Nothing changed, nothing written."""
    import urllib3

    table = peer_table()
    answer = urllib3.request(
        "GET", url + SLICES, headers={"Accept-Encoding": "gzip"}, decode_content=False
    )
    body = answer.data
    if answer.headers.get("Content-Encoding") == "gzip":
        body = zlib.decompress(body, 31)
    items = json.loads(body)["items"]
    known = dict(table.objects.values_list("uid", "resource_version"))
    changed = [
        item
        for item in items
        if known.get(item["metadata"]["uid"]) != item["metadata"]["resourceVersion"]
    ]
    if changed:
        sys.exit(f"{len(changed)} slices changed in a cluster that stands still")
    return {"objects": len(items)}


def peer_table() -> Any:
    """A plain table as one would model a slice, made on first use."""
    from django.db import connection, models

    class PeerSlice(models.Model):  # noqa: DJ008 -- nobody looks at its rows
        uid = models.CharField(max_length=36, unique=True)
        name = models.TextField()
        resource_version = models.TextField()
        driver = models.TextField(db_index=True)
        pool = models.TextField()
        node = models.TextField(db_index=True)
        generation = models.BigIntegerField()
        seen_at = models.DateTimeField()
        spec = models.JSONField()

        class Meta:
            app_label = "bench"
            db_table = "bench_peerslice"

    if "bench_peerslice" not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(PeerSlice)
    return PeerSlice


def keep(url: str) -> dict[str, Any]:
    """What the upkeep does every ten minutes: dictionaries of bodies are trained on enough of them, for one."""
    del url
    from django.conf import settings

    from ingest import keeping

    keeping.keep_storage(settings.DRADASH, now=clock())
    return {}


STEPS: dict[str, Callable[[str], dict[str, Any]]] = {
    "sync": sync,
    "resync": sync,
    "window": window,
    "follow": follow,
    "keep": keep,
    "official_client": official_client,
    "json_loads": json_loads,
}
PREPARATIONS: dict[str, Callable[[], None]] = {
    "resync": slices_are_too_old,
    "window": all_are_due,
}

if __name__ == "__main__":
    main()
