"""A browser for tests that look at pages: fixtures, apart from those that need the built site."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tools.site.browser import launch

PHONE = {"width": 390, "height": 844}
# Far more than a page takes where others keep the machine busy. Where a test must fail nobody waits long.
PATIENCE = 1000 * int(os.environ.get("PATIENCE", "120"))  # milliseconds


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            chromium = launch(playwright)
        except FileNotFoundError as error:
            pytest.fail(str(error), pytrace=False)
        expect.set_options(timeout=PATIENCE)
        chromium.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> BrowserContext:
    """One for all tests: each has a process and a cache of its own, and takes a second to open."""
    return browser.new_context(viewport={"width": 1280, "height": 900})


@pytest.fixture
def page(window: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh tab, on a wide screen and in light colours, that remembers nothing of those before it.

    What its scripts throw stands in the report of a test that fails.
    """
    tab = window.new_page()
    tab.on("pageerror", lambda error: request.node.add_report_section("call", "thrown", error.stack))
    yield tab
    if tab.url.startswith("http"):
        tab.evaluate("localStorage.clear()")
    tab.close()


@pytest.fixture
def offline(page: Page, window: BrowserContext) -> Iterator[Page]:
    window.set_offline(True)
    yield page
    window.set_offline(False)


def button(place: Page | Locator, name: str) -> Locator:
    return place.get_by_role("button", name=name, exact=True)


def without_scripts_and_on_paper(browser: Browser, address: str) -> Iterator[Page]:
    """The page as a phone shows it whose browser runs no scripts, and as it is printed."""
    for scripts in (False, True):
        with browser.new_context(viewport=PHONE, java_script_enabled=scripts) as context:
            page = context.new_page()
            page.goto(address)
            if scripts:
                page.evaluate("dispatchEvent(new Event('beforeprint'))")
                page.emulate_media(media="print")
            yield page


def arrived(page: Page) -> None:
    """Wait until the page's pictures and letters are all there: from then on nothing moves by itself."""
    page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    page.evaluate("document.fonts.ready.then(() => true)")
