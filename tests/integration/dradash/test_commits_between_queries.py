"""Whatever is committed while an answer is made: its figures agree with each other, and with its ETag."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client

from api import tokens
from objects.services.partitions import ensure_partitions
from pools.services.rollups import SAMPLES
from tests.addresses import reading_routes
from tests.factories import api_rows
from tests.factories.api_rows import NOON

# What is asked, by route.
PATHS = {
    "/": "/",
    "/clusters/": "/clusters/",
    "/clusters/status/": "/clusters/status/",
    "/clusters/<int:cluster_id>/": "/clusters/{cluster}/",
    "/pools/": "/pools/",
    "/pools/<int:pool_id>/": "/pools/{pool}/",
    "/devices/": "/devices/",
    "/devices/<int:device_id>/": "/devices/{device}/",
    "/device-classes/": "/device-classes/",
    "/device-classes/<int:number>/": "/device-classes/{device_class}/",
    "/nodes/": "/nodes/",
    "/nodes/<int:number>/": "/nodes/{node}/",
    "/resource-slices/": "/resource-slices/",
    "/resource-slices/<int:object_id>/": "/resource-slices/1/",
    "/pool-status-requests/": "/pool-status-requests/",
    "/pool-status-requests/<int:request_id>/": "/pool-status-requests/{request}/",
    "/api/v1/clusters/": "/api/v1/clusters/",
    "/api/v1/clusters/<int:id>/": "/api/v1/clusters/{cluster}/",
    "/api/v1/pools/": "/api/v1/pools/",
    "/api/v1/pools/<int:id>/": "/api/v1/pools/{pool}/",
    "/api/v1/pools/<int:id>/history/": "/api/v1/pools/{pool}/history/",
    "/api/v1/devices/": "/api/v1/devices/",
    "/api/v1/devices/<int:id>/": "/api/v1/devices/{device}/",
    "/api/v1/device-classes/": "/api/v1/device-classes/",
    "/api/v1/device-classes/<int:id>/": "/api/v1/device-classes/{device_class}/",
    "/api/v1/nodes/": "/api/v1/nodes/",
    "/api/v1/nodes/<int:id>/": "/api/v1/nodes/{node}/",
    "/api/v1/resource-slices/": "/api/v1/resource-slices/",
    "/api/v1/resource-slices/<int:id>/": "/api/v1/resource-slices/1/",
    "/api/v1/pool-status-requests/": "/api/v1/pool-status-requests/",
    "/api/v1/pool-status-requests/<int:id>/": "/api/v1/pool-status-requests/{request}/",
}
CSV = ["/api/v1/pools/?format=csv", "/api/v1/devices/?format=csv"]

# What differs between the state before (0) and after (1) the commit: figures of every kind, each with the subject that it is of.
CHANGES = {
    "UPDATE clusters_cluster SET server_version = 'v1.3' || %(n)s": "Cluster",
    "UPDATE pools_pool SET devices_available = 2 - %(n)s, devices_allocated = 1 + %(n)s": "Pool",
    "UPDATE pools_poolsample SET available = 2 - %(n)s, allocated = 1 + %(n)s": "Pool",
    "UPDATE pools_deviceuse SET state = CASE %(n)s WHEN 0 THEN 'available' ELSE 'blocked' END": "Pool",
    "UPDATE pools_allocation SET claim_name = 'claim-' || %(n)s": "Pool",
    "UPDATE pools_resourceslice SET device_count = 4 + %(n)s": "ResourceSlice",
    "UPDATE pools_poolstatusrequest SET pools_differing = %(n)s": "ResourcePoolStatusRequest",
    "UPDATE pools_deviceclass SET extended_resource_name = 'r' || %(n)s": "DeviceClass",
    "UPDATE pools_node SET is_ready = (%(n)s = 0), ready_reason = 'r' || %(n)s": "Node",
    "UPDATE objects_kubeobject SET resource_version = 81273 + %(n)s": "ResourceSlice",
}
SUBJECTS = tuple(dict.fromkeys(CHANGES.values()))
RAISE = "UPDATE clusters_revision SET number = 1 + %(n)s"

SLICE = {"kind": "ResourceSlice", "spec": {"pool": {"name": "node-1"}}}

Answer = tuple[str, str]


@pytest.fixture
def commit(transactional_db: None) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Runs statements in another connection, in a transaction of their own."""
    parameters = connection.get_connection_params() | {"cursor_factory": psycopg.ClientCursor}
    with psycopg.connect(**parameters) as second:

        def commit(statements: str, values: Mapping[str, Any]) -> None:
            second.cursor().execute(statements, values)
            second.commit()

        yield commit


@pytest.fixture
def change(commit: Callable[[str, Mapping[str, Any]], None]) -> Callable[[int], None]:
    """Brings all rows into the state before or after."""
    return lambda n: commit(";".join([*CHANGES, RAISE]), {"n": n})


@pytest.fixture
def ids(soon: None, change: Callable[[int], None]) -> dict[str, Any]:
    ensure_partitions(SAMPLES, now=NOON)
    cluster = api_rows.cluster(pool_status_mode="on")
    cluster.revisions.bulk_create(
        [cluster.revisions.model(cluster=cluster, subject=each, number=1) for each in SUBJECTS]
    )
    pool = api_rows.pool(cluster, "node-1")
    device = api_rows.device(pool)
    api_rows.allocation(device)
    api_rows.sample(pool, NOON - timedelta(minutes=50))
    api_rows.stored_object(api_rows.resource_slice(pool), SLICE)
    request = api_rows.status_request(cluster)
    api_rows.status_answer(request)
    return {
        "cluster": cluster.pk,
        "pool": pool.id,
        "device": device.id,
        "device_class": api_rows.device_class(cluster).id,
        "node": api_rows.node(cluster, "node-1").id,
        "request": request.pk,
    }


@pytest.fixture
def ask(ids: dict[str, Any], plain_static: None) -> Callable[[str], Answer]:
    """ETag and text of a page's live part, or of an answer of the API."""
    user = User.objects.create_user("ada")
    row, token = tokens.create_token(user, name="", expires_at=None, now=NOON)
    type(row).objects.update(last_used_at=NOON + timedelta(days=100_000))
    person = Client(headers={"HX-Request": "true"})
    person.force_login(user)
    program = Client(headers={"Authorization": f"Bearer {token}"})

    def ask(path: str) -> Answer:
        caches["memory"].clear()
        client = program if path.startswith("/api/") else person
        response: Any = client.get(path.format(**ids))
        assert response.status_code == 200
        return response["ETag"], response.getvalue().decode()

    return ask


class CommitBefore:
    """Lets another connection commit before one of the queries of this one; the others are counted only."""

    def __init__(self, commit: Callable[[], None], *, before: int | None = None) -> None:
        self.count = 0
        self._commit = commit
        self._before = before

    def __call__(self, execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if self.count == self._before:
            self._commit()
        self.count += 1
        return execute(sql, parameters, many, context)


@pytest.fixture
def mixed(ask: Callable[[str], Answer], change: Callable[[int], None]) -> Callable[[str], Any]:
    """Before which queries of a path a commit leads to an answer that is neither of before nor of after."""

    def ask_with_commit(path: str, *, before: int | None = None) -> tuple[Answer, int]:
        change(0)
        commit = CommitBefore(lambda: change(1), before=before)
        with connection.execute_wrapper(commit):
            return ask(path), commit.count

    def mixed(path: str) -> Any:
        old, count = ask_with_commit(path)
        change(1)
        new = ask(path)
        answers = [ask_with_commit(path, before=before)[0] for before in range(count)]
        assert (answers[0], answers[-1], old[0] == new[0]) == (new, old, False)
        return [number for number, each in enumerate(answers) if each not in {old, new}]

    return mixed


def test_commit_between_any_two_queries_is_seen_wholly_or_not_at_all(
    mixed: Callable[[str], Any],
) -> None:
    paths = [*PATHS.values(), *CSV]

    assert {path: mixed(path) for path in paths} == {path: [] for path in paths}


@pytest.mark.parametrize(("statement", "subject"), CHANGES.items())
def test_answer_that_a_change_of_one_subject_alters_has_another_etag(
    ask: Callable[[str], Answer],
    change: Callable[[int], None],
    commit: Callable[[str, Mapping[str, Any]], None],
    statement: str,
    subject: str,
) -> None:
    change(0)
    before = {path: ask(path) for path in PATHS.values()}
    commit(f"{statement};{RAISE} WHERE subject = %(subject)s", {"n": 1, "subject": subject})
    after = {path: ask(path) for path in PATHS.values()}

    unchanged = {path: each for path, each in before.items() if each[0] == after[path][0]}
    assert {path: after[path] for path in unchanged} == unchanged
    assert any(before[path][1] != each[1] for path, each in after.items())


def test_every_address_that_reads_is_asked() -> None:
    assert set(PATHS) == reading_routes()
