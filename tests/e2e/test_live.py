"""Live parts and filters in a real browser: 304 leaves the page alone, rows do not move under the pointer."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from tests.e2e import live_pages
from tests.e2e.conftest import OpenPage, complaints

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls("tests.e2e.live_pages"),
]


@pytest.fixture
def shown(settings: Settings) -> live_pages.Shown:
    templates = settings.TEMPLATES[0] | {
        "DIRS": [*settings.TEMPLATES[0]["DIRS"], Path(__file__).parent / "templates"]
    }
    settings.TEMPLATES = [templates, *settings.TEMPLATES[1:]]
    shown = live_pages.SHOWN
    shown.rows, shown.revision, shown.is_failing = [("gpu-0", 1), ("gpu-1", 1)], 1, False
    shown.statuses.clear()
    return shown


def test_unchanged_answers_are_304_and_leave_the_page_alone(
    open_page: OpenPage, shown: live_pages.Shown
) -> None:
    page = open_page("/live/")
    page.evaluate("document.querySelector('#live-list').dataset.mine = 'kept'")

    page.wait_for_timeout(3_600)

    assert shown.statuses[0] == 200
    assert len(shown.statuses) >= 3
    assert set(shown.statuses[1:]) == {304}
    assert page.evaluate("document.querySelector('#live-list').dataset.mine") == "kept"
    assert complaints(page) == []


def test_change_is_shown_and_its_row_marked(open_page: OpenPage, shown: live_pages.Shown) -> None:
    page = open_page("/live/")

    shown.rows, shown.revision = [("gpu-0", 1), ("gpu-1", 2)], 2

    expect(page.locator('[data-row="gpu-1"] .version')).to_have_text("2")
    expect(page.locator("tr.changed")).to_have_attribute("data-row", "gpu-1")


def test_new_rows_wait_while_the_pointer_is_in_the_table(
    open_page: OpenPage, shown: live_pages.Shown
) -> None:
    page = open_page("/live/")
    page.locator('[data-row="gpu-1"]').hover()

    shown.rows, shown.revision = [("gpu-new", 1), *shown.rows], 2

    waiting = page.get_by_role("button", name="1 new · show")
    expect(waiting).to_be_visible()
    assert page.locator("tbody tr").count() == 2
    waiting.click()
    expect(page.locator("tbody tr")).to_have_count(3)
    page.mouse.move(5, 5)
    shown.rows, shown.revision = [], 3
    expect(page.locator("tbody tr")).to_have_count(0)


def test_failures_make_it_ask_less_often_and_it_recovers(
    open_page: OpenPage, shown: live_pages.Shown
) -> None:
    page = open_page("/live/")
    shown.is_failing = True
    page.wait_for_timeout(6_000)

    assert shown.statuses.count(503) in {2, 3}
    shown.is_failing, shown.revision, shown.rows = False, 2, [("gpu-9", 1)]

    expect(page.locator('[data-row="gpu-9"]')).to_be_visible(timeout=15_000)


def test_filter_answers_while_typing_and_keeps_focus_and_address(
    open_page: OpenPage, shown: live_pages.Shown
) -> None:
    page = open_page("/live/")
    box = page.locator("[data-filter-box]")

    box.press_sequentially("gpu-1")

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/live/\?q=gpu-1$"))
    expect(box).to_be_focused()
    expect(page.locator(".chip")).to_contain_text("gpu-1")
    page.locator(".chip").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("[data-filter-box]")).to_have_value("")


@pytest.mark.parametrize("revision", [1, 2], ids=["same", "changed"])
def test_click_is_not_lost_when_an_answer_comes_while_the_button_is_held(
    open_page: OpenPage, shown: live_pages.Shown, revision: int
) -> None:
    page = open_page("/live/")
    page.locator("[data-filter-box]").press_sequentially("gpu-1")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator(".chip").hover()

    # The box loses the focus, which is a change, and the list asks for itself twice.
    page.mouse.down()
    shown.revision = revision
    page.wait_for_timeout(4_500)
    page.mouse.up()

    expect(page).to_have_url(re.compile(r"/live/$"))
    expect(page.locator("tbody tr")).to_have_count(2)


def test_filter_takes_hold_when_its_answer_came_while_the_button_was_held(
    open_page: OpenPage, shown: live_pages.Shown
) -> None:
    page = open_page("/live/")
    page.locator("[data-filter-box]").press_sequentially("gpu-1")
    page.locator('[data-row="gpu-0"]').hover()

    page.mouse.down()
    page.wait_for_timeout(1_000)
    page.mouse.up()

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/live/\?q=gpu-1$"))


def test_filter_works_without_a_script(open_page: OpenPage, shown: live_pages.Shown) -> None:
    page = open_page("/live/", java_script_enabled=False)

    page.locator("[data-filter-box]").fill("gpu-0")
    page.get_by_role("button", name="Apply").click()

    expect(page.locator("tbody tr")).to_have_count(1)


def test_back_shows_the_whole_page_again(open_page: OpenPage, shown: live_pages.Shown) -> None:
    page = open_page("/live/")
    page.locator("[data-filter-box]").press_sequentially("gpu-1")
    expect(page.locator("tbody tr")).to_have_count(1)

    page.go_back()

    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("heading", name="Live")).to_be_visible()
