"""Lists and single objects over HTTP, beyond what recordings show."""

import gzip
import json
from typing import Any

import pytest

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import CLAIMS, SLICES, Api, resource_slice


def names(document: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in document["items"]]


def test_list_is_in_key_order_at_the_revision_of_the_whole_cluster(
    simulator: Simulator, api: Api
) -> None:
    simulator.put({"kind": "Namespace", "metadata": {"name": "other"}})

    document = api.get(SLICES).json()

    items = document.pop("items")
    assert [item["metadata"]["name"] for item in items] == ["w0", "w1", "w2"]
    assert [list(item) for item in items] == [["metadata", "spec"]] * 3
    assert document == {
        "kind": "ResourceSliceList",
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {"resourceVersion": str(simulator.store.revision)},
    }


def test_list_from_the_cache_knows_only_its_own_kind(simulator: Simulator, api: Api) -> None:
    of_slices = simulator.store.revision
    simulator.put({"kind": "Namespace", "metadata": {"name": "other"}})

    document = api.get(f"{SLICES}?resourceVersion=0&limit=1").json()

    assert names(document) == ["w0", "w1", "w2"]
    assert document["metadata"] == {"resourceVersion": str(of_slices)}


def test_pages_show_one_revision_while_the_cluster_moves_on(
    simulator: Simulator, api: Api
) -> None:
    first = api.get(f"{SLICES}?limit=2").json()
    simulator.delete("ResourceSlice", "w2")
    simulator.put(resource_slice("w3"))

    second = api.get(f"{SLICES}?limit=2&continue={first['metadata']['continue']}").json()

    assert (names(first), names(second)) == (["w0", "w1"], ["w2"])
    assert first["metadata"]["remainingItemCount"] == 1
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("spec.nodeName=node-2", ["other"]),
        ("spec.nodeName!=node-2", ["w0", "w1", "w2"]),
        ("spec.driver==b.example.com", ["other"]),
        ("spec.pool.name=pool-9,spec.nodeName=node-2", ["other"]),
        ("metadata.name=w1", ["w1"]),
        ("metadata.name=w1,spec.nodeName=node-2", []),
    ],
)
def test_list_by_field(selector: str, found: list[str], simulator: Simulator, api: Api) -> None:
    pool = {"name": "pool-9", "generation": 1, "resourceSliceCount": 1}
    simulator.put(resource_slice("other", nodeName="node-2", driver="b.example.com", pool=pool))

    assert names(api.get(f"{SLICES}?fieldSelector={selector}").json()) == found


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=a", ["one"]),
        ("app%3D%3Da", ["one"]),
        ("app!=a", ["two", "w0", "w1", "w2"]),
        ("app+in+(a,b)", ["one", "two"]),
        ("app+notin+(a)", ["two", "w0", "w1", "w2"]),
        ("app", ["one", "two"]),
        ("!app", ["w0", "w1", "w2"]),
        ("app,tier=x", ["two"]),
    ],
)
def test_list_by_label(selector: str, found: list[str], simulator: Simulator, api: Api) -> None:
    one, two = resource_slice("one"), resource_slice("two")
    one["metadata"]["labels"] = {"app": "a"}
    two["metadata"]["labels"] = {"app": "b", "tier": "x"}
    simulator.put_all([one, two])

    assert names(api.get(f"{SLICES}?labelSelector={selector}").json()) == found


def test_list_by_a_selector_that_cannot_be_read_is_refused(api: Api) -> None:
    assert api.get(f"{SLICES}?labelSelector=(").status == 400


def test_list_of_a_namespace_has_only_its_objects(simulator: Simulator, api: Api) -> None:
    def claim(namespace: str) -> dict[str, object]:
        metadata = {"name": "c", "namespace": namespace}
        return {"kind": "ResourceClaim", "metadata": metadata, "spec": {}}

    simulator.put_all([claim("a"), claim("b")])

    document = api.get("/apis/resource.k8s.io/v1/namespaces/b/resourceclaims").json()

    assert [item["metadata"]["namespace"] for item in document["items"]] == ["b"]
    assert len(api.get(CLAIMS).json()["items"]) == 2


def large(simulator: Simulator, count: int) -> None:
    for number in range(count):
        devices = [{"name": f"device-{device}"} for device in range(64)]
        simulator.put(resource_slice(f"s{number:03d}", devices=devices))


def test_small_list_is_not_packed(simulator: Simulator, api: Api) -> None:
    large(simulator, 60)

    answer = api.get(SLICES, headers={"Accept-Encoding": "gzip"})

    assert 90_000 < len(answer.body) < 131_072
    assert "content-encoding" not in answer.headers


def test_large_list_is_packed_the_same_each_time(simulator: Simulator, api: Api) -> None:
    large(simulator, 100)
    plain = api.get(SLICES)

    answers = [api.get(SLICES, headers={"Accept-Encoding": "gzip"}) for _ in range(2)]

    assert len(plain.body) > 131_072
    assert {answer.headers["content-encoding"] for answer in answers} == {"gzip"}
    assert [gzip.decompress(answer.body) for answer in answers] == [plain.body] * 2


def test_packed_list_after_a_change_is_the_new_one(simulator: Simulator, api: Api) -> None:
    large(simulator, 100)
    api.get(SLICES, headers={"Accept-Encoding": "gzip"})
    simulator.delete("ResourceSlice", "s000")

    answer = api.get(SLICES, headers={"Accept-Encoding": "gzip"})

    assert "s000" not in names(json.loads(gzip.decompress(answer.body)))


def test_object_is_read_with_its_kind(api: Api) -> None:
    document = api.get(f"{SLICES}/w1").json()

    assert list(document) == ["kind", "apiVersion", "metadata", "spec"]
    assert document["metadata"]["name"] == "w1"


def test_object_of_the_first_beta_nests_its_devices() -> None:
    fields = {"attributes": {"a": {"int": 1}}, "allowMultipleAllocations": True}
    written = resource_slice("w0", devices=[{"name": "d", **fields}])

    with server.start([written], versions=("v1beta1",)) as older:
        document = Api(older.url).get("/apis/resource.k8s.io/v1beta1/resourceslices").json()

    assert document["items"][0]["spec"]["devices"] == [{"name": "d", "basic": fields}]


def test_list_in_pieces_is_ended_for_a_client_that_closes(simulator: Simulator, api: Api) -> None:
    simulator.put_all(resource_slice(f"n{number:04}") for number in range(2000))

    answer = api.get(SLICES, headers={"Connection": "close"})

    assert answer.headers["transfer-encoding"] == "chunked"
    assert len(names(answer.json())) == 2003
