"""What several test files need."""

from collections.abc import Callable, Iterator
from pathlib import Path

import build
import pytest
import torch
from browser import launch
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from server import serving

# `make test` has two workers, on two cores or more: second threads would mostly wait for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site, made from just the files that are here: `make test` builds it first."""
    if not build.BUILT_FROM.exists() or build.BUILT_FROM.read_text() != build.inputs():
        pytest.fail("the site in _build/html is not built from these files: run `make book`", pytrace=False)
    return build.ROOT / "_build" / "html"


# ---- a browser to look at the site with ----


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
