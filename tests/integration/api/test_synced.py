"""What a sync stored, through the API, against what the core says of the same objects."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from msgspec import to_builtins

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from dra.values import Release
from dradash.inspect import command, report
from ingest import services
from kube.targets import Target
from simulator import server
from simulator.cluster import Simulator
from tests.factories import kube

CASES = Path(__file__).parents[2] / "fixtures" / "cases"

# Partitions, shares, admin access, list attributes, an incomplete pool, a device allocated twice.
CASE_NAMES = ("C01", "C11", "C34", "C38", "C39", "C43", "C52")


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with server.start() as running:
        yield running


@pytest.fixture
def cluster(transactional_db: None, simulator: Simulator) -> Cluster:
    wanted = WatchedCluster("sim", Source.SIMULATED, Target("url", url=simulator.url))
    return cluster_services.ensure_clusters([wanted], now=clock())[0]


def figures(row: dict[str, Any], inspected: dict[str, Any]) -> dict[str, Any]:
    """What inspect can know, in the order of the answer."""
    return {name: value for name, value in row.items() if name in inspected}


def objects_of(case: str) -> list[dict[str, Any]]:
    (path,) = CASES.glob(f"{case}-*.yaml")
    kinds = {"ResourceSlice", "ResourceClaim", "DeviceTaintRule"}
    return [each for each in yaml.safe_load_all(path.read_text()) if each["kind"] in kinds]


def test_stored_objects_have_the_shapes_that_inspect_gives_them(
    simulator: Simulator, cluster: Cluster, get: Any, tmp_path: Path
) -> None:
    simulator.put_all(each for case in CASE_NAMES for each in objects_of(case))
    dump = tmp_path / "dump.json"
    kinds = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
    dump.write_text(json.dumps([obj for kind in kinds for obj in simulator.objects(kind)]))
    found = report.report(command.read_dump([dump]), release=Release(1, 37), is_complete=True)
    sections = report.report_sections(found)
    inspected = {name: list(map(to_builtins, sections[name])) for name in ("pools", "devices")}

    services.sync_cluster(cluster.pk, seconds=0, clock=clock)

    pools, devices = get("pools/?ordering=driver"), get("devices/?limit=1000")
    assert (len(pools["results"]), len(devices["results"])) > (5, 20)
    assert [figures(row, inspected["pools"][0]) for row in pools["results"]] == inspected["pools"]
    assert [figures(row, inspected["devices"][0]) for row in devices["results"]] == inspected[
        "devices"
    ]


def test_resource_slice_is_whole_as_json_and_yaml(
    simulator: Simulator, cluster: Cluster, api: Client, get: Any
) -> None:
    simulator.put(kube.resource_slice("slice-a", pool="rack/1.b", generation=4))
    services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    (row,) = get("resource-slices/")["results"]

    as_json = get(f"resource-slices/{row['id']}/")
    response = api.get(
        f"/api/v1/resource-slices/{row['id']}/", headers={"Accept": "application/yaml"}
    )

    stored = simulator.get("ResourceSlice", "slice-a")
    assert stored is not None
    stored["metadata"].pop("managedFields", None)
    stored["metadata"].pop("generation", None)
    assert as_json == stored
    assert (response["Content-Type"], yaml.safe_load(response.content)) == (
        "application/yaml",
        stored,
    )
    assert (row["pool"], row["generation"], row["device_count"]) == ("rack/1.b", 4, 2)


def test_sync_makes_a_new_etag(
    simulator: Simulator, cluster: Cluster, api: Client, get: Any
) -> None:
    simulator.put(kube.resource_slice("slice-a"))
    services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    before = api.get("/api/v1/pools/")["ETag"]

    services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    unchanged = api.get("/api/v1/pools/", headers={"If-None-Match": before})
    simulator.put(kube.resource_claim("claim-a", holds=["gpu-0"]))
    services.sync_cluster(cluster.pk, seconds=0, clock=clock)
    changed = api.get("/api/v1/pools/", headers={"If-None-Match": before})

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged["Dradash-Observed-At"] > "2026"
    assert changed.status_code == 200
    assert changed.json()["results"][0]["devices"]["allocated"] == 1
