"""Discovery documents of the simulated API server, held to those of real ones of each release."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator import server
from simulator.discovery import AGGREGATED_TYPE
from tests.unit.simulator.client import Api

API = Path(__file__).parents[1] / "fixtures" / "recordings" / "api"
ALL_VERSIONS = ("v1", "v1beta2", "v1beta1", "v1alpha3")
FOLDERS = {
    "1.34.4-all-versions": ((1, 34), ALL_VERSIONS),
    "1.36.3-all-versions": ((1, 36), ALL_VERSIONS),
    "1.37.2-all-versions": ((1, 37), ALL_VERSIONS),
    "1.34.4-default": ((1, 34), ("v1",)),
    "1.36.3-default": ((1, 36), ("v1",)),
    "1.37.2-default": ((1, 37), ("v1",)),
}
# Of the core group only what is about devices is served; status is all there is below an object.
CORE = {"namespaces", "nodes", "pods"}


def recorded(folder: str, name: str) -> Any:
    return json.loads((API / folder / f"{name}.json").read_text())


def served(folder: str, path: str, accept: str = "application/json") -> Any:
    release, versions = FOLDERS[folder]
    with server.start(release=release, versions=versions) as simulator:
        return Api(simulator.url).get(path, headers={"Accept": accept}).json()


def without_hashes(document: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {key: value for key, value in row.items() if key != "storageVersionHash"}
        for row in document["resources"]
    ]
    return {**document, "resources": rows}


@pytest.mark.parametrize("folder", FOLDERS)
def test_group_document_is_that_of_the_release(folder: str) -> None:
    wanted = recorded(folder, "apis_resource.k8s.io")

    assert served(folder, "/apis/resource.k8s.io") == wanted


@pytest.mark.parametrize(
    ("folder", "version"),
    [(folder, version) for folder, (_, versions) in FOLDERS.items() for version in versions],
)
def test_version_document_is_that_of_the_release(folder: str, version: str) -> None:
    wanted = recorded(folder, f"apis_resource.k8s.io_{version}")

    assert without_hashes(served(folder, f"/apis/resource.k8s.io/{version}")) == without_hashes(
        wanted
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_aggregated_group_is_that_of_the_release(folder: str) -> None:
    wanted = recorded(folder, "aggregated_apis")["body"]

    document = served(folder, "/apis", AGGREGATED_TYPE)

    def device_group(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item for item in items if item["metadata"].get("name") == "resource.k8s.io"]

    assert device_group(document["items"]) == device_group(wanted["items"])
    assert {**document, "items": []} == {**wanted, "items": []}


def test_aggregated_core_has_the_real_entries_of_what_is_served() -> None:
    wanted = recorded("1.37.2-default", "aggregated_api")["body"]["items"][0]["versions"][0]

    document = served("1.37.2-default", "/api", AGGREGATED_TYPE)

    real = [
        {key: value for key, value in row.items() if key not in {"subresources", "categories"}}
        for row in wanted["resources"]
        if row["resource"] in CORE
    ]
    assert document["items"][0]["versions"][0]["resources"] == real


@pytest.mark.parametrize("folder", FOLDERS)
def test_version_has_the_fields_of_the_release(folder: str) -> None:
    wanted = recorded(folder, "version")

    document = served(folder, "/version")

    build = {"gitCommit", "gitTreeState"}
    assert list(document) == list(wanted)
    assert {key: value for key, value in document.items() if key not in build} == {
        key: value for key, value in wanted.items() if key not in build
    }


@pytest.mark.parametrize(
    ("folder", "release"),
    [
        ("1.34.4-default", (1, 34)),
        ("1.36.3-default", (1, 36)),
        ("1.37.2-default", (1, 37)),
    ],
)
def test_metrics_tell_the_gates_of_the_release(folder: str, release: tuple[int, int]) -> None:
    text = (API / folder / "metrics.txt").read_text().split("# kube-controller-manager:")[0]
    wanted = [line for line in text.splitlines() if line.startswith("kubernetes_feature_enabled")]
    with server.start(release=release, gates={}) as simulator:
        body = Api(simulator.url).get("/metrics").body.decode()

    told = [line for line in body.splitlines() if line.startswith("kubernetes_feature_enabled")]

    assert told == wanted
