"""A page that can be run, before its button is pressed; and what a reader types there is never lost."""

import json
import re

import pytest
from browser_pages import button
from live_page import cell_with, label, trouble, write
from playwright.sync_api import Locator, Page, Request, expect

from bookkit import registry
from tools.chapters import notebooks
from tools.grade import grader

CHAPTER = "what-is-attention"
STUB = "check_soft_lookup(my_soft_lookup)"
ANSWER = """def my_soft_lookup(query, key, value, temperature):
    weights = (query @ key.mT / temperature).softmax(-1)
    return weights @ value, weights


check_soft_lookup(my_soft_lookup)
"""


# ---- before it is pressed ----


def test_nothing_comes_before_the_press_and_the_button_says_what_does(page, base_url):
    asked: list[Request] = []
    # But for the icon, which the browser asks for when it likes.
    page.on("requestfinished", lambda request: "favicon" in request.url or asked.append(request))
    page.route("**/build/**", lambda route: route.abort())
    page.goto(f"{base_url}{CHAPTER}.html", wait_until="networkidle")
    assert not [request.url for request in asked if "live" in request.url]
    asked.clear()
    opens = page.get_by_role("button", name="Run this page")
    said = int(re.search(r"loads (\d+)\s*kB", opens.inner_text())[1])
    opens.click()
    expect(trouble(page)).to_contain_text("Binder does not answer")
    expect(trouble(page)).to_contain_text("make live")
    expect(button(page, "Try again")).to_be_visible()
    came = {request.url.rpartition("/")[2] for request in asked}
    assert came == {f"live-{CHAPTER}.js", "live.js", "live.css"}
    size = sum(request.sizes()["responseBodySize"] for request in asked)
    assert abs(size / 1000 - said) < 1


def test_every_notebook_can_be_run_and_no_other_page(site):
    pages = {page.stem for page in site.glob("*.html") if "data-live=" in page.read_text("utf-8")[:2000]}
    assert pages == {chapter.name for chapter in registry.notebooks()}
    assert {page.stem.removeprefix("live-") for page in (site / "_static").glob("live-*.js")} == {
        *pages,
        "charts",
    }


@pytest.mark.thorough
def test_a_script_that_does_not_come_can_be_asked_for_again(page, base_url):
    page.route("**/_static/live.js", lambda route: route.abort())
    page.goto(f"{base_url}{CHAPTER}.html")
    page.get_by_role("button", name="Run this page").click()
    again = page.get_by_role("button", name="It did not load: try again")
    expect(again).to_be_visible()
    page.unroute("**/_static/live.js")
    page.route("**/build/**", lambda route: route.abort())
    again.click()
    expect(trouble(page)).to_contain_text("Binder does not answer")


# ---- what is typed ----


@pytest.fixture
def stub(page: Page, base_url: str) -> Locator:
    """The field of an exercise, in a page that finds no server: what is typed needs none."""
    page.route("**/build/**", lambda route: route.abort())
    page.goto(f"{base_url}{CHAPTER}.html")
    button_of(page).click()
    return cell_with(page, STUB)


def button_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Run this page")


def typed(cell: Locator) -> str:
    """What stands in its field, once it has been scrolled to."""
    cell.locator(".live-field").scroll_into_view_if_needed()
    expect(cell.locator(".cm-content")).to_be_visible()
    return "\n".join(cell.locator(".cm-line").all_inner_texts()).replace("\n\n\n", "\n\n")


@pytest.mark.thorough
def test_what_was_typed_comes_back_and_can_be_put_back_to_the_books(page, stub):
    books = typed(stub)
    assert label(stub) == "none"
    write(page, stub, ANSWER)
    page.reload()
    note = page.get_by_text("Your code in 1 cell is kept in this browser.")
    expect(note).to_be_visible()
    button_of(page).click()
    expect(note).to_have_count(0)
    expect(stub.locator(".live-state")).to_have_text("yours, kept in this browser")
    assert label(stub) == '"Not run yet: this is the book’s output"'
    assert "softmax(-1)" in typed(stub)
    button(stub, "Put the book’s code back").click()
    assert typed(stub) == books
    page.reload()
    expect(note).to_have_count(0)
    button_of(page).click()
    assert typed(stub) == books
    expect(button(stub, "Put the book’s code back")).to_be_hidden()


@pytest.mark.thorough
def test_of_two_tabs_none_loses_what_the_other_typed(page, stub):
    with page.context.new_page() as other:
        other.route("**/build/**", lambda route: route.abort())
        other.goto(page.url)
        button_of(other).click()
        its = cell_with(other, STUB)
        write(other, its, "first = 1  # " + STUB)
        expect(stub.locator(".live-notice")).to_contain_text("in another tab")
        write(page, stub, "second = 2  # " + STUB)
    page.reload()
    button_of(page).click()
    assert "second = 2" in typed(stub)
    button(stub, "Show that one here").click()
    assert "first = 1" in typed(stub)
    page.keyboard.press("Control+z")
    assert "second = 2" in typed(stub)


@pytest.mark.thorough
def test_a_browser_that_keeps_nothing_says_so_and_still_saves(page, stub):
    page.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full'); })")
    write(page, stub, ANSWER)
    warning = page.locator(".live-panel [role=alert]")
    expect(warning).to_contain_text("Save your answers as a notebook")
    with page.expect_download() as download:
        button(page, "Save as a notebook, without outputs").click()
    assert "softmax(-1)" in download.value.path().read_text("utf-8")


@pytest.mark.thorough
def test_the_saved_notebook_is_the_chapter_with_the_answers_and_nothing_else(page, stub, tmp_path):
    write(page, stub, ANSWER)
    with page.expect_download() as download:
        button(page, "Save as a notebook, without outputs").click()
    assert download.value.suggested_filename == f"{CHAPTER}.ipynb"
    saved = json.loads(download.value.path().read_text("utf-8"))
    book = notebooks.read(notebooks.BOOK / f"{CHAPTER}.ipynb")
    assert [cell["id"] for cell in saved["cells"]] == [cell.id for cell in book.cells]
    differ = [
        one["source"]
        for one, other in zip(saved["cells"], book.cells, strict=True)
        if one["source"] != other.source
    ]
    assert differ == [ANSWER]
    hand_ins = tmp_path / "hand-ins"
    hand_ins.mkdir()
    download.value.save_as(hand_ins / "ada.ipynb")
    said = grader.everything(hand_ins, grader.SECONDS, grader.MEMORY, trusted=True)
    assert "1 of 1 notebooks run" in said
    table = (hand_ins / "grades.csv").read_text("utf-8")
    assert re.search("ada.*passed", table), table
