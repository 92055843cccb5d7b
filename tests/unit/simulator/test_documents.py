"""What is there beside objects."""

import pytest

from tests.unit.simulator.client import Api


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_is_ok(path: str, api: Api) -> None:
    assert api.get(path).body == b"ok"


def test_older_documents_name_versions_and_groups(api: Api) -> None:
    groups = api.get("/apis").json()["groups"]

    assert api.get("/api").json()["versions"] == ["v1"]
    assert [group["name"] for group in groups] == ["authorization.k8s.io", "resource.k8s.io"]


def test_core_document_names_what_is_served(api: Api) -> None:
    rows = api.get("/api/v1").json()["resources"]

    assert [row["name"] for row in rows if "/" not in row["name"]] == [
        "namespaces",
        "nodes",
        "pods",
    ]


@pytest.mark.parametrize(
    "path", ["/", "/nope", "/api/v2", "/apis/resource.k8s.io/v9", "/apis/nope.k8s.io/v1"]
)
def test_what_is_not_served_is_not_found(path: str, api: Api) -> None:
    assert api.get(path).status == 404


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 200),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", 406),
        ("application/vnd.kubernetes.protobuf", 406),
    ],
)
def test_only_json_is_spoken(accept: str, status: int, api: Api) -> None:
    answer = api.get("/apis/resource.k8s.io/v1/resourceslices", headers={"Accept": accept})

    assert answer.status == status
