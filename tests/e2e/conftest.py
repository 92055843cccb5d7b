"""A headless browser in front of Django's live server. Needs Chromium: Debian's, or the one that CHROMIUM names."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 360, "height": 740}

# Playwright runs an event loop in the test's thread, which Django takes for asynchronous code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; set CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def plain_static(settings):
    """Static files as they are: the manifest of hashed names is made by collectstatic, which tests do not run."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


@pytest.fixture
def open_page(browser, live_server, plain_static, admin_user) -> Iterator[Callable[..., Page]]:
    """Open an address as an administrator; `complaints` of the page gathers errors of console and scripts."""
    contexts = []

    def opened(path: str, *, is_signed_in: bool = True, **options) -> Page:
        context = browser.new_context(
            base_url=live_server.url, **{"viewport": WIDE, "color_scheme": "light", **options}
        )
        contexts.append(context)
        if is_signed_in:
            context.add_cookies([session_cookie(admin_user, live_server.url)])
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: _note(page, message))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()


def session_cookie(user, url: str) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {
        "name": settings.SESSION_COOKIE_NAME,
        "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
        "url": url,
    }


def axe_violations(page: Page) -> list[str]:
    """What axe finds, one line each, with the first element of each kind."""
    page.evaluate(AXE)
    result = page.evaluate("rules => axe.run(document, {runOnly: rules})", AXE_RULES)
    return [f"{item['id']}: {item['nodes'][0]['html'][:200]}" for item in result["violations"]]


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def _note(page: Page, message) -> None:
    if message.type in {"error", "warning"}:
        page.complaints.append(message.text)
