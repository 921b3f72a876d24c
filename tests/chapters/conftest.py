"""A chapter's chart may stand under a cover: here every guess has been asked for."""

import pytest
from playwright.sync_api import Page

OPEN = "document.querySelectorAll('details.cover').forEach((cover) => (cover.open = true))"


@pytest.fixture
def page(page: Page) -> Page:
    page.add_init_script(f'addEventListener("DOMContentLoaded", () => {OPEN})')
    return page
