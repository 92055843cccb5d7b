"""Names as long as Kubernetes allows, and values that turn the direction of writing round."""

from typing import Any

import pytest

from objects.services import partitions
from tests.e2e.conftest import OpenPage, overflow
from tests.factories import api_rows

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

LONG = "n" * 253
# RIGHT-TO-LEFT OVERRIDE: without an end, all that follows in its paragraph is turned round.
TURNED = "\u202eA100"
# Elements within a line that hold such a text and let it reach what follows in that line.
LEAKS = """() => [...document.body.querySelectorAll('*')].filter(element => {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.includes('\\u202e'));
  if (!own || ['SCRIPT', 'STYLE', 'TITLE', 'TEXTAREA', 'OPTION'].includes(element.tagName)) return false;
  const style = getComputedStyle(element);
  if (style.display === 'inline') return style.unicodeBidi === 'normal';
  return [...element.childNodes].some(node => node.nodeType === 1 && getComputedStyle(node).display === 'inline');
}).map(element => element.outerHTML.slice(0, 200))"""


@pytest.fixture
def paths(transactional_db: None) -> dict[str, str]:
    partitions.ensure_partitions(
        [
            partitions.Partitioned("pools_poolsample"),
            partitions.Partitioned("pools_poolhour", by="month"),
        ],
        now=api_rows.NOON,
    )
    problems: Any = [
        {"code": "odd", "parameters": {"said_before": f"{LONG} holds {TURNED}"}},
    ]
    cluster = api_rows.cluster()
    pool = api_rows.pool(
        cluster, LONG, driver="d" * 63, problems=problems, problem_codes=["odd"], severity=2
    )
    device = api_rows.device(
        pool,
        LONG,
        attributes={"model": TURNED, f"{'a' * 63}/{'b' * 32}": "v" * 64},
        state="allocated",
        taints=[
            {
                "key": f"{'k' * 200}/key",
                "value": TURNED,
                "effect": "NoSchedule",
                "added_at": None,
                "rule": LONG,
            }
        ],
        problems=problems,
    )
    api_rows.allocation(device, LONG, claim_namespace="s" * 63)
    found = api_rows.resource_slice(pool, name=LONG)
    node = api_rows.node(
        cluster,
        LONG,
        is_ready=False,
        ready_message=TURNED,
        labels={f"{'k' * 200}/key": TURNED},
        taints=[{"key": LONG, "value": TURNED, "effect": "NoExecute", "added_at": None}],
        addresses=[{"type": "Hostname", "address": LONG}],
        facts={"kubeletVersion": TURNED},
        problems=problems,
    )
    device_class = api_rows.device_class(
        cluster,
        LONG,
        selectors=["x" * 500, TURNED],
        extended_resource_name=LONG,
        config_drivers=["d" * 63],
        problems=problems,
    )
    asked = api_rows.status_request(cluster, LONG)
    api_rows.status_answer(asked, LONG)
    return {
        "overview": "/",
        "pools": "/pools/",
        "pool": f"/pools/{pool.id}/",
        "devices": "/devices/",
        "device": f"/devices/{device.id}/",
        "slices": "/resource-slices/",
        "slice": f"/resource-slices/{found.object_id}/",
        "nodes": "/nodes/",
        "node": f"/nodes/{node.id}/",
        "classes": "/device-classes/",
        "class": f"/device-classes/{device_class.id}/",
        "request": f"/pool-status-requests/{asked.pk}/",
    }


PAGES = (
    "overview",
    "pools",
    "pool",
    "devices",
    "device",
    "slices",
    "slice",
    "nodes",
    "node",
    "classes",
    "class",
    "request",
)


@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("name", PAGES)
def test_page_with_names_as_long_as_can_be_is_not_wider_than_its_window(
    open_page: OpenPage, paths: dict[str, str], name: str, width: int
) -> None:
    page = open_page(paths[name], viewport={"width": width, "height": 900})

    assert page.locator("main").inner_text() != ""
    assert overflow(page) <= 0


@pytest.mark.parametrize("name", PAGES)
def test_text_that_turns_direction_ends_with_its_element(
    open_page: OpenPage, paths: dict[str, str], name: str
) -> None:
    assert open_page(paths[name]).evaluate(LEAKS) == []
