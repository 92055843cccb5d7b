"""What a client may write, and the reviews of its rights."""

from typing import Any

from simulator import server
from simulator.cluster import Simulator
from tests.unit.simulator.client import (
    CLAIMS,
    POOL_STATUS_REQUESTS,
    REVIEWS,
    SLICES,
    Api,
    resource_slice,
)

IN_DEFAULT = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


def claim(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "spec": {"devices": {}}}


def test_create_answers_with_the_object_as_stored(simulator: Simulator, api: Api) -> None:
    answer = api.post(SLICES, resource_slice("w3"))

    assert (answer.status, answer.json()) == (201, simulator.get("ResourceSlice", "w3"))


def test_create_with_a_generated_name_makes_one_up(api: Api) -> None:
    made = api.post(IN_DEFAULT, {"metadata": {"generateName": "c-"}, "spec": {}}).json()

    assert made["metadata"]["name"].startswith("c-")
    assert len(made["metadata"]["name"]) == 7


def test_create_drops_a_status(api: Api) -> None:
    made = api.post(IN_DEFAULT, {**claim("c"), "status": {"reservedFor": []}}).json()

    assert made["status"] == {}


def test_create_as_dry_run_stores_nothing(simulator: Simulator, api: Api) -> None:
    before = simulator.store.revision

    answer = api.post(f"{SLICES}?dryRun=All", resource_slice("w3"))

    assert answer.status == 201
    assert answer.json()["spec"] == resource_slice("w3")["spec"]
    assert simulator.store.revision == before


def test_update_of_the_status_leaves_the_rest_alone(simulator: Simulator, api: Api) -> None:
    made = api.post(IN_DEFAULT, claim("c")).json()
    allocated: dict[str, Any] = {"allocation": {"devices": {"results": []}}}
    changed = {**made, "spec": {"devices": {"requests": []}}, "status": allocated}

    answer = api.send("PUT", f"{IN_DEFAULT}/c/status", changed)

    assert (answer.json()["spec"], answer.json()["status"]) == (made["spec"], allocated)


def test_update_of_the_object_leaves_the_status_alone(simulator: Simulator, api: Api) -> None:
    made = api.post(IN_DEFAULT, claim("c")).json()
    status = {"reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}]}
    simulator.put({**made, "status": status})
    current = api.get(f"{IN_DEFAULT}/c").json()
    current["metadata"]["labels"] = {"a": "b"}

    answer = api.send("PUT", f"{IN_DEFAULT}/c", {**current, "status": {}})

    assert answer.json()["metadata"]["labels"] == {"a": "b"}
    assert answer.json()["status"] == status


def test_update_of_a_status_that_the_kind_does_not_have_is_not_served(api: Api) -> None:
    assert api.send("PUT", f"{SLICES}/w0/status", resource_slice("w0")).status == 404


def test_delete_of_a_slice_answers_with_the_slice(simulator: Simulator, api: Api) -> None:
    slice_ = simulator.objects("ResourceSlice")[0]
    uid = slice_["metadata"]["uid"]

    answer = api.send("DELETE", f"{SLICES}/w0", {"preconditions": {"uid": uid}})

    assert answer.json()["spec"] == slice_["spec"]
    assert simulator.get("ResourceSlice", "w0") is None


def test_delete_of_a_namespace_answers_with_success_and_the_uid(
    simulator: Simulator, api: Api
) -> None:
    made = simulator.put({"kind": "Namespace", "metadata": {"name": "n"}})

    answer = api.send("DELETE", "/api/v1/namespaces/n")

    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "n", "kind": "namespaces", "uid": made["metadata"]["uid"]},
    }


def test_delete_of_what_has_finalizers_answers_with_the_marked_object(
    simulator: Simulator, api: Api
) -> None:
    api.post(IN_DEFAULT, claim("c", finalizers=["example.com/hold"]))

    answer = api.send("DELETE", f"{IN_DEFAULT}/c")

    assert "deletionTimestamp" in answer.json()["metadata"]
    assert len(simulator.objects("ResourceClaim")) == 1


def test_delete_of_a_collection_by_label_takes_only_what_has_it(
    simulator: Simulator, api: Api
) -> None:
    api.post(IN_DEFAULT, claim("mine", labels={"a": "b"}))
    api.post(IN_DEFAULT, claim("other"))

    api.send("DELETE", f"{CLAIMS}?labelSelector=a%3Db")

    left = [obj["metadata"]["name"] for obj in simulator.objects("ResourceClaim")]
    assert left == ["other"]


def test_review_tells_what_is_allowed_and_what_was_revoked(simulator: Simulator, api: Api) -> None:
    simulator.revoke("watch", "resourceslices")

    def allowed(verb: str) -> object:
        asked = {"verb": verb, "group": "resource.k8s.io", "resource": "resourceslices"}
        answer = api.post(REVIEWS, {"spec": {"resourceAttributes": asked}})
        return answer.status, answer.json()["spec"], answer.json()["status"]["allowed"]

    spec = {"group": "resource.k8s.io", "resource": "resourceslices"}
    assert allowed("list") == (201, {"resourceAttributes": {**spec, "verb": "list"}}, True)
    assert allowed("watch") == (201, {"resourceAttributes": {**spec, "verb": "watch"}}, False)


def test_health_and_version_are_open_to_strangers() -> None:
    with server.start(token="right") as simulator:
        stranger = Api(simulator.url)

        assert [stranger.get(path).status for path in ("/readyz", "/version", "/apis")] == [
            200,
            200,
            403,
        ]


def test_field_of_a_gate_that_is_off_is_dropped() -> None:
    spec = {"driver": "a.example.com", "defaultPartitionTypeAttribute": "a.example.com/p"}
    with server.start(gates={"DRAResourcePoolStatus": True}) as simulator:
        made = Api(simulator.url).post(
            POOL_STATUS_REQUESTS, {"metadata": {"name": "x"}, "spec": spec}
        )

    assert made.json()["spec"] == {"driver": "a.example.com", "limit": 100}
