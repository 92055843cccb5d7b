from datetime import datetime

import pytest

from clusters import queries
from clusters.models import Cluster, Revision
from tests.factories import api_rows
from tests.factories.api_rows import NOON
from ui.snapshot import Snapshot, Viewer

pytestmark = pytest.mark.django_db

SNAPSHOT = Snapshot(Viewer(user_id=None, role="viewer"), NOON)


def told(row: Cluster) -> tuple[str, dict[str, int], list[tuple[str, datetime | None]]]:
    revisions = dict(zip(row.revision_subjects, row.revision_numbers, strict=True))
    return row.name, revisions, [(kind.kind, kind.last_synced_at) for kind in row.known_kinds]


def test_all_clusters_are_those_of_the_query() -> None:
    one, two = api_rows.cluster("one"), api_rows.cluster("two", synced_at=None)
    Revision.objects.update_or_create(cluster=one, subject="pools", defaults={"number": 7})
    Revision.objects.update_or_create(cluster=two, subject="Node", defaults={"number": 3})

    found = queries.all_clusters(SNAPSHOT)

    assert [told(row) for row in found] == [told(row) for row in queries.clusters(SNAPSHOT)]
    assert [told(row)[1] for row in found] == [{"pools": 7}, {"Node": 3}]
