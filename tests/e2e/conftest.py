"""A headless browser in front of Django's live server. Needs Chromium: Debian's, or the one that CHROMIUM names."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    ViewportSize,
    sync_playwright,
)
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

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
WIDE: ViewportSize = {"width": 1400, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}

OpenPage = Callable[..., Page]
COMPLAINTS: dict[Page, list[str]] = {}

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
def plain_static(settings: Settings) -> None:
    """Static files as they are: the manifest of hashed names is made by collectstatic, which tests do not run."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


@pytest.fixture
def open_page(
    browser: Browser, live_server: LiveServer, plain_static: None, admin_user: User
) -> Iterator[OpenPage]:
    """Open an address as an administrator."""
    contexts = []

    def opened(path: str, *, is_signed_in: bool = True, **options: Any) -> Page:
        context = browser.new_context(
            base_url=live_server.url, **{"viewport": WIDE, "color_scheme": "light", **options}
        )
        contexts.append(context)
        if is_signed_in:
            context.add_cookies([session_cookie(admin_user, live_server.url)])
        page = context.new_page()
        COMPLAINTS[page] = []
        page.on("console", lambda message: _note(page, message))
        page.on("pageerror", lambda error: COMPLAINTS[page].append(str(error)))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()


def complaints(page: Page) -> list[str]:
    """What the console and the scripts of a page complained about so far."""
    return COMPLAINTS[page]


def session_cookie(user: User, url: str) -> Any:
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
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def _note(page: Page, message: ConsoleMessage) -> None:
    if message.type in {"error", "warning"}:
        COMPLAINTS[page].append(message.text)
