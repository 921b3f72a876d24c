"""One word, step by step, in the page: what a reader does there, and the numbers of each drawing."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from bench_page import BENCH, PAGES, looked, opened, opened_bench, troubles
from browser_pages import button
from playwright.sync_api import Locator, Page, expect

from bookkit.registry import BOOK

STEPS = {"translator": 35, "language-model": 23, "gpt": 32}
TEXT = "the kings that the king hears"


def stepping(page: Page, folder: Path, model: str = "language-model", text: str | None = TEXT) -> Locator:
    """The view of this model's steps, and the first of them."""
    box = opened_bench(page, folder, model, text)
    looked(box, "Step by step")
    expect(box.locator(".step-title")).to_contain_text(f"1 of {STEPS[model]}")
    return box


def test_every_step_leads_to_a_section_that_there_is(soup):
    script = (BOOK / "_static/bench/steps.js").read_text("utf-8")
    chapters = re.findall(r'^ +\w+: \["([a-z-]+)", "([a-z-]+)", "[^"]+"\],$', script, re.MULTILINE)
    assert len(chapters) == 17
    for file, anchor in chapters:
        assert soup(f"{file}.html").find(id=anchor), (file, anchor)


def test_one_goes_on_and_back_by_buttons_and_keys(page, tmp_path):
    view = stepping(page, tmp_path)
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
def test_a_step_is_told_with_its_numbers(page, tmp_path):
    view = stepping(page, tmp_path)
    button(view, "layer 1").click()
    button(view, "q · k: Query times key").click()
    told = view.locator(".step-sentence").inner_text()
    said = view.get_by_role("status")
    expect(said).to_contain_text(f"Step 5 of 23, layer 1, reading back: Query times key. {told}")
    assert "carried over" not in told
    assert re.search(r"added up: −?\d+\.\d\d\. Over √16 = 4 that is the score: −?\d+\.\d\d\.", told)
    # Of the network, the neurons that do most for the number that is followed.
    view.get_by_text("All numbers of this step").click()
    button(view, "network").click()
    button(view, "narrow: What fires is added").click()
    said = view.locator(".step-sum").inner_text()
    most, number = re.search(r"Number (\d+), for which (neuron \d+) does most", said).group(2, 1)
    assert re.search(rf"\(stream\) [+−] \d+\.\d\d \({most}\) [+−]", said)
    table = view.locator(".all-numbers table").first
    assert table.locator("thead th").all_text_contents() == ["", "fires", f"adds to number {number}"]
    assert table.locator("tbody th").all_text_contents()[0] == most


@pytest.mark.thorough
def test_a_word_that_is_only_read_ends_as_what_is_looked_at(page, tmp_path):
    view = stepping(page, tmp_path, "translator", None)
    view.get_by_role("combobox", name="Follow").select_option(label="end")
    expect(view.locator(".step-sentence")).to_contain_text("The way of “end” begins")
    expect(view.locator(".step-title")).to_contain_text("1 of 21")


# ---- drawings ----

# How large the smallest words are, how far the page scrolls sideways, and what stands outside.
MEASURED = """view => {
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


@pytest.mark.thorough
@pytest.mark.parametrize("model", STEPS)
@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.weekly), 320])
def test_each_drawing_fits_its_page_and_can_be_read(page, base_url, model, width):
    found = troubles(page)
    box = opened(page, f"{base_url}{PAGES[model]}", model)
    looked(box, "Step by step")
    view = box.locator(".steps")
    page.set_viewport_size({"width": width, "height": 900})
    for step in range(1, STEPS[model] + 1):
        expect(view.locator(".step-title")).to_contain_text(f"{step} of {STEPS[model]}")
        smallest, sideways, outside = view.evaluate(MEASURED)
        assert smallest >= 11.9, step
        assert sideways <= 0, step
        assert not outside, (step, outside)
        if step < STEPS[model]:
            button(view, "Next →").click()
    assert not found


# What the page holds of the step that is shown, and all that is written in its drawing.
SHOWN = f"""() => {{ {BENCH}
  const view = bench.made.steps;
  const plain = (tensor) => (tensor.length === undefined ? tensor : Array.from(tensor, plain));
  const numbers = Object.entries(view.step.numbers).map(([name, tensor]) => [name, plain(tensor)]);
  const {{ kind, head, key }} = view.step;
  const weights = view.step.weights?.map((row) => [...row]);
  const drawn = [...document.querySelectorAll(".step-drawing text")].map((text) => text.textContent);
  const words = bench.vocabulary, labels = bench.labels("text");
  const more = {{ drawn, words, labels, follow: view.follow, place: bench.choice.place }};
  return {{ kind, head, key, weights, numbers: Object.fromEntries(numbers), ...more }};
}}"""


def written(number: float, digits: int = 2) -> str:
    text = f"{abs(number):.{digits}f}"
    return f"−{text}" if number < 0 and float(text) else text


def expected(shown: dict[str, Any]) -> list[str]:
    """What must be written there, one below the other."""
    each, follow = shown["numbers"], shown["follow"]

    def of(*names: str, place: int = follow) -> list[str]:
        return [written(each[name][place]) for name in names]

    match shown["kind"]:
        case "embedding":
            return [*of("row"), "8", *of("result")]
        case "positions":
            return of("given", "position", "result")
        case "norm":
            mean, deviation = written(each["mean"]), written(each["deviation"])
            return ["−", mean, "÷", deviation, *of("normal", "gain", "bias", "result")]
        case "query":
            head, i = f"of head {shown['head'] + 1}", follow % 16
            query, key = (f"{name[0]} · number {i + 1}: {of(name, place=i)[0]}" for name in ("query", "key"))
            return [f"WQ {head}", query, f"WK {head}", key]
        case "score":
            rows = [written(number) for name in ("query", "key", "products") for number in each[name]]
            return [*rows, f"sum {written(each['sum'])}", f"score {written(each['score'])}"]
        case "softmax":
            places = zip(each["scores"], each["visible"], each["weights"], strict=True)
            return [
                text for score, seen, weight in places if seen for text in (written(score), share(weight))
            ]
        case "mix":
            told = []
            for place in sorted(heaviest(each["weights"], 6)):
                if (weight := each["weights"][place]) > 0.01:
                    told += [f"{share(weight)} of its value"]
                    told += [written(weight * value) for value in each["values"][place]]
            return [*told, "o · the mix", *map(written, each["mix"])]
        case "output":
            return [*of("given"), *(written(head[follow]) for head in each["heads"]), *of("bias", "result")]
        case "widen":
            neurons = heaviest(each["strengths"], 5) + heaviest([-number for number in each["wide"]], 1)
            return [text for one in neurons for text in (f"{one + 1}", *of("wide", "active", place=one))]
        case "narrow":
            adds = [
                weight * fires for weight, fires in zip(shown["weights"][follow], each["active"], strict=True)
            ]
            few = heaviest(each["strengths"], 5)
            told = []
            for one in few:
                told += [f"neuron {one + 1}", f"length {of('strengths', place=one)[0]}", written(adds[one])]
            others = sum(adds) - sum(adds[one] for one in few)
            return [*of("given"), *told, "251 others", written(others), *of("bias", "result")]
    chances = torch.tensor(each["logits"]).softmax(-1).tolist()
    told = []
    for word in heaviest(each["logits"], 6):
        told += [f"“{shown['words'][word]}”", *of("logits", place=word), share(chances[word])]
    return told


def share(weight: float) -> str:
    if 0 < weight < 0.0005:
        return "< 0.1\xa0%"
    return f"{float(f'{100 * weight:.{0 if weight >= 0.0995 else 1}f}'):g}\xa0%"


def heaviest(numbers: list[float], count: int) -> list[int]:
    return sorted(range(len(numbers)), key=lambda place: -numbers[place])[:count]


@pytest.mark.thorough
def test_each_drawing_has_the_numbers_of_its_step(page, tmp_path):
    view = stepping(page, tmp_path)
    kinds = []
    for number in range(23):
        if number:
            button(view, "Next →").click()
        expect(view.locator(".step-title")).to_contain_text(f"{number + 1} of 23")
        shown = page.evaluate(SHOWN)
        kinds.append(shown["kind"])
        drawn = iter(shown["drawn"])
        assert all(text in drawn for text in expected(shown)), (expected(shown), shown["drawn"])
    assert len({*kinds}) == 12


@pytest.mark.thorough
def test_the_number_that_is_followed_counts_most_and_goes_through_all_steps(page, tmp_path):
    view = stepping(page, tmp_path)
    button(view, "Next →").press("End")
    follow = page.evaluate(SHOWN)["follow"]
    button(view, "← Back").click()
    shown = page.evaluate(SHOWN)
    best = heaviest(shown["numbers"]["logits"], 1)[0]
    products = [abs(a * b) for a, b in zip(shown["weights"][best], shown["numbers"]["given"], strict=True)]
    assert heaviest(products, 1) == [follow]
    number = view.get_by_role("spinbutton", name="number")
    expect(number).to_have_value(f"{follow + 1}")
    # A bar that is pressed is followed from there; in a head it is that head's.
    button(view, "layer 2").click()
    bars = view.locator(".step-drawing [data-number]").first
    bars.click(position={"x": bars.bounding_box()["width"] * 40.5 / 64, "y": 10})
    expect(number).to_have_value("41")
    button(view, "q · k: Query times key").click()
    bars = view.locator(".step-drawing [data-in-head]").first
    bars.click(position={"x": bars.bounding_box()["width"] * 2.5 / 16, "y": 10})
    expect(number).to_have_value("35")
    number.fill("3")
    number.press("Enter")
    expect(view.locator(".step-sum")).to_contain_text("Number 3 of both")
    number.fill("900")
    number.press("Enter")
    expect(number).to_have_value("3")


@pytest.mark.thorough
def test_a_look_that_is_chosen_is_kept_and_the_table_has_its_numbers(page, tmp_path):
    view = stepping(page, tmp_path)
    button(view, "layer 2").click()
    button(view, "softmax: The mask and the softmax").click()
    view.get_by_role("combobox", name="head", exact=True).select_option(label="3")
    view.locator(".step-drawing [data-key='1']").click()
    shown = page.evaluate(SHOWN)
    assert (shown["head"], shown["key"]) == (2, 1)
    assert view.get_by_role("combobox", name="and its look at").input_value() == "1"
    button(view, "layer 1").click()
    button(view, "layer 2").click()
    for _ in range(2):
        button(view, "Next →").click()
    shown = page.evaluate(SHOWN)
    assert (shown["kind"], shown["head"], shown["key"]) == ("score", 2, 1)
    view.get_by_text("All numbers of this step").click()
    expect(view.locator(".all-numbers tbody tr")).to_have_count(16)
    heads = view.locator(".all-numbers thead th").all_text_contents()
    assert heads == ["", "query", "key", "products"]
    for place, row in enumerate(view.locator(".all-numbers tbody tr").all()):
        told = [written(shown["numbers"][name][place], 3) for name in heads[1:]]
        assert row.locator("th, td").all_text_contents() == [f"{place + 1}", *told]
    # Of the word before, the same step.
    view.get_by_role("combobox", name="Follow").select_option(label="king")
    shown = page.evaluate(SHOWN)
    assert (shown["kind"], shown["labels"][shown["place"]]) == ("score", "king")
