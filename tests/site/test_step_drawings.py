"""Each drawing of a step has the numbers of that step, by name and in order; and what is followed."""

from pathlib import Path
from typing import Any

import pytest
import torch
from bench_page import opened_bench
from bench_state import BENCH, looked
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.thorough

TEXT = "the kings that the king hears"
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


def added(shown: dict[str, Any], neuron: int) -> float:
    return shown["weights"][shown["follow"]][neuron] * shown["numbers"]["active"][neuron]


def expected(shown: dict[str, Any]) -> list[str]:
    """What must be written there, one below the other."""
    each, n = shown["numbers"], shown["follow"]
    i = n % 16

    def of(*names: str) -> list[str]:
        return [written(each[name][n]) for name in names]

    if shown["kind"] == "embedding":
        return [*of("row"), "8", *of("result")]
    if shown["kind"] == "positions":
        return of("given", "position", "result")
    if shown["kind"] == "norm":
        middle = ["÷", written(each["deviation"]), *of("normal"), *of("gain", "bias", "result")]
        return ["−", written(each["mean"]), *middle]
    if shown["kind"] == "query":
        head = f"of head {shown['head'] + 1}"
        query, key = (f"{name[0]} · number {i + 1}: {written(each[name][i])}" for name in ("query", "key"))
        return [f"WQ {head}", query, f"WK {head}", key]
    if shown["kind"] == "score":
        rows = [written(number) for name in ("query", "key", "products") for number in each[name]]
        return [*rows, f"sum {written(each['sum'])}", f"score {written(each['score'])}"]
    if shown["kind"] == "softmax":
        rows = [
            [written(score), share(weight)]
            for score, seen, weight in zip(each["scores"], each["visible"], each["weights"], strict=True)
            if seen
        ]
        return [text for row in rows for text in row]
    if shown["kind"] == "mix":
        weights = each["weights"]
        worth = [place for place in heaviest(weights, 6) if weights[place] > 0.01]
        rows = [
            [
                f"{share(weights[place])} of its value",
                *(written(weights[place] * v) for v in each["values"][place]),
            ]
            for place in sorted(worth)
        ]
        return [*(text for row in rows for text in row), "o · the mix", *map(written, each["mix"])]
    if shown["kind"] == "output":
        heads = [written(head[n]) for head in each["heads"]]
        return [*of("given"), *heads, *of("bias", "result")]
    if shown["kind"] == "widen":
        silent = heaviest([-number for number in each["wide"]], 1)
        rows = [
            [str(neuron + 1), written(each["wide"][neuron]), written(each["active"][neuron])]
            for neuron in [*heaviest(each["strengths"], 5), *silent]
        ]
        return [text for row in rows for text in row]
    if shown["kind"] == "narrow":
        few = heaviest(each["strengths"], 5)
        rest = sum(added(shown, neuron) for neuron in range(256)) - sum(
            added(shown, neuron) for neuron in few
        )
        rows = [
            [
                f"neuron {neuron + 1}",
                f"length {written(each['strengths'][neuron])}",
                written(added(shown, neuron)),
            ]
            for neuron in few
        ]
        of_few = [text for row in rows for text in row]
        return [*of("given"), *of_few, "251 others", written(rest), *of("bias", "result")]
    best = heaviest(each["logits"], 6)
    chances = torch.tensor(each["logits"]).softmax(-1).tolist()
    rows = [
        [f"“{shown['words'][word]}”", written(each["logits"][word]), share(chances[word])] for word in best
    ]
    return [text for row in rows for text in row]


def share(weight: float) -> str:
    if 0 < weight < 0.0005:
        return "< 0.1\xa0%"
    return f"{float(f'{100 * weight:.{0 if weight >= 0.0995 else 1}f}'):g}\xa0%"


def heaviest(numbers: list[float], count: int) -> list[int]:
    return sorted(range(len(numbers)), key=lambda place: -numbers[place])[:count]


def in_order(parts: list[str], texts: list[str]) -> bool:
    rest = iter(texts)
    return all(part in rest for part in parts)


def test_each_drawing_has_the_numbers_of_its_step(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model", TEXT)
    looked(box, "Step by step")
    kinds = []
    for number in range(23):
        if number:
            box.get_by_role("button", name="Next →").click()
        expect(box.locator(".step-title")).to_contain_text(f"{number + 1} of 23")
        shown = page.evaluate(SHOWN)
        kinds.append(shown["kind"])
        assert in_order(expected(shown), shown["drawn"]), (expected(shown), shown["drawn"])
    assert len({*kinds}) == 12


def test_the_number_that_is_followed_counts_most_and_goes_through_all_steps(
    page: Page, tmp_path: Path
) -> None:
    box = opened_bench(page, tmp_path, "language-model", TEXT)
    looked(box, "Step by step")
    box.get_by_role("button", name="Next →").press("End")
    follow = page.evaluate(SHOWN)["follow"]
    box.get_by_role("button", name="← Back").click()
    shown = page.evaluate(SHOWN)
    best = heaviest(shown["numbers"]["logits"], 1)[0]
    products = [abs(a * b) for a, b in zip(shown["weights"][best], shown["numbers"]["given"], strict=True)]
    assert heaviest(products, 1) == [follow]
    expect(box.get_by_role("spinbutton", name="number")).to_have_value(f"{follow + 1}")
    # A bar that is pressed is followed from there; in a head it is that head's.
    box.get_by_role("button", name="layer 2", exact=True).click()
    bars = box.locator(".step-drawing [data-number]").first
    bars.click(position={"x": bars.bounding_box()["width"] * 40.5 / 64, "y": 10})
    expect(box.get_by_role("spinbutton", name="number")).to_have_value("41")
    box.get_by_role("button", name="q · k: Query times key").click()
    bars = box.locator(".step-drawing [data-in-head]").first
    bars.click(position={"x": bars.bounding_box()["width"] * 2.5 / 16, "y": 10})
    expect(box.get_by_role("spinbutton", name="number")).to_have_value("35")


def test_a_look_that_is_chosen_is_kept_and_the_table_has_its_numbers(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model", TEXT)
    looked(box, "Step by step")
    box.get_by_role("button", name="layer 2", exact=True).click()
    box.get_by_role("button", name="softmax: The mask and the softmax").click()
    box.get_by_role("combobox", name="head", exact=True).select_option(label="3")
    box.locator(".step-drawing [data-key='1']").click()
    shown = page.evaluate(SHOWN)
    assert (shown["head"], shown["key"]) == (2, 1)
    box.get_by_role("button", name="layer 1", exact=True).click()
    box.get_by_role("button", name="layer 2", exact=True).click()
    for _ in range(2):
        box.get_by_role("button", name="Next →").click()
    shown = page.evaluate(SHOWN)
    assert (shown["kind"], shown["head"], shown["key"]) == ("score", 2, 1)
    box.get_by_text("All numbers of this step").click()
    expect(box.locator(".all-numbers tbody tr")).to_have_count(16)
    rows = box.locator(".all-numbers tbody tr").all()
    names = ["query", "key", "products"]
    for place, row in enumerate(rows):
        told = [written(shown["numbers"][name][place], 3) for name in names]
        assert row.locator("th, td").all_text_contents() == [f"{place + 1}", *told]
    assert len(rows) == 16
    # Of the word before, the same step.
    box.get_by_role("combobox", name="Follow").select_option(label="king")
    shown = page.evaluate(SHOWN)
    assert (shown["kind"], shown["labels"][shown["place"]]) == ("score", "king")
