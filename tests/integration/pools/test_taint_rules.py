from typing import Any

import pytest
from django.db import transaction

from dra.values import DriverName, PoolKey, PoolName
from objects.services.changes import RowChanges
from objects.services.log import record_events
from objects.services.staging import open_cursor
from pools.services.slices import record_slices
from pools.services.taint_rules import record_taint_rules
from tests.factories import kube
from tests.factories.clusters import NOON, watched_cluster
from tests.factories.events import new_event
from tests.statements import sent_statements

pytestmark = pytest.mark.django_db


def selected(*selectors: dict[str, str] | None) -> tuple[set[PoolKey], int]:
    """The pools that rules with these selectors touch when they arrive together, and how many statements that takes."""
    cluster = watched_cluster()
    changes = RowChanges(cluster.pk)
    published = [
        kube.resource_slice("a", pool="node-1"),
        kube.resource_slice("b", pool="node-2"),
        kube.resource_slice("c", pool="node-1", driver="nic.example.com"),
    ]
    rules = [
        kube.taint_rule(f"rule-{number}", selector=selector)
        for number, selector in enumerate(selectors)
    ]
    with transaction.atomic(), open_cursor() as cursor:
        stored = [
            record_events(cursor, cluster.pk, [new_event(each) for each in objects], now=NOON)
            for objects in (published, rules)
        ]
        record_slices(cursor, cluster.pk, stored[0], now=NOON, changes=changes)
        with sent_statements() as sent:
            found = record_taint_rules(cursor, cluster.pk, stored[1], now=NOON, changes=changes)
    return found, len(sent)


GPU_1 = PoolKey(DriverName(kube.DRIVER), PoolName("node-1"))
GPU_2 = PoolKey(DriverName(kube.DRIVER), PoolName("node-2"))
NIC_1 = PoolKey(DriverName("nic.example.com"), PoolName("node-1"))


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([{"driver": kube.DRIVER, "pool": "node-1"}], {GPU_1}),
        ([{"driver": kube.DRIVER}], {GPU_1, GPU_2}),
        ([{"pool": "node-1"}], {GPU_1, NIC_1}),
        ([{"driver": "nic.example.com"}, {"pool": "node-2"}, {"pool": "none"}], {GPU_2, NIC_1}),
        ([None], {GPU_1, GPU_2, NIC_1}),
        ([{"pool": "node-1", "deviceClassName": "gpu"}], {GPU_1, GPU_2, NIC_1}),
    ],
)
def test_taint_rules_touch_the_pools_that_any_of_them_may_select(
    selectors: list[Any], expected: set[PoolKey]
) -> None:
    assert selected(*selectors) == (expected, 1)
