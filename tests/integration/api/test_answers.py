from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from rest_framework.permissions import AllowAny

from api.views.base import ReadView
from clusters.choices import POOLS
from clusters.models import Cluster, ClusterKind
from clusters.services import raise_revisions, record_reach
from pools.services import status_requests
from tests.factories import api_rows
from tests.factories.api_rows import NOON

SOON = api_rows.NOON + timedelta(seconds=10)


@pytest.fixture
def tag(api: Client) -> Any:
    """The ETag of the pools, a few seconds after the sync unless said otherwise."""

    def tag(
        path: str = "pools/", *, after: timedelta = timedelta(seconds=10), **headers: str
    ) -> str:
        with time_machine.travel(api_rows.NOON + after, tick=False):
            return str(api.get(f"/api/v1/{path}", headers=headers)["ETag"])

    return tag


def test_unchanged_answer_is_304_and_says_as_of_when(api: Client, tag: Any) -> None:
    row = api_rows.pool(api_rows.cluster())
    ClusterKind.objects.update(last_synced_at=SOON)

    with time_machine.travel(SOON, tick=False):
        responses = [
            api.get(f"/api/v1/{path}", headers={"If-None-Match": f'"other", {tag(path)}'})
            for path in ("pools/", f"pools/{row.id}/")
        ]

    shown = [
        (each.status_code, each.content, each["Dradash-Observed-At"], each["Cache-Control"])
        for each in responses
    ]
    assert shown == [(304, b"", "2026-03-01T12:00:10Z", "private, no-cache")] * 2
    assert set(responses[0]["Vary"].split(", ")) >= {"Accept", "Authorization", "Cookie"}


def test_etag_is_the_same_when_only_observed_since(tag: Any) -> None:
    api_rows.pool(api_rows.cluster())
    before = tag()

    ClusterKind.objects.update(last_synced_at=SOON, resource_version="81300")

    assert tag() == before


@pytest.mark.parametrize(
    "change",
    [
        {"is_paused": True},
        {"is_watched": False},
        {"name": "renamed"},
    ],
)
def test_etag_changes_with_the_cluster(tag: Any, change: dict[str, Any]) -> None:
    api_rows.pool(api_rows.cluster())
    before = tag()

    Cluster.objects.update(**change)

    assert tag() != before


@pytest.mark.parametrize(
    "change",
    [{"state": "failing"}, {"state": "reading"}, {"last_synced_at": None}],
)
def test_etag_changes_with_what_figures_can_be_trusted(tag: Any, change: dict[str, Any]) -> None:
    api_rows.cluster()
    before = tag()

    ClusterKind.objects.update(**change)

    assert tag() != before


def test_etag_changes_when_data_goes_stale_or_a_gap_opens(tag: Any) -> None:
    cluster = api_rows.cluster()
    before = tag()

    assert tag(after=timedelta(hours=1)) != before
    api_rows.gap(cluster)
    assert tag() != before


def test_etag_differs_by_query_representation_and_role(tag: Any) -> None:
    api_rows.cluster()

    tags = [tag(), tag("pools/?limit=2"), tag(Accept="text/csv"), tag("devices/")]
    User.objects.update(is_superuser=True)
    tags.append(tag())

    assert len(set(tags)) == 5


def test_etag_of_one_cluster_does_not_change_with_another(tag: Any) -> None:
    api_rows.cluster("east")
    west = api_rows.cluster("west")
    before = [tag("pools/?cluster=east"), tag("pools/")]

    raise_revisions([west.pk], [POOLS])

    after = [tag("pools/?cluster=east"), tag("pools/")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]


def test_etag_changes_when_a_status_request_is_taken_away(tag: Any) -> None:
    row = api_rows.status_request(api_rows.cluster(), is_removed=False)
    paths = ("pool-status-requests/", f"pool-status-requests/{row.pk}/")
    before = [tag(path) for path in paths]

    status_requests.note_removed(row.cluster_id, [row.name])

    assert [tag(path) == old for path, old in zip(paths, before, strict=True)] == [False, False]


def test_etag_stays_while_something_else_of_the_cluster_changes(tag: Any) -> None:
    row = api_rows.pool(api_rows.cluster())
    lists = ("pools/", "devices/", "resource-slices/", "pool-status-requests/")
    paths = (*lists, f"pools/{row.id}/")
    before = [tag(path) for path in paths]

    raise_revisions([row.cluster_id], ["ResourceSlice", "Node"])

    same = [tag(path) == old for path, old in zip(paths, before, strict=True)]
    assert dict(zip(paths, same, strict=True)) == dict.fromkeys(paths, True) | {
        "resource-slices/": False
    }


def test_etag_of_clusters_changes_with_reach(tag: Any) -> None:
    row = api_rows.cluster()
    before = [tag("clusters/"), tag(f"clusters/{row.pk}/")]

    record_reach(row.pk, "timeout", failure=None, now=NOON)

    after = [tag("clusters/"), tag(f"clusters/{row.pk}/")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"),
        ("text/csv;q=0.1, application/json", "application/json"),
        ("text/*", "text/csv; charset=utf-8; header=present"),
        ("application/json;q=0, */*", "text/csv; charset=utf-8; header=present"),
    ],
)
def test_representation_is_what_the_reader_prefers(
    api: Client, accept: str, expected: str
) -> None:
    response = api.get("/api/v1/pools/", headers={"Accept": accept})

    assert (response.status_code, response["Content-Type"]) == (200, expected)


def test_representation_that_is_not_there_is_406(refused: Any) -> None:
    status, problem = refused("pools/", Accept="image/png")

    assert (status, problem["code"], problem["available"]) == (
        406,
        "not_acceptable",
        ["application/json", "text/csv"],
    )


@pytest.mark.parametrize(
    "path", ["/api/", "/api/v2/pools/", "/api/v1/nothing", "/api/v1/pools/a%0Ab/"]
)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_unknown_address_is_a_problem_without_sign_in(
    client: Client, path: str, method: str
) -> None:
    response = getattr(client, method)(path)

    assert (response.status_code, response["Content-Type"], response.json()["code"]) == (
        404,
        "application/problem+json",
        "not_found",
    )


def test_address_without_its_slash_leads_to_the_one_with_it(client: Client) -> None:
    response = client.get("/api/v1/pools?limit=2")

    assert (response.status_code, response["Location"]) == (308, "/api/v1/pools/?limit=2")


def test_host_that_is_not_ours_is_a_problem(client: Client) -> None:
    response = client.get("/api/v1/pools/", headers={"Host": "evil.example.com"})

    assert (response.status_code, response["Content-Type"], response.json()["code"]) == (
        400,
        "application/problem+json",
        "bad_request",
    )


def test_bug_is_a_problem_that_tells_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ReadView):
        authentication_classes = ()
        permission_classes = (AllowAny,)

        def get(self, request: Any) -> Any:
            raise RuntimeError("password=hunter2")

    response: Any = Broken.as_view()(RequestFactory().get("/api/v1/broken/"))

    assert (response.status_code, b"hunter2" in response.content) == (500, False)
    assert response["Content-Type"] == "application/problem+json"
    assert "hunter2" in caplog.text


@pytest.mark.parametrize("path", ["pools/", "docs/"])
def test_database_away_is_503_with_retry_after(
    transactional_db: None, api: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "/nowhere")
        response = api.get(f"/api/v1/{path}")

    assert (response.status_code, response["Retry-After"], response.json()["code"]) == (
        503,
        "5",
        "database_away",
    )


def test_query_that_takes_too_long_is_503(rf: RequestFactory, db: None) -> None:
    class Slow(ReadView):
        authentication_classes = ()
        permission_classes = (AllowAny,)

        def get(self, request: Any) -> Any:
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = 20")
                cursor.execute("SELECT pg_sleep(5)")

    response: Any = Slow.as_view()(rf.get("/api/v1/slow/"))

    assert (response.status_code, b"database_slow" in response.content) == (503, True)


def test_root_names_every_list_and_description(get: Any) -> None:
    at = "http://testserver/api/v1/"

    assert get("") == {
        "clusters": f"{at}clusters/",
        "pools": f"{at}pools/",
        "devices": f"{at}devices/",
        "resource-slices": f"{at}resource-slices/",
        "device-classes": f"{at}device-classes/",
        "nodes": f"{at}nodes/",
        "pool-status-requests": f"{at}pool-status-requests/",
        "docs": f"{at}docs/",
        "openapi": f"{at}openapi.json",
        "openapi-yaml": f"{at}openapi.yaml",
    }


def test_root_is_for_those_who_are_signed_in(client: Client, db: None) -> None:
    answer = client.get("/api/v1/")

    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
