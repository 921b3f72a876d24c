"""A page of the built site made live, with the kernels of `make live`, and what is to be seen there."""

import re

from playwright.sync_api import Locator, Page, expect

RUNS = 600_000  # milliseconds that a chapter may take beside all other tests


def pressed(page: Page, address: str, name: str) -> None:
    """Open the book by the address, the chapter by its name, and press."""
    page.goto(address)
    page.goto(f"{address.partition('#')[0]}{name}.html")
    page.get_by_role("button", name="Run this page").click()


def live(page: Page, address: str, name: str) -> None:
    """Make a chapter live, and wait for its kernel."""
    pressed(page, address, name)
    expect(status(page)).to_have_text(re.compile("Python runs on"))


def status(page: Page) -> Locator:
    return page.locator(".live-strip [role=status]")


def trouble(page: Page) -> Locator:
    return page.locator(".live-strip [role=alert]")


def cell_with(page: Page, words: str) -> Locator:
    """The cell whose code has these words."""
    return page.locator("main .cell", has=page.locator(".live-field", has_text=words))


def label(cell: Locator) -> str:
    """What stands above the output that its page came with."""
    stored = cell.locator(".cell_output:not(.live-output)")
    return stored.evaluate("output => getComputedStyle(output, '::before').content")


def write(page: Page, cell: Locator, code: str) -> None:
    """Put this code into the field of a cell, as one who pastes it."""
    field = cell.locator(".live-field .cm-content")
    cell.locator(".live-field").scroll_into_view_if_needed()
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def ran(page: Page, cells: str = r"\d+") -> None:
    expect(status(page)).to_have_text(re.compile(rf"Ran {cells} cells? in"), timeout=RUNS)
