from datetime import timedelta
from typing import Any

import pytest

from api.renderers import YAMLText
from tests.factories import api_rows


def test_cluster_says_what_it_serves_and_allows(get: Any) -> None:
    row = api_rows.cluster(
        capabilities=api_rows.capabilities(), server_version="v1.36.2", discovered_at=api_rows.NOON
    )
    api_rows.gap(row, ended_at=api_rows.NOON + timedelta(minutes=1))

    found = get(f"clusters/{row.pk}/")

    assert {name: found[name] for name in ("versions", "rights", "gates", "gaps", "reach")} == {
        "versions": [{"kind": "ResourceSlice", "group_version": "resource.k8s.io/v1"}],
        "rights": [
            {"kind": "ResourceSlice", "verb": "list", "allowed": True},
            {"kind": "ResourceSlice", "verb": "watch", "allowed": None},
        ],
        "gates": {"kube-apiserver": {"DRAPartitionableDevices": True}},
        "gaps": [
            {
                "cluster": "prod",
                "cluster_id": str(row.pk),
                "kind": "ResourceSlice",
                "started_at": "2026-03-01T12:00:00Z",
                "ended_at": "2026-03-01T12:01:00Z",
                "reason": "api_unreachable",
                "message": "The API server could not be read.",
                "failure": None,
            }
        ],
        "reach": {"state": "ok", "message": "", "failure": None, "changed_at": None},
    }
    assert found["kinds"][0] == {
        "kind": "DeviceTaintRule",
        "state": "watching",
        "message": "",
        "failure": None,
        "api_version": "resource.k8s.io/v1",
        "resource_version": "81273",
        "object_count": 2,
        "read_count": None,
        "last_synced_at": "2026-03-01T12:00:00Z",
        "last_changed_at": None,
        "failing_since": None,
        "failures": 0,
        "retry_at": None,
        "relists": 0,
    }


def test_cluster_before_discovery_knows_nothing(get: Any) -> None:
    row = api_rows.cluster()

    found = get(f"clusters/{row.pk}/")

    assert [found[name] for name in ("versions", "rights", "gates", "server_version")] == [
        None,
        None,
        None,
        None,
    ]


def test_pool_is_the_row_of_the_list(get: Any) -> None:
    row = api_rows.pool(api_rows.cluster(), "a/b.c")

    assert get(f"pools/{row.id}/") == get("pools/")["results"][0]


def test_device_that_vanished_says_since_when_and_what_was_last_published(get: Any) -> None:
    pool = api_rows.pool(api_rows.cluster())
    device = api_rows.device(pool, state="unknown", vanished_at=api_rows.NOON)

    found = get(f"devices/{device.id}/")

    asked = (
        "device", "state", "attributes", "capacity", "slice_id", "slice_url", "vanished_at", "holders",
    )  # fmt: skip
    assert {name: found[name] for name in asked} == {
        "capacity": [{"name": "memory", "total": "80Gi", "consumed": None, "available": None}],
        "device": "gpu-0",
        "state": "unknown",
        "attributes": {"index": 0, "model": "A100"},
        "slice_id": "1",
        "slice_url": None,
        "vanished_at": "2026-03-01T12:00:00Z",
        "holders": [],
    }


def test_pool_that_vanished_says_since_when(get: Any) -> None:
    row = api_rows.pool(api_rows.cluster(), vanished_at=api_rows.NOON)

    assert get(f"pools/{row.id}/")["vanished_at"] == "2026-03-01T12:00:00Z"


def test_device_names_each_holder_and_each_share(get: Any) -> None:
    device = api_rows.device(api_rows.pool(api_rows.cluster()), state="allocated")
    api_rows.allocation(device, share_id="s-1", consumed_capacity={"memory": "10Gi"})
    api_rows.allocation(device, "watcher", has_admin_access=True)

    holders = get(f"devices/{device.id}/")["holders"]

    same = {
        "driver": "gpu.example.com",
        "pool": "node-1",
        "device": "gpu-0",
        "namespace": "training",
        "claim_uid": str(api_rows.CLAIM_UID),
        "request": "gpu",
    }
    assert holders == [
        {
            **same,
            "claim": "watcher",
            "share_id": None,
            "admin_access": True,
            "consumed_capacity": {},
        },
        {
            **same,
            "claim": "worker-0",
            "share_id": "s-1",
            "admin_access": False,
            "consumed_capacity": {"memory": "10Gi"},
        },
    ]


def test_pool_status_request_shows_answer_and_differences(get: Any) -> None:
    cluster = api_rows.cluster()
    pool = api_rows.pool(cluster)
    row = api_rows.status_request(cluster)
    api_rows.status_answer(row)

    found = get(f"pool-status-requests/{row.pk}/")

    assert found["answer"] == {"kind": "ResourcePoolStatusRequest", "status": {"poolCount": 1}}
    assert found["pools"] == [
        {
            "pool_id": str(pool.id),
            "pool_url": f"http://testserver/api/v1/pools/{pool.id}/",
            "driver": "gpu.example.com",
            "pool": "node-1",
            "observed_at": "2026-03-01T12:00:00Z",
            "server": {
                "driver": "gpu.example.com",
                "poolName": "node-1",
                "availableDevices": 1,
            },
            "ours": None,
            "differences": [
                {
                    "field": "available",
                    "parameters": {},
                    "name": "available",
                    "ours": 2,
                    "server": 1,
                    "reason": "the server subtracts a device that is allocated and tainted twice",
                    "reasons": ["server_subtracts_twice"],
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    "path",
    [
        "clusters/999/",
        "pools/999/",
        "pools/999/history/",
        "devices/999/",
        "resource-slices/999/",
        "pool-status-requests/999/",
        "pools/99999999999999999999999999/",
        "pools/node-1/",
        "nothing/",
    ],
)
def test_address_of_nothing_is_a_problem(refused: Any, path: str) -> None:
    assert refused(path) == (
        404,
        {
            "type": "about:blank",
            "title": "Not Found",
            "status": 404,
            "code": "not_found",
            "detail": "There is nothing at this address.",
            "instance": f"/api/v1/{path}",
        },
    )


def test_detail_with_an_unknown_parameter_is_refused(refused: Any) -> None:
    row = api_rows.pool(api_rows.cluster())

    status, problem = refused(f"pools/{row.id}/?limit=3")

    assert (status, problem["allowed"]) == (400, ["at", "format"])


@pytest.mark.parametrize(
    "text", ["1e3", "0o7", "10", "1_000", "yes", "null", "", "~", ".5", "a: b"]
)
def test_yaml_keeps_text_that_looks_like_something_else(text: str) -> None:
    assert YAMLText().render({"value": text}) in {
        f"value: '{text}'\n".encode(),
        f'value: "{text}"\n'.encode(),
    }
