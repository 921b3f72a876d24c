"""A chapter's chart may stand under a cover: here every guess has been asked for."""

import pytest
from playwright.sync_api import Locator, Page

OPEN = "document.querySelectorAll('details.cover').forEach((cover) => (cover.open = true))"


@pytest.fixture
def chart(page: Page, base_url: str, request: pytest.FixtureRequest) -> Locator:
    """The first chart of the chapter of which the file is."""
    chapter = request.path.stem.removeprefix("test_").removesuffix("_models").replace("_", "-")
    page.add_init_script(f'addEventListener("DOMContentLoaded", () => {OPEN})')
    page.goto(f"{base_url}{chapter}.html")
    return page.locator(".chart").first
