import copy
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from jsonschema import Draft202012Validator

from api.views.schema import openapi
from objects.services import partitions
from pools.models import PoolSample
from tests.factories import api_rows

PROBLEM = "ProblemDetails"


def closed(node: Any) -> Any:
    """The same schema, with no member allowed that it does not name."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {name: closed(each) for name, each in node.items()}
    return {"additionalProperties": False, **found} if "properties" in found else found


def validator(name: str) -> Draft202012Validator:
    components = closed(copy.deepcopy(openapi()["components"]))
    root = {"$ref": f"#/components/schemas/{name}", "components": components}
    return Draft202012Validator(root, format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.fixture
def ids(db: None) -> dict[str, int]:
    """One of everything, known and unknown."""
    partitions.ensure_partitions([partitions.Partitioned("pools_poolsample")], now=api_rows.NOON)
    cluster = api_rows.cluster(capabilities=api_rows.capabilities())
    api_rows.cluster("unknown", synced_at=None)
    api_rows.gap(cluster)
    partition = {"attribute": "profile", "type": "1g.10gb", "total": 7, "allocatable": None}
    capacity = [{"name": "memory", "total": "80Gi", "consumed": None, "available": None}]
    pool = api_rows.pool(cluster, partitions=[partition], capacity=capacity)
    api_rows.unknown_pool(cluster)
    taint = {"key": "a", "value": "", "effect": "NoExecute", "added_at": None, "rule": "r"}
    device = api_rows.device(pool, taints=[taint])
    api_rows.allocation(device, share_id="s-1", consumed_capacity={"memory": "10Gi"})
    resource_slice = api_rows.resource_slice(pool)
    request = api_rows.status_request(
        cluster,
        blocked_by=[
            {"driver": "d", "pool": "p", "code": "blocked_by_generation_zero", "parameters": {}}
        ],
    )
    api_rows.status_answer(request)
    PoolSample.objects.create(
        cluster=cluster, pool_id=pool.id, at=api_rows.NOON, is_complete=True, total=4
    )
    return {
        "cluster": cluster.pk,
        "pool": pool.id,
        "device": device.id,
        "slice": resource_slice.object_id,
        "request": request.pk,
    }


RANGE = "from=2026-03-01T11:00:00Z&to=2026-03-01T13:00:00Z"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("clusters/", "ClusterList"),
        ("clusters/{cluster}/", "ClusterDetail"),
        ("pools/", "PoolList"),
        ("pools/?limit=1", "PoolList"),
        ("pools/{pool}/", "Pool"),
        (f"pools/{{pool}}/history/?{RANGE}", "PoolHistory"),
        (f"pools/{{pool}}/history/?{RANGE}&step=1h", "PoolHistory"),
        ("devices/", "DeviceList"),
        ("devices/{device}/", "DeviceDetail"),
        ("resource-slices/", "ResourceSliceList"),
        ("pool-status-requests/", "PoolStatusRequestList"),
        ("pool-status-requests/{request}/", "PoolStatusRequestDetail"),
    ],
)
def test_answer_has_exactly_the_members_of_its_schema(
    get: Any, ids: dict[str, int], path: str, name: str
) -> None:
    body = get(path.format(**ids))

    assert [error.message for error in validator(name).iter_errors(body)] == []


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("pools/?nonsense=1", {}),
        ("pools/999/", {}),
        ("pools/", {"Accept": "image/png"}),
        ("pools/", {"Authorization": "Bearer wrong"}),
    ],
)
def test_problem_has_exactly_the_members_of_its_schema(
    refused: Any, path: str, headers: dict[str, str]
) -> None:
    _status, body = refused(path, **headers)

    assert [error.message for error in validator(PROBLEM).iter_errors(body)] == []


def test_schema_that_lacks_a_member_would_be_noticed(get: Any, ids: dict[str, int]) -> None:
    body = {**get("pools/"), "more": 1}

    assert [error.message for error in validator("PoolList").iter_errors(body)] == [
        "Additional properties are not allowed ('more' was unexpected)"
    ]


def test_every_member_of_every_shape_says_what_it_means() -> None:
    silent = [
        (name, member)
        for name, schema in openapi()["components"]["schemas"].items()
        for member, found in schema.get("properties", {}).items()
        if not found.get("description") and "$ref" not in found
    ]

    assert silent == []


def test_document_is_the_same_as_json_and_yaml(api: Client) -> None:
    as_json = api.get("/api/v1/openapi.json")
    as_yaml = api.get("/api/v1/openapi.yaml")

    assert as_json.json() == yaml.safe_load(as_yaml.content)
    assert as_json.json()["openapi"] == "3.1.0"
    assert (as_json["Content-Type"], as_yaml["Content-Type"]) == (
        "application/vnd.oai.openapi+json",
        "application/vnd.oai.openapi",
    )


def test_reference_page_shows_every_operation_and_shape_without_script_or_style(
    user: User, client: Client
) -> None:
    client.force_login(user)

    response = client.get("/api/v1/docs/")

    page = response.content.decode()
    document = openapi()
    missing = [
        word
        for word in [
            *document["paths"],
            *(f'id="shape-{n}"' for n in document["components"]["schemas"]),
        ]
        if word not in page
    ]
    main = page[page.index("<main") : page.index("</main>")]
    assert (response.status_code, missing) == (200, [])
    assert [
        word for word in ("<script", "style=", "<style", "onclick", "//cdn") if word in main
    ] == []


def test_reference_page_is_there_for_a_token(api: Client) -> None:
    response = api.get("/api/v1/docs/")

    assert response.status_code == 200
    assert 'id="shape-PoolList"' in response.content.decode()


def test_reference_page_refuses_a_wrong_token_as_all_of_the_api_does(
    db: None, client: Client
) -> None:
    response = client.get("/api/v1/docs/", headers={"Authorization": "Bearer dradash_wrong"})

    assert (response.status_code, response["Content-Type"]) == (401, "application/problem+json")
    assert response["WWW-Authenticate"] == 'Bearer realm="dradash", error="invalid_token"'


def test_reference_page_without_sign_in_leads_to_it(db: None, client: Client) -> None:
    response = client.get("/api/v1/docs/")

    assert (response.status_code, response["Location"]) == (
        302,
        "/accounts/login/?next=/api/v1/docs/",
    )
