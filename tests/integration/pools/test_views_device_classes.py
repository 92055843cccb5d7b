from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.factories import api_rows
from tests.factories.api_rows import NOON
from tests.series import for_each

if TYPE_CHECKING:
    from clusters.models import Cluster
    from tests.integration.conftest import Ask, Visit


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = api_rows.cluster()
    made.kinds.create(kind="DeviceClass", state="watching", last_synced_at=NOON, object_count=1)
    return made


def test_class_list_shows_what_each_stands_for(visit: Visit, cluster: Cluster) -> None:
    api_rows.device_class(cluster, "any", selectors=[])
    api_rows.device_class(
        cluster,
        "gpu",
        selectors=["a < b", "<b>c</b>"],
        extended_resource_name="example.com/gpu",
        config_drivers=["gpu.example.com"],
    )
    api_rows.device_class(cluster, "gone", vanished_at=NOON)

    page = visit("/device-classes/")

    assert page.rows() == [
        {
            "Device class": "any",
            "A device is of it if": "it is any device",
            "Extended resource": "none",
            "Configures": "no driver",
            "Changed": "4 s ago",
        },
        {
            "Device class": "gpu",
            "A device is of it if": "a < b and <b>c</b>",
            "Extended resource": "example.com/gpu",
            "Configures": "gpu.example.com",
            "Changed": "4 s ago",
        },
    ]
    assert page.answer == "2 device classes."


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("name=gpu", ["gpu"]),
        ("extended_resource=example.com/nic", ["nic"]),
        ("q=extended_resource:example.com/nic", ["nic"]),
        ("q=NIC.example", ["nic"]),
        ("q=absent", []),
    ],
)
def test_class_list_takes_filters_from_the_address(
    visit: Visit, cluster: Cluster, query: str, found: list[str]
) -> None:
    api_rows.device_class(cluster, "gpu")
    api_rows.device_class(
        cluster,
        "nic",
        selectors=["device.driver == 'nic.example.com'"],
        extended_resource_name="example.com/nic",
    )

    page = visit(f"/device-classes/?{query}")

    rows = page.rows() if page.all("tbody") else []
    assert [row["Device class"] for row in rows] == found


@pytest.mark.parametrize("count", [1, 3])
def test_class_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, cluster: Cluster, django_assert_num_queries: Any, count: int
) -> None:
    for_each(range(count), lambda number: api_rows.device_class(cluster, f"c-{number}"))

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, the count and the classes 2.
    with django_assert_num_queries(11):
        page = visit("/device-classes/")

    assert len(page.rows()) == count


def test_class_page_says_what_it_stands_for_and_what_is_not_known(
    visit: Visit, cluster: Cluster
) -> None:
    problem = {"code": "x", "parameters": {"said_before": "Unreadable."}}
    row = api_rows.device_class(
        cluster,
        selectors=["a", "b"],
        extended_resource_name="example.com/gpu",
        config_drivers=["gpu.example.com"],
        created_at=NOON - timedelta(days=3),
        problems=[problem],
    )

    page = visit(f"/device-classes/{row.id}/")

    assert page.answer == "A device is of it if all 2 expressions are true of the device."
    assert page.facts() == {
        "Cluster": "prod",
        "A device is of it if": (
            "a b DRA-Dash does not evaluate these expressions yet, so it does not say which devices those are."
        ),
        "Extended resource": (
            "example.com/gpu Where extended resources are switched on, also"
            " deviceclass.resource.kubernetes.io/gpu."
        ),
        "Configures": "gpu.example.com",
        "In the cluster since": "3 d ago",
        "Latest change": "4 s ago",
    }
    assert "Unreadable." in page.text


def test_class_with_an_expression_that_cannot_be_read_is_not_any_device(
    visit: Visit, cluster: Cluster
) -> None:
    row = api_rows.device_class(cluster, selectors=[None])

    (shown,) = visit("/device-classes/").rows()
    page = visit(f"/device-classes/{row.id}/")

    assert shown["A device is of it if"] == "one that could not be read"
    assert page.answer == (
        "Not all of its expressions could be read, so fewer devices may be of it than the others say."
    )
    assert page.facts()["A device is of it if"].startswith("one that could not be read ")


def test_class_page_of_a_class_that_is_gone_or_never_was(
    visit: Visit, ask: Ask, cluster: Cluster
) -> None:
    row = api_rows.device_class(cluster, vanished_at=NOON)

    gone = visit(f"/device-classes/{row.id}/")

    assert gone.answer == "No longer in the cluster. This is what was stored."
    assert ask(f"/device-classes/{row.id + 1}/").status_code == 404


def test_class_in_the_api_is_as_in_its_list(
    client: Any, cluster: Cluster, admin_user: Any
) -> None:
    row = api_rows.device_class(cluster, config_drivers=["gpu.example.com"], created_at=NOON)
    client.force_login(admin_user)

    listed = client.get("/api/v1/device-classes/").json()["results"]
    alone = client.get(f"/api/v1/device-classes/{row.id}/").json()

    assert (listed, alone) == (
        [alone],
        {
            "id": str(row.id),
            "url": f"http://testserver/api/v1/device-classes/{row.id}/",
            "cluster": "prod",
            "cluster_id": str(cluster.pk),
            "name": "gpu",
            "uid": "uid-gpu",
            "selectors": ["device.driver == 'gpu.example.com'"],
            "extended_resource_name": None,
            "config_drivers": ["gpu.example.com"],
            "created_at": "2026-03-01T12:00:00Z",
            "problems": [],
            "changed_at": "2026-03-01T12:00:00Z",
            "vanished_at": None,
            "observed_at": "2026-03-01T12:00:00Z",
        },
    )
