"""Before its button is pressed a page is as it was; after that it can be worked with by all."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from accessible import AXE, RULES, violations
from live_page import RUNS, button, cell_with, live, live_server, ran, status, trouble, write
from playwright.sync_api import Browser, Page, Request, expect

from bookkit import registry

CHAPTER = "what-is-attention"
PHONE = {"width": 320, "height": 700}
WIDE = f"""def my_soft_lookup(query, key, value, temperature):
    return query, key  # a line {"that goes on " * 9}


check_soft_lookup(my_soft_lookup)"""


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    with live_server() as printed:
        yield printed


@pytest.fixture
def asked(page: Page) -> list[Request]:
    """What is asked for, as it comes."""
    answered: list[Request] = []
    page.on("requestfinished", lambda request: answered.append(request))
    return answered


def test_nothing_comes_before_the_press_and_the_button_says_what_does(
    page: Page, base_url: str, asked: list[Request]
) -> None:
    page.route("**/build/**", lambda route: route.abort())
    page.goto(f"{base_url}{CHAPTER}.html", wait_until="networkidle")
    assert not [request.url for request in asked if "live" in request.url]
    asked.clear()
    opens = page.get_by_role("button", name="Run this page")
    said = int(re.search(r"loads (\d+)\s*kB", opens.inner_text())[1])
    opens.click()
    expect(trouble(page)).to_contain_text("Binder does not answer")
    assert {request.url.rpartition("/")[2] for request in asked} == {
        f"live-{CHAPTER}.js",
        "live.js",
        "live.css",
    }
    came = sum(request.sizes()["responseBodySize"] for request in asked)
    assert abs(came / 1000 - said) < 1


WATCHED = """for (const name of ["eval", "Function"]) globalThis[name] = function () {
    globalThis.evaluated = true;
};"""


@pytest.mark.thorough
def test_no_text_is_run_as_a_script_and_nobody_else_is_asked(page: Page, address: str) -> None:
    """A policy for content may forbid both."""
    page.add_init_script(WATCHED)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    live(page, address, CHAPTER)
    button(page, "Run all").click()
    ran(page)
    assert not page.evaluate("'evaluated' in globalThis")
    home = address.partition("#")[0]
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []


def test_every_notebook_can_be_run_and_no_other_page(site: Path) -> None:
    pages = {page.stem for page in site.glob("*.html") if "data-live=" in page.read_text("utf-8")[:2000]}
    assert pages == {chapter.name for chapter in registry.notebooks()}
    assert {page.stem.removeprefix("live-") for page in (site / "_static").glob("live-*.js")} == {
        *pages,
        "charts",
    }


@pytest.mark.thorough
def test_a_script_that_does_not_come_can_be_asked_for_again(page: Page, base_url: str) -> None:
    page.route("**/_static/live.js", lambda route: route.abort())
    page.goto(f"{base_url}{CHAPTER}.html")
    page.get_by_role("button", name="Run this page").click()
    again = page.get_by_role("button", name="It did not load: try again")
    expect(again).to_be_visible()
    page.unroute("**/_static/live.js")
    page.route("**/build/**", lambda route: route.abort())
    again.click()
    expect(trouble(page)).to_contain_text("Binder does not answer")


@pytest.mark.thorough
def test_all_of_it_goes_by_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    page.goto(f"{address.partition('#')[0]}{CHAPTER}.html")
    page.get_by_role("button", name="Run this page").focus()
    page.keyboard.press("Enter")
    expect(button(page, "Run all")).to_be_focused()
    expect(status(page)).to_contain_text("Python runs", timeout=RUNS)
    stub = cell_with(page, "check_needed_temperature(my_needed_temperature)")
    button(stub, "Run").focus()
    page.keyboard.press("Shift+Tab")
    field = stub.locator(".cm-content")
    expect(field).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.type("if True:\nx = 1")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    assert "    x = 1" in field.inner_text()
    page.keyboard.press("Escape")
    expect(button(stub, "Run")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert not stub.evaluate("cell => cell.contains(document.activeElement)"), (
        "one can go back, past the field"
    )
    page.keyboard.press("Tab")
    expect(field).to_be_focused()
    page.keyboard.press("Shift+Enter")
    below = cell_with(page, "check_repaired_regression(regression_to_repair)")
    expect(below.locator(".cm-content")).to_be_focused()
    # What was typed joined the line below, and Python can't read that.
    expect(stub.locator(".live-state")).to_have_text("stopped at an error", timeout=RUNS)


@pytest.mark.thorough
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_live_page_is_accessible_and_fits_a_phone(browser: Browser, address: str, colours: str) -> None:
    page = browser.new_page(viewport=PHONE, color_scheme=colours, has_touch=True, is_mobile=True)
    live(page, address, CHAPTER)
    stub = cell_with(page, "check_soft_lookup(my_soft_lookup)")
    write(page, stub, WIDE)
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.cm-content')).fontSize)") >= 16
    button(stub, "Run").click()
    ran(page)
    wrong = cell_with(page, "check_gate_shapes(my_shapes)")
    write(page, wrong, "1 / 0  # check_gate_shapes(my_shapes)")
    button(wrong, "Run").click()
    ran(page)
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(AXE)
    assert not list(violations(page, RULES))
    page.close()
