"""The built site, served on this machine alone, and a browser to look at it with."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from browser import launch
from playwright.sync_api import Browser, Locator, Page, sync_playwright
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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield context.new_page()


@pytest.fixture(scope="session")
def numbers() -> Callable[[Locator, str], torch.Tensor]:
    """`numbers(chart, "weight")` is what the living chart holds of one field."""

    def read(chart: Locator, field: str) -> torch.Tensor:
        """The values of one field, from the first of the chart's data sets that has it."""
        script = """(chart, field) => JSON.parse(chart.querySelector("script").textContent).data
            .map(({ name }) => chart.view.data(name).map((row) => row[field]))
            .find((values) => values[0] !== undefined)"""
        return torch.tensor(chart.evaluate(script, field), dtype=torch.float64)

    return read
