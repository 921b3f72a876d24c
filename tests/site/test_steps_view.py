"""One word, step by step, in the page: what a reader does there, and what there is to see and to hear."""

import re

import pytest
from accessible import AXE, RULES, violations
from open_playground import PAGES, opened
from playwright.sync_api import Locator, Page, expect

from bookkit.registry import BOOK

STEPS = {"translator": 35, "language-model": 23, "gpt": 32}


def stepping(page: Page, base_url: str, model: str) -> Locator:
    """The view of this model's steps, and the first of them."""
    box = opened(page, f"{base_url}{PAGES[model]}", model)
    box.get_by_role("button", name="Step by step").click()
    view = box.locator(".steps")
    expect(view.locator(".step-drawing svg")).to_be_visible()
    expect(view.locator(".step-title")).to_contain_text(f"1 of {STEPS[model]}")
    return view


def button(view: Locator, name: str) -> Locator:
    return view.get_by_role("button", name=name, exact=True)


def test_every_step_leads_to_a_section_that_there_is(soup) -> None:
    script = (BOOK / "_static/bench/steps.js").read_text("utf-8")
    chapters = re.findall(r'^ +\w+: \["([a-z-]+)", "([a-z-]+)", "[^"]+"\],$', script, re.MULTILINE)
    assert len(chapters) == 17
    for file, anchor in chapters:
        assert soup(f"{file}.html").find(id=anchor), (file, anchor)


def test_one_goes_on_and_back_by_buttons_and_keys(page: Page, base_url: str) -> None:
    view = stepping(page, base_url, "language-model")
    title = view.locator(".step-title")
    button(view, "Next →").click()
    expect(title).to_contain_text("The place is added 2 of 23")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("3 of 23 · layer 1, reading back")
    expect(button(view, "Next →")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(title).to_contain_text("2 of 23")
    page.keyboard.press("End")
    expect(title).to_contain_text("Chances 23 of 23")
    expect(button(view, "Next →")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("23 of 23")
    page.keyboard.press("Home")
    expect(title).to_contain_text("1 of 23")
    button(view, "To layer 1").click()
    button(view, "Over layer 1").click()
    expect(title).to_contain_text("12 of 23 · layer 2")
    button(view, "← Back").click()
    expect(title).to_contain_text("11 of 23 · layer 1, network")
    button(view, "comes out").click()
    expect(title).to_contain_text("21 of 23")
    button(view, "chances: Chances").click()
    expect(button(view, "chances: Chances")).to_be_focused()
    expect(button(view, "chances: Chances")).to_have_attribute("aria-current", "step")
    # In a field the arrow keys are the field's.
    view.get_by_role("spinbutton", name="number").focus()
    page.keyboard.press("ArrowLeft")
    expect(title).to_contain_text("23 of 23")


@pytest.mark.thorough
def test_a_step_is_told_with_its_numbers(page: Page, base_url: str) -> None:
    view = stepping(page, base_url, "language-model")
    button(view, "layer 1").click()
    button(view, "q · k: Query times key").click()
    said = view.locator("xpath=ancestor::*[contains(@class, 'playground')]").get_by_role("status")
    told = view.locator(".step-sentence").inner_text()
    expect(said).to_contain_text(f"Step 5 of 23, layer 1, reading back: Query times key. {told}")
    assert re.search(r"added up: −?\d+\.\d\d\. Over √16 = 4 that is the score: −?\d+\.\d\d\.", told)
    view.get_by_text("All numbers of this step").click()
    expect(view.locator(".all-numbers tbody tr")).to_have_count(16)
    heads = view.locator(".all-numbers thead th").all_text_contents()
    assert heads == ["", "query", "key", "products"]
    # Of the network, the neurons that do most for the number that is followed.
    button(view, "layer 1").click()
    button(view, "network").click()
    button(view, "narrow: What fires is added").click()
    said = view.locator(".step-sum").inner_text()
    most, number = re.search(r"Number (\d+), for which (neuron \d+) does most", said).group(2, 1)
    assert re.search(rf"\(stream\) [+−] \d+\.\d\d \({most}\) [+−]", said)
    table = view.locator(".all-numbers table").first
    assert table.locator("thead th").all_text_contents() == ["", "fires", f"adds to number {number}"]
    assert table.locator("tbody th").all_text_contents()[0] == most


@pytest.mark.thorough
def test_the_word_the_head_the_key_and_the_number_are_the_readers(page: Page, base_url: str) -> None:
    view = stepping(page, base_url, "translator")
    view.get_by_role("combobox", name="Follow").select_option(label="end")
    sentence = view.locator(".step-sentence")
    expect(sentence).to_contain_text("The way of “end” begins")
    expect(view.locator(".step-title")).to_contain_text("1 of 21")  # it ends as what is looked at
    button(view, "layer 2").click()
    button(view, "softmax: The softmax").click()
    view.get_by_role("combobox", name="head", exact=False).first.select_option(label="2")
    expect(sentence).to_contain_text("Head 2 looks most at")
    view.locator(".step-drawing [data-key]").first.click()
    chosen = view.get_by_role("combobox", name="and its look at").input_value()
    assert chosen == view.locator(".step-drawing [data-key]").first.get_attribute("data-key")
    button(view, "← Back").click()
    expect(sentence).to_contain_text("Does the key of")
    assert view.get_by_role("combobox", name="and its look at").input_value() == chosen
    view.get_by_role("spinbutton", name="number").fill("3")
    view.get_by_role("spinbutton", name="number").press("Enter")
    expect(view.locator(".step-sum")).to_contain_text("Number 3 of both")
    bars = view.locator(".step-drawing [data-in-head]").first
    room = bars.bounding_box()
    assert room
    bars.click(position={"x": room["width"] * 9.5 / 16, "y": 10})
    expect(view.locator(".step-sum")).to_contain_text("Number 10 of both")
    view.get_by_role("spinbutton", name="number").fill("900")
    view.get_by_role("spinbutton", name="number").press("Enter")
    expect(view.get_by_role("spinbutton", name="number")).to_have_value("10")


@pytest.mark.thorough
@pytest.mark.parametrize("model", STEPS)
@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.thorough), 320])
def test_each_drawing_fits_its_page_and_can_be_read(
    page: Page, base_url: str, model: str, width: int
) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    view = stepping(page, base_url, model)
    page.set_viewport_size({"width": width, "height": 900})
    for step in range(1, STEPS[model] + 1):
        expect(view.locator(".step-title")).to_contain_text(f"{step} of {STEPS[model]}")
        smallest, sideways, outside = view.evaluate(
            """view => {
              const drawing = view.querySelector(".step-drawing svg");
              const room = view.getBoundingClientRect();
              const texts = [...drawing.querySelectorAll("text, tspan")];
              const sizes = texts.map((text) => parseFloat(getComputedStyle(text).fontSize));
              const out = texts.filter((text) => {
                const { left, right } = text.getBoundingClientRect();
                return left < room.left - 2 || right > room.right + 2;
              });
              const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
              const sideways = document.documentElement.scrollWidth - innerWidth;
              return [scale * Math.min(...sizes), sideways, out.map((text) => text.textContent)];
            }"""
        )
        assert smallest >= 11.9, step
        assert sideways <= 0, step
        assert not outside, (step, outside)
        if step < STEPS[model]:
            button(view, "Next →").click()
    assert not errors


@pytest.mark.thorough
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.thorough)])
def test_axe_finds_nothing(page: Page, base_url: str, theme: str) -> None:
    view = stepping(page, base_url, "language-model")
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    page.evaluate(AXE)
    view.get_by_text("All numbers of this step").click()
    for name in ("row: A row of the table", "layer 1", "softmax: The mask and the softmax", "comes out"):
        button(view, name).first.click()
        assert not [*violations(page, RULES)], name
