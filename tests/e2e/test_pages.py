"""Every page in a real browser, on what a sync of the simulated cluster stored."""

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from playwright.sync_api import Page, ViewportSize, expect

from clusters import services as cluster_services
from clusters.choices import Source
from clusters.models import Cluster
from clusters.services import WatchedCluster
from ingest import services
from kube.targets import Target
from pools.models import Device, DeviceClass, Node, Pool, ResourceSlice
from simulator import server
from simulator.cluster import Simulator
from tests.e2e.conftest import PHONE, WIDE, OpenPage, axe_violations, complaints, overflow
from ui.moments import moment_text
from ui.past import answers_for_moments

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

# A window of 1400 pixels at 200 %.
ZOOMED: ViewportSize = {"width": 700, "height": 450}
FIRST_LOAD_BYTES = 250_000
LATER_PAGE_BYTES = 30_000


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with server.start("fleet") as running:
        yield running


@pytest.fixture
def sync(transactional_db: None, simulator: Simulator) -> Callable[[], object]:
    wanted = WatchedCluster("simulated", Source.SIMULATED, Target("url", url=simulator.url))
    cluster = cluster_services.ensure_clusters([wanted], now=clock())[0]
    return lambda: services.sync_cluster(cluster.pk, seconds=0, clock=clock)


@pytest.fixture
def synced(sync: Callable[[], object]) -> Callable[[], object]:
    sync()
    return sync


def address(name: str) -> str:
    """Where a page is; of things that have pages, a partitioned pool and one of its devices, or the first."""
    places: dict[str, Callable[[], Any]] = {
        "pool": lambda: Pool.objects.filter(driver="mig.example.com").order_by("name")[0].id,
        "device": lambda: Device.objects.filter(driver="mig.example.com").order_by("id")[0].id,
        "slice": lambda: ResourceSlice.objects.order_by("name")[0].object_id,
        "cluster": lambda: Cluster.objects.get().pk,
        "node": lambda: Node.objects.order_by("-name")[0].id,
        "class": lambda: DeviceClass.objects.order_by("name")[0].id,
    }
    paths = {
        "overview": "/",
        "pools": "/pools/",
        "pool": "/pools/{}/",
        "devices": "/devices/",
        "device": "/devices/{}/",
        "slices": "/resource-slices/",
        "slice": "/resource-slices/{}/",
        "nodes": "/nodes/",
        "node": "/nodes/{}/",
        "classes": "/device-classes/",
        "class": "/device-classes/{}/",
        "clusters": "/clusters/",
        "cluster": "/clusters/{}/",
        "requests": "/pool-status-requests/",
    }
    return paths[name].format(places[name]()) if name in places else paths[name]


PAGES = [
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
    "clusters",
    "cluster",
    "requests",
]


LOOKS: dict[str, tuple[Literal["light", "dark"], ViewportSize]] = {
    "light": ("light", WIDE),
    "dark": ("dark", WIDE),
    "phone": ("light", PHONE),
    "zoomed": ("dark", ZOOMED),
}


def faults(page: Page, path: str, look: str) -> list[str]:
    """What is wrong with a page in one of its looks."""
    scheme, viewport = LOOKS[look]
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(viewport)
    page.goto(path)
    wide = overflow(page)
    return [*axe_violations(page), *([f"{wide} pixels over the edge"] if wide > 0 else [])]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_fits_and_complains_of_nothing_in_every_look(
    open_page: OpenPage, synced: object, name: str
) -> None:
    page = open_page("/accounts/login/")

    found = {look: faults(page, address(name), look) for look in LOOKS}

    assert found == {look: [] for look in LOOKS}
    assert complaints(page) == []


def faults_of_the_past(page: Page, name: str, *, at: str) -> list[str]:
    """What is wrong with a page about a moment, wide in the dark and on a phone, and what on it leads away from the moment."""
    path = f"{address(name)}?at={at}"
    found = [fault for look in ("dark", "phone") for fault in faults(page, path, look)]
    links = page.locator("a[href^='/']:not([data-leaves-moment])").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    losing = [
        link
        for link in links
        if answers_for_moments(urlsplit(link).path) and f"at={at}" not in link
    ]
    banners = page.locator(".banner-past").count()
    return [*found, *losing, *([] if banners == 1 else [f"{banners} banners of the past"])]


def test_every_page_of_the_past_is_accessible_fits_and_stays_in_the_past(
    open_page: OpenPage, synced: object
) -> None:
    page, at = open_page("/accounts/login/"), moment_text(clock())

    found = {name: faults_of_the_past(page, name, at=at) for name in PAGES}

    assert found == {name: [] for name in PAGES}
    assert complaints(page) == []


def test_moment_stays_in_the_bar_of_a_phone_and_now_is_one_click_away(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page(f"/devices/?at={moment_text(clock())}", viewport=PHONE)
    expect(page.locator("tbody tr")).to_have_count(50)

    page.locator("tbody tr").last.scroll_into_view_if_needed()

    chosen = page.locator(".time-control .chosen")
    expect(chosen).to_be_in_viewport()
    expect(chosen).to_have_text(re.compile(r"\d{4} \d\d:\d\d:\d\d UTC"))
    assert chosen.evaluate("shown => shown.scrollWidth <= shown.clientWidth") is True
    page.locator(".to-now").click()
    expect(page).to_have_url(re.compile("/devices/$"))
    expect(page.locator(".banner-past")).to_have_count(0)


def test_printed_page_of_the_past_says_its_moment(open_page: OpenPage, synced: object) -> None:
    page = open_page(f"/pools/?at={moment_text(clock())}")

    page.emulate_media(media="print")

    expect(page.locator(".banner-past strong")).to_be_visible()
    expect(page.locator(".top-bar")).to_be_hidden()
    expect(page.get_by_role("link", name="Back to now")).to_be_hidden()


def test_who_holds_a_device_is_in_view_on_a_screen_of_usual_width(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page("/devices/")

    head = page.get_by_role("columnheader", name="Held by").bounding_box()

    assert head is not None
    assert head["x"] + head["width"] < WIDE["width"]


@pytest.mark.parametrize("path", ["/devices/?tainted=true", "/"])
def test_long_taint_stays_inside_of_its_frame(
    open_page: OpenPage, synced: object, path: str
) -> None:
    page = open_page(path, viewport=PHONE)
    tags = page.locator("main .tag", has_text="maintenance.example.com/planned")
    expect(tags.first).to_be_visible()

    over = tags.evaluate_all("tags => tags.map(tag => tag.scrollHeight - tag.clientHeight)")

    assert set(over) == {0}


def test_taint_in_a_list_breaks_into_two_lines_at_most(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page("/devices/?tainted=true")
    tags = page.locator(".list-table .tag:visible")
    expect(tags.first).to_be_visible()

    lines = tags.evaluate_all(
        "tags => tags.map(tag => Math.round(tag.clientHeight / parseFloat(getComputedStyle(tag).lineHeight)))"
    )

    assert max(lines) <= 2
    head = page.get_by_role("columnheader", name="Held by").bounding_box()
    assert head is not None
    assert head["x"] + head["width"] < WIDE["width"]


@pytest.mark.parametrize("path", ["/nodes/", "/pools/", "/devices/", "/clusters/", "/"])
def test_on_a_phone_nothing_of_a_cell_stands_below_its_label(
    open_page: OpenPage, synced: object, path: str
) -> None:
    page = open_page(path, viewport=PHONE)
    parts = page.locator(".stacks > tbody > tr > td > :not(.visually-hidden):visible")
    expect(parts.first).to_be_visible()

    is_beside = parts.evaluate_all(
        """parts => parts.map(part => {
            const [left, cell] = [part, part.parentElement].map(each => each.getBoundingClientRect().left);
            return left - cell >= 6 * 16;
        })"""
    )

    assert set(is_beside) == {True}


def bytes_of_page(page: Page, path: str) -> int:
    """On the wire, of the page alone."""
    page.goto(path, wait_until="load")
    return int(page.evaluate("performance.getEntriesByType('navigation')[0].transferSize"))


def bytes_of_files(page: Page) -> dict[str, int]:
    """Files that the open page asked for, as the product sends them: compressed beforehand."""
    names = page.evaluate("performance.getEntriesByType('resource').map(file => file.name)")
    files = {urlsplit(name).path.removeprefix(settings.STATIC_URL) for name in names}
    found = {name: finders.find(name) for name in files}
    return {
        name: len(gzip.compress(Path(path).read_bytes())) for name, path in found.items() if path
    }


def test_pages_are_light_on_the_wire(open_page: OpenPage, synced: object) -> None:
    page = open_page("/accounts/login/")

    sizes = {name: bytes_of_page(page, address(name)) for name in PAGES}

    assert {name: size for name, size in sizes.items() if size > LATER_PAGE_BYTES} == {}


def test_first_load_is_light_on_the_wire(open_page: OpenPage, synced: object) -> None:
    page = open_page("about:blank")

    own, files = bytes_of_page(page, address("pool")), bytes_of_files(page)

    assert {"dradash/chart.js", "vendor/tabler/tabler.min.css"} <= set(files)
    assert own + sum(files.values()) <= FIRST_LOAD_BYTES


def test_filter_narrows_the_list_as_it_is_typed_and_is_in_the_address(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page("/pools/")
    box = page.get_by_role("searchbox", name="Filter pools by words or terms")
    answer = page.locator("#list-answer")
    expect(page.locator(".list-count")).to_contain_text(re.compile("of 1\\d\\d pools"))

    box.press_sequentially("driver:mig.example.com fits:3g.40gb")

    expect(page.locator("tbody tr").first.locator("td").first).to_have_text("mig.example.com")
    expect(page).to_have_url(re.compile("q=driver%3Amig.example.com(%20|\\+)fits%3A3g.40gb"))
    expect(page.locator(".chip")).to_have_count(2)
    expect(box).to_be_focused()
    expect(answer).to_contain_text("devices are free")
    assert complaints(page) == []


def test_devices_are_found_by_capacity(open_page: OpenPage, synced: object) -> None:
    page = open_page("/devices/")
    box = page.get_by_role("searchbox", name="Filter devices by words or terms")

    box.press_sequentially("memory>=80Gi")

    expect(page.locator(".chip-value")).to_have_text(">= 80Gi")
    expect(page.get_by_role("columnheader", name="memory")).to_be_visible()
    memory = page.locator('td[data-label="memory"]')
    assert set(memory.all_inner_texts()) == {"80\u202fGiB"}


def test_chosen_column_appears_at_once_and_the_chooser_stays_open(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page("/devices/?driver=gpu.example.com")
    page.get_by_text("Columns").click()

    page.get_by_label("uuid").check()

    expect(page.get_by_role("columnheader", name="uuid")).to_be_visible()
    expect(page).to_have_url(re.compile("driver=gpu.example.com&.*column=uuid"))
    expect(page.get_by_label("uuid")).to_be_checked()
    expect(page.locator("#device-columns")).to_have_attribute("open", "")


def test_change_of_the_cluster_is_shown_without_a_reload(
    open_page: OpenPage, synced: Callable[[], object], simulator: Simulator
) -> None:
    pool = Pool.objects.filter(driver="cpu.example.com").order_by("name")[0]
    page = open_page(f"/pools/{pool.id}/")
    expect(page.locator("#pool-devices-title")).to_contain_text("2")
    slices = simulator.objects("ResourceSlice")
    (found,) = [
        each
        for each in slices
        if each["spec"]["driver"] == pool.driver and each["spec"]["pool"]["name"] == pool.name
    ]

    found["spec"]["devices"] = found["spec"]["devices"][:1]
    found["spec"]["pool"]["generation"] += 1
    simulator.put(found)
    synced()

    expect(page.locator("#pool-devices-title")).to_contain_text("1")
    expect(page.locator(".figure", has_text="in all").locator("button")).to_contain_text("1")
    assert complaints(page) == []


def test_live_change_keeps_focus_scroll_and_what_is_open(
    open_page: OpenPage, synced: Callable[[], object], simulator: Simulator
) -> None:
    page = open_page("/devices/?driver=gpu.example.com")
    page.get_by_text("Columns").click()
    box = page.locator("#device-list > .table-scroll")
    box.evaluate("element => { element.scrollTop = 120; }")
    link = page.locator("#device-list .exports a").first
    link.focus()
    etag = page.locator("#device-list").get_attribute("data-etag")

    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "out"},
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com"},
            "taint": {"key": "example.com/out", "effect": "NoSchedule"},
        },
    }
    simulator.put(rule)
    synced()

    expect(page.locator("#device-list")).not_to_have_attribute("data-etag", etag or "")
    expect(page.locator("tbody .tag").first).to_contain_text("example.com/out")
    expect(page.locator("#device-columns")).to_have_attribute("open", "")
    expect(page.locator("#device-list .exports a").first).to_be_focused()
    assert box.evaluate("element => element.scrollTop") == 120


def test_age_of_figures_goes_on_while_nothing_changes(
    open_page: OpenPage, synced: Callable[[], object]
) -> None:
    page = open_page("/")
    age = page.locator("[data-observed] time").first
    first = age.get_attribute("datetime")

    synced()

    expect(age).not_to_have_attribute("datetime", first or "")
    assert complaints(page) == []


def test_chart_is_drawn_and_its_range_is_in_the_address(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page(address("pool"))

    expect(page.locator("#pool-history canvas")).to_be_visible()
    page.get_by_role("navigation", name="Time range").get_by_text("Week").click()

    expect(page).to_have_url(re.compile("range=week"))
    expect(page.locator("#pool-history canvas")).to_be_visible()
    assert complaints(page) == []


def test_rows_are_reached_by_keyboard(open_page: OpenPage, synced: object) -> None:
    page = open_page("/pools/?sort=name")
    names = page.locator("tbody th .name").all_inner_texts()

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")

    focused = page.evaluate("document.activeElement.innerText")
    assert focused == names[1]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(names[1])


def test_pages_can_be_read_filtered_and_paged_without_a_script(
    open_page: OpenPage, synced: object
) -> None:
    page = open_page("/pools/?sort=name", java_script_enabled=False)

    page.get_by_role("link", name="Next").click()
    second = page.locator("tbody tr").count()
    page.locator("select[name=driver]").select_option("gpu.example.com")
    page.get_by_role("button", name="Apply").click()
    page.locator("tbody th a").first.click()

    assert second == 50
    expect(page.get_by_role("heading", level=1)).to_have_text("gpu-01")
    expect(page.locator("#pool-devices-title")).to_contain_text("8")
    page.get_by_text("The same as a table").click()
    expect(page.locator(".chart-table tbody tr").first).to_be_visible()


def test_cluster_is_paused_and_resumed_by_its_buttons(open_page: OpenPage, synced: object) -> None:
    page = open_page(address("cluster"))

    page.get_by_role("button", name="Pause reading").click()
    expect(page.locator(".banner-paused")).to_contain_text("nothing new is read")
    page.get_by_role("button", name="Resume reading").click()

    expect(page.locator(".banner-paused")).to_have_count(0)
    expect(page.get_by_role("button", name="Pause reading")).to_be_visible()
    assert complaints(page) == []


def test_kubectl_line_of_the_view_is_copied(open_page: OpenPage, synced: object) -> None:
    page = open_page("/pools/?driver=gpu.example.com")

    page.get_by_role("button", name="Copy as kubectl").click()

    expect(page.locator("#announce")).to_have_text(
        "Copied: kubectl get resourceslices --field-selector spec.driver=gpu.example.com"
    )


# Cells of a card that end before the card does.
NARROW = """cells => cells.filter(cell => cell.checkVisibility()
    && cell.parentElement.getBoundingClientRect().right - cell.getBoundingClientRect().right > 16
).map(cell => cell.dataset.label)"""


@pytest.mark.parametrize("name", ["pools", "devices", "slices", "nodes", "classes", "requests"])
def test_cells_of_a_list_take_the_width_of_a_phone(
    open_page: OpenPage, synced: object, name: str
) -> None:
    page = open_page(address(name), viewport=PHONE)

    assert page.locator(".stacks > tbody > tr > td").evaluate_all(NARROW) == []


# Tags that stand where the names of columns do.
MISPLACED = """tags => tags.filter(tag =>
    tag.getBoundingClientRect().left - tag.parentElement.getBoundingClientRect().left < 90
).map(tag => tag.textContent)"""


def test_tags_of_a_card_stand_under_its_values(open_page: OpenPage, synced: object) -> None:
    page = open_page("/devices/?tainted=yes", viewport=PHONE)
    tags = page.locator(".stacks > tbody > tr > td > .tag")
    expect(tags.first).to_be_visible()

    assert tags.evaluate_all(MISPLACED) == []
