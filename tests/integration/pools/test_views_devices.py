from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from pools.models import Pool, PublishedDevice
from tests.factories import api_rows
from tests.integration.conftest import Ask, Visit
from tests.pages import heading
from tests.series import for_each


@pytest.fixture
def pool(db: None) -> Pool:
    return api_rows.pool(api_rows.cluster())


def names(page: Any) -> list[str]:
    rows = page.rows() if page.all("tbody") else []
    return [row["Device"].split()[0] for row in rows]


def test_device_list_shows_attributes_capacity_state_and_holders(visit: Visit, pool: Pool) -> None:
    held = api_rows.device(pool, "gpu-0", state="allocated", is_partly_used=True)
    api_rows.device(
        pool, "gpu-1", state="unknown", attributes={"flags": ["a", "b"], "ok": True}, capacity=[]
    )
    api_rows.count_devices(pool)
    api_rows.allocation(held, share_id="s1")
    api_rows.allocation(held, "watcher", has_admin_access=True)

    page = visit("/devices/?column=memory&column=model&column=flags&column=ok")

    absent = "–"
    assert page.rows() == [
        {
            "Device": "gpu-0",
            "Driver": "gpu.example.com",
            "Pool": "node-1",
            "Node": "node-1",
            "State": "allocated partly used",
            "memory": "80 GiB",
            "model": "A100",
            "flags": absent,
            "ok": absent,
            "Held by": "training/watcher admin access training/worker-0 a share",
        },
        {
            "Device": "gpu-1",
            "Driver": "gpu.example.com",
            "Pool": "node-1",
            "Node": "node-1",
            "State": "unknown",
            "memory": absent,
            "model": absent,
            "flags": "a, b",
            "ok": "true",
            "Held by": "unknown",
        },
    ]
    assert page.answer == "2 devices, 0 free, 1 unknown."


def test_device_list_links_device_pool_driver_and_node(visit: Visit) -> None:
    pool = api_rows.pool(api_rows.cluster(), "pool-1", node_name="node-1")
    device = api_rows.device(pool, "gpu-0")

    assert visit("/devices/").one("tbody").links() == {
        "gpu-0": f"/devices/{device.id}/",
        "gpu.example.com": "/devices/?driver=gpu.example.com",
        "pool-1": f"/pools/{pool.id}/",
        "node-1": "/devices/?node=node-1",
    }


def test_device_list_of_one_driver_leaves_its_column_out(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool)

    (row,) = visit("/devices/?q=driver:gpu.example.com").rows()

    assert "Driver" not in row


def test_device_list_names_the_cluster_where_there_are_several(visit: Visit, pool: Pool) -> None:
    api_rows.cluster("two")
    api_rows.device(pool)

    assert visit("/devices/").rows()[0]["Cluster"] == "prod"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("driver=nic.example.com", ["nic-0"]),
        ("pool=node-2", ["nic-0"]),
        ("node=node-1", ["gpu-0", "gpu-1"]),
        ("state=allocated", ["gpu-1"]),
        ("tainted=true", ["gpu-1"]),
        ("attribute=model%3DA100", ["gpu-0"]),
        ("attribute=index>%3D1", ["gpu-1"]),
        ("capacity=memory>%3D40Gi", ["gpu-0"]),
        ("q=memory>%3D40Gi", ["gpu-0"]),
        ("q=node:node-1+model!%3DA100", ["gpu-1"]),
        ("q=node-2", ["nic-0"]),
        ("q=NODE-2", ["nic-0"]),
        ("q=GPU", ["gpu-0", "gpu-1"]),
        ("sort=-name", ["nic-0", "gpu-1", "gpu-0"]),
        ("sort=state", ["gpu-1", "gpu-0", "nic-0"]),
        ("q=nothing", []),
    ],
)
def test_device_list_takes_filters_and_order_from_the_address(
    visit: Visit, pool: Pool, query: str, found: list[str]
) -> None:
    api_rows.device(pool, "gpu-0")
    api_rows.device(
        pool,
        "gpu-1",
        state="allocated",
        attributes={"model": "H100", "index": 1},
        capacity_numbers={"memory": 2**30},
        taints=[{"key": "k", "value": "", "effect": "None", "rule": None}],
    )
    other = api_rows.pool(pool.cluster, "node-2", driver="nic.example.com")
    api_rows.device(other, "nic-0", attributes={}, capacity=[], capacity_numbers={})

    assert names(visit(f"/devices/?{query}")) == found


def test_device_is_tainted_by_its_slice_or_by_a_rule(visit: Visit, pool: Pool) -> None:
    """The state has taints only where they are not those of the slice."""
    published = api_rows.device(pool, "by-slice")
    taint = {"key": "k", "value": "", "effect": "None", "rule": None}
    PublishedDevice.objects.filter(id=published.id).update(taints=[taint])
    api_rows.device(pool, "by-rule", taints=[{**taint, "rule": "r"}])
    api_rows.device(pool, "free")

    assert names(visit("/devices/?tainted=true")) == ["by-rule", "by-slice"]
    assert names(visit("/devices/?tainted=false")) == ["free"]


def test_device_list_columns_are_what_the_drivers_have(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool, attributes={"a": 1, "b": 1, "c": 1, "d": 1, "model": "A100"})

    page = visit("/devices/")
    filtered = visit("/devices/?q=d%3D1")

    heads = [head.text for head in page.all("th", scope="col")]
    assert heads == [
        "Device", "State", "Held by", "Driver", "Pool", "Node", "model", "memory", "a", "b",
    ]  # fmt: skip
    assert [head.text for head in filtered.all("th", scope="col")][6] == "d"


def test_device_list_heads_are_short_where_that_leaves_them_different(
    visit: Visit, pool: Pool
) -> None:
    api_rows.device(pool, attributes={"a.io/x": 1, "b.io/x": 2, "c.io/y": 3})

    page = visit("/devices/?column=a.io/x&column=b.io/x&column=c.io/y")

    assert list(page.rows()[0].items())[6:9] == [("a.io/x", "1"), ("b.io/x", "2"), ("y", "3")]
    assert page.one("th", title="c.io/y").text == "y"


def test_device_list_chosen_columns_are_in_the_address_and_stay(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool)

    page = visit("/devices/?column=index&column=<b>absent&state=available")

    chooser = page.one("details", id="device-columns")
    ticked = {
        box.attributes["value"]: "checked" in box.attributes
        for box in chooser.all("input", type="checkbox")
    }
    kept = {box.attributes["name"]: box.attributes["value"] for box in chooser.all(type="hidden")}
    assert ticked == {"memory": False, "model": False, "index": True, "<b>absent": True}
    assert kept == {"state": "available"}
    assert list(page.rows()[0]) == [
        "Device", "State", "Held by", "Driver", "Pool", "Node", "index", "<b>absent",
    ]  # fmt: skip
    assert page.one("form", class_="list-filters").all(type="hidden", name="column") != []


def test_device_list_facets_count_what_the_filters_leave(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gpu-1", state="blocked")
    api_rows.count_devices(pool)

    page = visit("/devices/?driver=gpu.example.com")

    assert [option.text for option in page.one("select", name="state").all("option")] == [
        "any state",
        "allocated (0)",
        "available (1)",
        "blocked (1)",
        "unavailable (0)",
        "unknown (0)",
    ]
    (chosen,) = [
        o for o in page.one("select", name="driver").all("option") if "selected" in o.attributes
    ]
    assert chosen.text == "gpu.example.com (2)"


def test_device_list_exports_the_present_view(visit: Visit, viewer: Client, pool: Pool) -> None:
    api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gpu-1")

    page = visit("/devices/?q=gpu-1&column=model&sort=-name")

    links = page.one("p", class_="exports").links()
    assert [d["device"] for d in viewer.get(links["JSON"]).json()["results"]] == ["gpu-1"]
    assert len(b"".join(viewer.get(links["CSV"])).splitlines()) == 2


@pytest.mark.parametrize("rows", [1, 3])
def test_device_list_whatever_its_length_takes_the_same_queries(
    visit: Visit, pool: Pool, django_assert_num_queries: Any, rows: int
) -> None:
    for_each(
        range(rows), lambda number: api_rows.allocation(api_rows.device(pool, f"gpu-{number}"))
    )

    # Session and person 2, the snapshot 4, clusters with kinds and gaps 3, page 1, facets 2, columns 1, holders 1.
    with django_assert_num_queries(13):
        page = visit("/devices/")

    assert len(page.rows()) == rows


def test_device_list_refuses_what_it_does_not_understand(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool)

    page = visit("/devices/?sort=colour&cursor=x&state=tired&capacity=big")

    assert [each.text for each in page.all("p", class_="list-problem")] == [
        "state: “tired” is not one of allocated, available, blocked, unavailable, unknown.",
        "capacity: Write a capacity as name>=quantity, such as memory>=40Gi, not “big”.",
        "sort: Write one of name, node, state, or the same after a minus.",
    ]
    assert page.one("p", class_="empty-title").text == (
        "These devices cannot be shown: a filter is not understood."
    )


def test_device_list_fragment_is_the_part_of_the_page(
    visit: Visit, fragment: Visit, ask: Ask, pool: Pool
) -> None:
    api_rows.device(pool)

    page, part = visit("/devices/"), fragment("/devices/")
    first = ask("/devices/")

    assert part.one(id="device-list").text == page.one(id="device-list").text
    assert ask("/devices/", **{"If-None-Match": first["ETag"]}).status_code == 304


def test_device_page_says_what_it_is_and_who_holds_it(visit: Visit, pool: Pool) -> None:
    device = api_rows.device(pool, "gpu-0", state="allocated", is_partly_used=True)
    api_rows.resource_slice(pool)
    api_rows.allocation(device, share_id="s1", consumed_capacity={"memory": "10Gi"})
    api_rows.allocation(device, "watcher", has_admin_access=True)

    page = visit(f"/devices/{device.id}/")

    assert (page.one("h1").text, page.answer) == (
        "gpu-0",
        "Held by 1 claim. It has room for another share.",
    )
    facts = page.facts()
    assert (facts["Pool"], facts["Published in"], facts["Generation"]) == (
        "node-1",
        "slice-a",
        "3",
    )
    holders = page.one("section", aria_labelledby="holders-title")
    assert [entry.text for entry in holders.all("li")] == [
        "training/worker-0 for its request gpu, consumes 10 GiB memory share s1",
        "training/watcher",
    ]
    assert page.one("nav", class_="trail").links() == {
        "Pools": "/pools/",
        "node-1": f"/pools/{pool.id}/",
    }


def test_device_page_attributes_link_to_devices_with_the_same_value(
    visit: Visit, pool: Pool
) -> None:
    odd = "A=1 & <b>"
    device = api_rows.device(pool, attributes={"model": odd, "list": [1, 2], "empty": ""})

    page = visit(f"/devices/{device.id}/")
    link = page.one("a", title="All devices with this value").attributes["href"]

    assert link == f"/devices/?attribute=model%3D{quote(odd, safe='')}"
    assert names(visit(link)) == ["gpu-0"]
    section = page.one("section", aria_labelledby="attributes-title")
    values = [cell.text for cell in section.all("td")]
    assert values == ["(empty)", "1, 2", odd]


def test_device_page_whole_device_shows_its_total_alone(visit: Visit, pool: Pool) -> None:
    whole = [{"name": "memory", "total": "80Gi", "consumed": "80Gi", "available": "0"}]
    device = api_rows.device(pool, state="allocated", capacity=whole)
    api_rows.allocation(device)

    section = visit(f"/devices/{device.id}/").one(
        "section", aria_labelledby="device-capacity-title"
    )

    assert [cell.text for cell in section.all("td")] == ["80 GiB"]


def test_device_page_shared_device_shows_what_is_left(visit: Visit, pool: Pool) -> None:
    shared = [{"name": "memory", "total": "80Gi", "consumed": "30Gi", "available": "50Gi"}]
    device = api_rows.device(pool, state="allocated", is_partly_used=True, capacity=shared)

    section = visit(f"/devices/{device.id}/").one(
        "section", aria_labelledby="device-capacity-title"
    )

    assert [c.text for c in section.all("td")] == ["50 GiB", "30 GiB", "80 GiB"]


def test_device_page_names_the_same_hardware_elsewhere(visit: Visit, pool: Pool) -> None:
    mine = api_rows.device(pool, "gpu-0", attributes={"uuid": "U1", "d/pciBusID": "0000:1"})
    other = api_rows.pool(pool.cluster, "node-1-mig", driver="mig.example.com", node_name="node-1")
    far = api_rows.pool(pool.cluster, "node-2")
    api_rows.device(other, "by-uuid", attributes={"uuid": "U1"})
    api_rows.device(other, "by-address", attributes={"d/pciBusID": "0000:1"})
    api_rows.device(far, "same-address-elsewhere", attributes={"d/pciBusID": "0000:1"})
    api_rows.device(other, "gone", attributes={"uuid": "U1"}, vanished_at=api_rows.NOON)

    section = visit(f"/devices/{mine.id}/").one("section", aria_labelledby="twins-title")

    rows = [row.one("th").text for row in section.one("tbody").all("tr")]
    assert rows == ["by-address", "by-uuid"]


def test_device_page_of_unique_hardware_has_no_other_names(visit: Visit, pool: Pool) -> None:
    device = api_rows.device(pool, attributes={"uuid": 7, "serial": ""})

    assert visit(f"/devices/{device.id}/").all("section", aria_labelledby="twins-title") == []


def test_device_page_unknown_state_has_unknown_holders(visit: Visit, pool: Pool) -> None:
    Pool.objects.update(generation=None)
    device = api_rows.device(pool, state="unknown", node_name=None)

    page = visit(f"/devices/{device.id}/")

    assert page.one("section", aria_labelledby="holders-title").one("p").text == "unknown"
    assert (page.facts()["Generation"], page.facts()["Published in"]) == ("unknown", "unknown")
    assert page.facts()["Node"] == "node-1"


@pytest.mark.parametrize("holders", [1, 3])
def test_device_page_whatever_holds_it_takes_the_same_queries(
    visit: Visit, pool: Pool, django_assert_num_queries: Any, holders: int
) -> None:
    device = api_rows.device(pool, attributes={"uuid": "U1"})
    for_each(range(holders), lambda number: api_rows.allocation(device, f"worker-{number}"))
    for_each(
        range(holders),
        lambda number: api_rows.device(pool, f"twin-{number}", attributes={"uuid": "U1"}),
    )

    # Session and person 2, the snapshot 4, device and pool 2, clusters with kinds and gaps 3, holders 1, the same hardware 1, slice 1.
    with django_assert_num_queries(14):
        visit(f"/devices/{device.id}/")


def test_device_page_live_part(ask: Ask, pool: Pool) -> None:
    device = api_rows.device(pool)
    first = ask(f"/devices/{device.id}/")

    same = ask(f"/devices/{device.id}/", **{"If-None-Match": first["ETag"]})

    assert (first.status_code, same.status_code) == (200, 304)
    assert first.content.decode().lstrip().startswith('<div id="device"')


def test_device_page_of_one_that_vanished_says_since_when_and_what_it_was(
    visit: Visit, pool: Pool
) -> None:
    device = api_rows.device(pool, state="unknown", vanished_at=api_rows.NOON)

    page = visit(f"/devices/{device.id}/")

    assert page.answer == (
        "No pool publishes this device any more. This is what was last published of it."
    )
    assert page.facts()["Vanished"] == "1 Mar 2026 12:00:00 UTC, 4 s ago"
    assert page.facts()["Published in"] == "unknown"


def test_device_list_vanished_devices_are_shown_when_asked_for(visit: Visit, pool: Pool) -> None:
    api_rows.device(pool, "gpu-0")
    api_rows.device(pool, "gone", vanished_at=api_rows.NOON)
    api_rows.count_devices(pool)
    asked = ("", "?vanished=true", "?include_vanished=true")

    shown = [visit(f"/devices/{query}") for query in asked]

    assert [[row["Device"] for row in page.rows()] for page in shown] == [
        ["gpu-0"],
        ["gone vanished"],
        ["gone vanished", "gpu-0"],
    ]


def test_device_of_a_pool_that_is_not_kept_is_not_found(viewer: Client, pool: Pool) -> None:
    device = api_rows.device(pool)
    type(pool).objects.filter(id=pool.id).delete()

    answers = [viewer.get("/devices/4711/"), viewer.get(f"/devices/{device.id}/")]

    assert [(each.status_code, heading(each)) for each in answers] == [(404, "Not found")] * 2


def test_device_page_hostile_names_are_text_and_nothing_else(visit: Visit, pool: Pool) -> None:
    text = "<script>alert(1)</script>\"'"
    device = api_rows.device(
        pool, text, attributes={text: text}, capacity=[], taints=[{"key": text, "value": text, "effect": "NoExecute", "rule": text}]
    )  # fmt: skip
    api_rows.allocation(device, text, claim_namespace=text, request=text, share_id=text)

    page = visit(f"/devices/{device.id}/")

    assert (page.one("h1").text, page.all("script")) == (text, [])
