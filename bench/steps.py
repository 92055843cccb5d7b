"""Single steps of a measurement, each in a process of its own, so that its peak memory is its own.

`python -m bench.steps NAME CLUSTER_URL` prints one JSON object; Postgres is the one that DATABASE_URL names.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dradash.settings")

CLUSTER = "bench"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"


def clock() -> datetime:
    """The time, for code that takes it as an argument."""
    return datetime.now(UTC)


def main() -> None:
    """Run one step and print what it measured, with its wall time and peak memory."""
    name, url = sys.argv[1:3]
    import django

    django.setup()
    step = STEPS[name]
    prepared = PREPARATIONS.get(name, lambda _url: None)(url)
    before, cpu_before = time.perf_counter(), time.process_time()
    found = step(url) if prepared is None else step(prepared)
    seconds = time.perf_counter() - before
    cpu_seconds = time.process_time() - cpu_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    measured = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_bytes": peak}
    json.dump({**measured, **found}, sys.stdout)


def sync(url: str) -> dict[str, Any]:
    """Read the whole cluster, with everything that follows from what is new."""
    from clusters.choices import Source
    from clusters.models import Cluster
    from ingest import services

    cluster, _ = Cluster.objects.get_or_create(
        name=CLUSTER, defaults={"source": Source.SIMULATED, "url": url, "created_at": clock()}
    )
    for kind in ("ResourceSlice", "ResourceClaim", "DeviceClass", "DeviceTaintRule", "Node"):
        cluster.kinds.get_or_create(kind=kind)
    result = services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    if result.failure or result.is_busy:
        sys.exit(f"the cluster could not be read: {result}")
    return {"objects": sum(kind.object_count or 0 for kind in cluster.kinds.all())}


def resync(url: str) -> dict[str, Any]:
    """Read the whole cluster again, nothing in it having changed."""
    return sync(url)


def forget_cursors(url: str) -> str:
    """As after a restart of the API server: every kind must be read whole."""
    from clusters.models import ClusterKind

    ClusterKind.objects.update(resource_version="")
    return url


def window(url: str) -> dict[str, Any]:
    """Watch for the shortest window, nothing changing."""
    from clusters.models import Cluster
    from ingest import services

    services.sync_cluster(Cluster.objects.get(name=CLUSTER).pk, seconds=5, clock=clock)
    return {"url": url}


def official_client(url: str) -> dict[str, Any]:
    """What most would write: the official client's models, upserted by the ORM."""
    from kubernetes import client

    table = peer_table()
    api = client.ResourceV1Api(client.ApiClient(client.Configuration(host=url)))
    found = api.list_resource_slice().items
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
        for item in found
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

    class PeerSlice(models.Model):
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


STEPS: dict[str, Callable[[str], dict[str, Any]]] = {
    "sync": sync,
    "resync": resync,
    "window": window,
    "official_client": official_client,
    "json_loads": json_loads,
}
PREPARATIONS: dict[str, Callable[[str], str]] = {"resync": forget_cursors}

if __name__ == "__main__":
    main()
