"""The frame and every component, as the style guide shows them, in a real browser under the real security policy."""

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.e2e.conftest import PHONE, WIDE, OpenPage, axe_violations, complaints, overflow

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
GUIDE = "/ui/styleguide/"
# A window of 1400 pixels at 200 %.
ZOOMED: ViewportSize = {"width": 700, "height": 450}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, ZOOMED, PHONE], ids=["wide", "zoomed", "phone"])
def test_components_are_accessible_and_fit(
    open_page: OpenPage, theme: str, viewport: ViewportSize
) -> None:
    page = open_page(GUIDE, viewport=viewport, color_scheme=theme)

    assert axe_violations(page) == []
    assert overflow(page) <= 0
    assert complaints(page) == []


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_sign_in_page_is_accessible(open_page: OpenPage, viewport: ViewportSize) -> None:
    page = open_page("/accounts/login/", is_signed_in=False, viewport=viewport)

    assert axe_violations(page) == []
    assert (overflow(page), complaints(page)) == (0, [])


def test_theme_is_kept_for_the_next_page(open_page: OpenPage) -> None:
    page = open_page(GUIDE)
    page.get_by_label(re.compile("Menu of")).click()

    page.get_by_role("button", name="Dark").click()

    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.goto(GUIDE)
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_navigation_folds_to_icons_and_stays_so(open_page: OpenPage) -> None:
    page = open_page(GUIDE)

    page.get_by_role("button", name="Collapse").click()

    page.goto(GUIDE)
    expect(page.locator("html")).to_have_attribute("data-nav", "icons")
    assert page.locator(".app-nav").evaluate("element => element.offsetWidth") < 64


def test_drawer_opens_on_a_phone_without_a_script(open_page: OpenPage) -> None:
    page = open_page(GUIDE, viewport=PHONE, java_script_enabled=False)
    navigation = page.get_by_role("navigation", name="Pages", exact=True)
    expect(navigation).to_be_hidden()

    page.locator("label.nav-open").click()

    expect(navigation).to_be_visible()


def test_page_reads_without_a_script(open_page: OpenPage) -> None:
    page = open_page(GUIDE, java_script_enabled=False)

    expect(page.get_by_role("button", name="Apply")).to_be_visible()
    expect(page.locator("[data-copy]").first).to_be_hidden()
    expect(page.locator(".chart")).to_be_hidden()
    page.get_by_text("The same as a table").click()
    assert page.locator(".chart-table tbody tr").count() == 48


def test_keyboard_reaches_search_rows_and_help(open_page: OpenPage) -> None:
    page = open_page(GUIDE)

    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.locator("#search").blur()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#sample-list tbody tr").nth(1).locator("a").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_figure_shows_its_source_by_keyboard_and_escape_puts_it_away(open_page: OpenPage) -> None:
    page = open_page(GUIDE)
    figure = page.get_by_role("button", name=re.compile("^38"))
    source = figure.locator(".figure-source")

    figure.focus()
    expect(source).to_have_css("clip-path", "none")
    page.keyboard.press("Escape")

    expect(source).not_to_have_css("clip-path", "none")
    expect(figure).to_have_accessible_name(
        re.compile(r"38 computed from slices rv 81273 and claims, \d+ s ago")
    )


def test_ages_count_up_by_themselves(open_page: OpenPage) -> None:
    page = open_page(GUIDE)
    age = page.locator(".freshness time")
    before = int(age.inner_text().split()[0])

    page.wait_for_timeout(2_200)

    assert int(age.inner_text().split()[0]) in range(before + 1, before + 8)


def test_times_turn_local_by_choice(open_page: OpenPage) -> None:
    page = open_page(GUIDE, timezone_id="Asia/Tokyo")
    exact = page.locator(".facts time[data-exact]").first
    assert exact.inner_text().endswith(" UTC")
    page.get_by_label(re.compile("Menu of")).click()

    page.get_by_role("button", name="Local").click()

    expect(exact).to_have_text(re.compile(r"GMT\+9$"))


def test_chart_is_drawn_and_reads_out_under_the_pointer(open_page: OpenPage) -> None:
    page = open_page(GUIDE)
    chart = page.locator("#sample-chart")
    chart.scroll_into_view_if_needed()

    chart.locator(".u-over").hover(position={"x": 500, "y": 60})

    expect(page.locator('.legend [data-code="partly_used"] .legend-value')).to_have_text("40")


def test_dragging_over_a_chart_sets_the_range_in_the_address(open_page: OpenPage) -> None:
    page = open_page(GUIDE)
    area = page.locator("#sample-chart .u-over")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 50, steps=5)
    page.mouse.up()

    page.wait_for_url(re.compile(r"from=2\d{3}-\d\d-\d\dT.*&to=2\d{3}"))


def test_copy_puts_the_whole_name_on_the_clipboard(open_page: OpenPage) -> None:
    page = open_page(GUIDE, permissions=["clipboard-read", "clipboard-write"])

    page.locator(".facts .copy").nth(1).click()

    expect(page.locator("#announce")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == (
        "ip-10-0-128-203.eu-central-1.compute.internal-mig-a100-80gb-partitions"
    )
