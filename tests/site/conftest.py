"""The built site, served on this machine alone, and a browser to look at it with."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import launch
from playwright.sync_api import Browser, sync_playwright
from server import serving


@pytest.fixture(scope="session")
def base_url(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            chromium = launch(playwright)
        except FileNotFoundError as error:
            pytest.fail(str(error), pytrace=False)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def pages(site: Path) -> list[str]:
    return sorted(page.name for page in site.glob("*.html"))
