"""A page made live on this machine: what its cells put out, and how all can work with them."""

import re

import pytest
from accessible import in_both_colours
from bench_page import field, press
from browser_pages import button
from firefox import in_firefox
from live_page import RUNS, cell_with, label, live, ran, status, write
from playwright.sync_api import Page, expect

from bookkit import registry
from tools import ROOT

CHAPTER = "what-is-attention"
NAMES = [chapter.name for chapter in registry.notebooks()]
COMPARED = ROOT.joinpath("tests/support/live_compared.js").read_text("utf-8")
NOT_RUN = '"Not run yet: this is the book’s output"'
ADDRESSES = "[...document.querySelectorAll('.claim[id]')].map(({ id }) => id)"


# A site may forbid that text is run as a script: does one of the book's? (A test's own goes through.)
WATCHED = """for (const name of ["eval", "Function"]) {
  const note = () => new Error().stack.includes("_static") && (globalThis.evaluated = true);
  globalThis[name] = new Proxy(globalThis[name], {
    apply: (...given) => (note(), Reflect.apply(...given)),
    construct: (...given) => (note(), Reflect.construct(...given)),
  });
}"""


def runs_as_stored(page: Page, address: str, name: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(WATCHED)
    live(page, address, name)
    charts = page.locator(".cell_output .chart").count()
    addresses = page.evaluate(ADDRESSES)
    button(page, "Run all").click()
    ran(page)
    found = page.evaluate(COMPARED)
    claims = [claim for kind, _, came in found if kind == "claims" for claim in came]
    assert [(kind, before, came) for kind, before, came in found if before != came] == []
    assert len(claims) == len(registry.Chapter(registry.BOOK / f"{name}.ipynb").claims)
    assert page.evaluate(ADDRESSES) == addresses
    # A chart is the page's own where it came out as it is stored.
    assert page.locator(".live-output .chart").count() == charts
    assert not [url for url in asked if "live-charts" in url]
    home = address.partition("#")[0]
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []
    assert page.evaluate("'evaluated' in globalThis") is False


def test_all_cells_of_a_page_put_out_what_it_stores(page, address):
    runs_as_stored(page, address, CHAPTER)
    button(page, "Show the book’s outputs").click()
    expect(page.locator(".live-output:visible")).to_have_count(0)
    assert page.locator(".cell_output .chart:visible").count() == 1
    button(page, "Show what came here").click()
    assert page.locator(".live-output .chart:visible").count() == 1


@pytest.mark.weekly
@pytest.mark.parametrize("name", [name for name in NAMES if name != CHAPTER])
def test_each_page_puts_out_what_it_stores(page, address, name):
    runs_as_stored(page, address, name)


@pytest.mark.thorough
def test_a_cell_that_is_run_is_never_taken_for_what_the_book_put_out(page, address):
    live(page, address, CHAPTER)
    cell = cell_with(page, "print(softmax(")
    came, stored = cell.locator(".live-output"), cell.locator(".cell_output:not(.live-output)")
    write(page, cell, "'of my own'  # print(softmax(")
    assert label(cell) == NOT_RUN
    page.keyboard.press("Control+Enter")
    ran(page)
    button(page, "Show the book’s outputs").click()
    expect(came).to_be_hidden()
    expect(stored).to_be_visible()
    assert label(cell) == '"The book’s output"'
    button(cell, "Run").click()
    expect(came).to_be_visible(timeout=RUNS)
    expect(stored).to_be_hidden()
    expect(button(page, "Show the book’s outputs")).to_be_visible()


# ---- exercises ----

WRONG = """def my_soft_lookup(query, key, value, temperature):
    weights = (query @ key.mT / temperature).softmax(-2)
    return weights @ value, weights


check_soft_lookup(my_soft_lookup)
"""


@pytest.mark.thorough
def test_a_mistake_is_named_and_an_exercise_is_solved(page, address):
    live(page, address, CHAPTER)
    lookup = cell_with(page, "check_soft_lookup(my_soft_lookup)")
    write(page, lookup, WRONG)
    page.keyboard.press("Control+Enter")
    expect(lookup.locator(".live-state")).to_have_text(
        re.compile(r"ran, after the \d+ cells above"), timeout=RUNS
    )
    said = lookup.locator(".live-output")
    expect(said).to_contain_text("soft_lookup: not yet")
    expect(said).to_contain_text("over the queries")
    write(page, lookup, WRONG.replace("softmax(-2)", "softmax(-1)"))
    button(lookup, "Run").click()
    expect(said).to_contain_text(": passed", timeout=RUNS)
    hand_in = cell_with(page, "summary(")
    button(hand_in, "Run").click()
    expect(hand_in.locator(".live-output")).to_contain_text("1 of 5", timeout=RUNS)


# ---- what else a page offers ----


@pytest.mark.thorough
def test_guesses_models_and_paper_are_there_in_a_live_page_too(page, address):
    live(page, address, "looking-inside")
    cover = page.locator("details.cover").first
    button(page, "Run all").click()
    ran(page)
    assert not cover.evaluate("cover => cover.open"), "what was run gives no answer away"
    cover.get_by_text("Show without a guess").click()
    expect(cover).to_have_attribute("open", "")
    expect(cover.locator(".live-output").first).to_be_visible()
    playground = page.locator(".playground")
    press(playground)
    expect(field(playground)).to_be_visible()
    page.emulate_media(media="print")
    assert not page.locator(":is(.live-panel, .live-strip, .live-tools):visible").count()
    assert page.locator(".live-output:visible").count() > 10


# ---- a chart that is not the page's, and a kernel that begins anew ----

OTHER_CHART = """import altair as alt

size = alt.param(name="size", value=3, bind=alt.binding_range(name="how wide", min=1, max=9, step=1))
alt.Chart({"values": [{"a": 1}, {"a": 2}]}, description="Two bars.").mark_bar().encode(
    x="a:O", y="wide:Q"
).transform_calculate(wide="datum.a * size").add_params(size)  # soft_dictionary()"""


@pytest.mark.thorough
def test_another_chart_is_drawn_with_controls_and_the_stored_one_comes_back(page, address):
    live(page, address, CHAPTER)
    button(page, "Show all code and checks").click()
    cell = cell_with(page, "soft_dictionary()")
    before = cell.locator(".chart").inner_html()
    write(page, cell, OTHER_CHART)
    button(cell, "Run").click()
    chart = cell.locator(".live-output .chart")
    slider = chart.get_by_label("how wide")
    expect(slider).to_have_value("3", timeout=RUNS)
    expect(chart.locator(".chart-picture")).to_have_attribute("aria-label", "Two bars.")
    expect(chart.locator("svg [aria-roledescription=bar]")).to_have_count(2)
    slider.press("ArrowRight")
    expect(slider).to_have_value("4")
    expect(chart.locator("svg [aria-label*='wide: 8']")).to_have_count(1)
    button(page, "Show the book’s outputs").click()
    assert cell.locator(".chart:visible").inner_html() == before


@pytest.mark.thorough
def test_restart_and_run_to_here_forgets_what_was_run_below(page, address):
    live(page, address, "torchtext-traps")
    fields = page.locator("main .cell", has=page.locator(".live-field:visible"))
    write(page, fields.nth(1), "below = 1")
    button(fields.nth(1), "Run").click()
    ran(page)
    write(page, fields.first, "print('below' in globals())")
    button(fields.first, "Restart and run to here").click()
    expect(fields.first.locator(".live-output")).to_have_text(re.compile("False"), timeout=RUNS)
    expect(fields.nth(1).locator(".live-state")).to_have_text("yours, kept in this browser")


# ---- for everyone ----

PHONE = {"width": 320, "height": 700}
WIDE = f"""def my_soft_lookup(query, key, value, temperature):
    return query, key  # a line {"that goes on " * 9}


check_soft_lookup(my_soft_lookup)"""


@pytest.mark.thorough
def test_all_of_it_goes_by_keyboard(page, address):
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
def test_a_live_page_is_accessible_and_fits_a_phone(browser, address):
    page = browser.new_page(viewport=PHONE, has_touch=True, is_mobile=True)
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
    assert not in_both_colours(page)
    page.close()


@pytest.mark.weekly
def test_a_page_runs_in_firefox(address):
    said = in_firefox("in_firefox.mjs", "runs", address, "torchtext-traps.html")
    assert said == {"ran": True, "errors": []}
