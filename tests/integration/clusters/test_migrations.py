from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from tests.factories.clusters import NOON

if TYPE_CHECKING:
    from tests.integration.conftest import Migrate


def said(text: str) -> dict[str, Any]:
    return {"code": "said_before", "parameters": {"said_before": text}}


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("The API server could not be read. It is away.", said("It is away.")),
        ("The API server could not be read.", {}),
        ("Something else.", said("Something else.")),
        ("", {}),
    ],
)
def test_what_was_said_of_failures_is_kept_without_the_reason_of_the_gap(
    migrate: Migrate, message: str, failure: dict[str, Any]
) -> None:
    before = migrate("clusters", "0005_identity")
    cluster = before.get_model("clusters", "Cluster").objects.create(
        name="one", created_at=NOON, reach="timeout", reach_message="It is slow."
    )
    before.get_model("clusters", "ClusterKind").objects.create(
        cluster_id=cluster.pk, kind="ResourceClaim", message="Garbled."
    )
    before.get_model("clusters", "Gap").objects.create(
        cluster_id=cluster.pk,
        kind="ResourceClaim",
        started_at=NOON,
        reason="api_unreachable",
        message=message,
    )

    after = migrate("clusters", "0006_failures_as_codes")

    assert after.get_model("clusters", "Cluster").objects.get().reach_failure == said(
        "It is slow."
    )
    assert after.get_model("clusters", "ClusterKind").objects.get().failure == said("Garbled.")
    assert after.get_model("clusters", "Gap").objects.get().failure == failure


def test_past_begins_when_it_is_kept_and_not_when_the_cluster_was_first_read(
    migrate: Migrate,
) -> None:
    before = migrate("clusters", "0007_fewer_indexes")
    cluster = before.get_model("clusters", "Cluster").objects.create(name="one", created_at=NOON)
    kinds = before.get_model("clusters", "ClusterKind").objects
    kinds.create(cluster_id=cluster.pk, kind="Node", last_synced_at=NOON)
    kinds.create(cluster_id=cluster.pk, kind="ResourceClaim")
    migrated_at = timezone.now()

    after = migrate("clusters", "0008_first_synced")

    found = after.get_model("clusters", "ClusterKind").objects
    assert found.get(kind="Node").first_synced_at > migrated_at
    assert found.get(kind="ResourceClaim").first_synced_at is None


def test_name_of_a_cluster_that_another_one_got_is_kept_without_the_words(
    migrate: Migrate,
) -> None:
    before = migrate("clusters", "0008_first_synced").get_model("clusters", "Cluster").objects
    earlier = before.create(name="one (until 2026-11-29 12:01:00)", created_at=NOON, url="a")
    before.create(name="one", created_at=NOON, url="b", replaces=earlier)
    before.create(name="two (until tomorrow)", created_at=NOON)

    after = migrate("clusters", "0009_replaced_at").get_model("clusters", "Cluster").objects

    assert list(after.values_list("name", "url", "replaced_at")) == [
        ("one", "a", NOON),
        ("one", "b", None),
        ("two (until tomorrow)", "", None),
    ]
