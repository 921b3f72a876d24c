"""“Reach in”: what a reader changes inside a model, and what comes of it, against PyTorch changed alike."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from bench_page import BENCH, deeds, looked, opened_bench, put
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import in_pytorch
from torch import Tensor

from bookkit.playground import openable

WORDS, TRANSLATOR, SYMBOLS = "language-model", "translator", "induction"
SEE, SEES = "see", "sees"
FIRST, SECOND = "the kings that the king hears", "the king that the king hears"

# The bench, at hand. What waits for `busy` waits until the page shows what the model has read.
AT_HAND = f"""() => {{ {BENCH}
  window.bench = bench;
  const run = bench.run;
  bench.run = function () {{ return (window.busy = run.call(this)); }};
}}"""
# What the model was given, how it is changed, and what came out, once all is read.
STATE = """async () => {
  await window.busy;
  const { input, changes, result, logits, plainLogits, rivals } = bench;
  const numbers = (rows) => rows.map((row) => [...row]);
  const spot = (each) => ({ ...each, head: each.head ?? null, vector: [...each.vector] });
  const carried = changes.carried.map(spot);
  const inLists = { ...changes, off: [...changes.off], hidden: [...changes.hidden], carried };
  const all = { read: input, changes: inLists, logits: numbers(logits), plain: numbers(plainLogits) };
  return { ...all, result, rivals, place: bench.view.place };
}"""


def reach(page: Page, folder: Path, name: str, words: str | None = None) -> None:
    """The view, opened, with these words, or the first text that is offered."""
    looked(opened_bench(page, folder, name), "Reach in")
    page.evaluate(AT_HAND)
    page.evaluate("words => (words ? bench.put(words) : bench.run())", words)


def state(page: Page) -> dict[str, Any]:
    return page.evaluate(STATE)


def logits(name: str, said: dict[str, Any]) -> Tensor:
    """PyTorch's, behind each place, with the changes that the page has made."""
    translation = said["result"] if isinstance(said["result"][0], int) else None
    trace = in_pytorch(openable()[name].load(), said, translation)[-1]
    return trace["logits" if "logits" in trace else "word"][0]


def checked(page: Page, name: str) -> dict[str, Any]:
    """The state of the page, which is PyTorch's."""
    said = state(page)
    assert (torch.tensor(said["logits"]) - logits(name, said)).abs().max() < 1e-4
    return said


def rows(page: Page) -> dict[str, float]:
    """The table on top: one word's logit less the other's, in each of the runs."""
    names = page.locator(".reach-odds tbody th").all_text_contents()
    cells = page.locator(".reach-odds tbody td:nth-child(3)").all_text_contents()
    return dict(zip(names, (float(cell.replace("−", "-")) for cell in cells), strict=True))


def odds(said: dict[str, Any], which: str = "logits") -> float:
    one, other = said["rivals"]
    row = said[which][said["place"]]
    return row[one] - row[other]


def tool(page: Page, title: str) -> Locator:
    """A tool of the view, opened."""
    found = page.locator(".reach-tool").filter(has=page.get_by_text(title, exact=True))
    found.evaluate("details => (details.open = true)")
    return found


def beside(page: Page) -> Locator:
    """The tool that carries something over, once the second sentence has been read."""
    carry = tool(page, "Carry something over from another sentence")
    expect(page.locator(".reach-odds")).to_contain_text("other sentence")
    return carry


def tried_all(page: Page) -> Locator:
    """What was found in all cells of the map."""
    beside(page).get_by_role("button", name=re.compile("^Try all")).click()
    expect(page.locator(".reach-found")).not_to_be_empty()
    return page.locator(".reach-found")


# ---- parts, and words ----


def test_a_head_that_is_switched_off_is_off_in_pytorch_and_on_again_it_is_as_it_was(page, tmp_path):
    reach(page, tmp_path, WORDS)
    head = page.get_by_role("switch", name=re.compile("^head 2 of layer 2")).last
    head.click()
    said = checked(page, WORDS)
    assert said["changes"]["off"] == ["layers.1.self_attention 1"]
    assert said["logits"] != said["plain"]
    expect(head).to_have_attribute("aria-checked", "false")
    expect(head).to_have_text("off")
    assert rows(page) == pytest.approx({"as it was": odds(said, "plain"), "now": odds(said)}, abs=0.051)
    head.click()
    said = state(page)
    assert said["logits"] == said["plain"]
    assert [*rows(page)] == ["as it was"]


@pytest.mark.thorough
def test_nobody_looks_at_a_hidden_word_and_a_shorter_text_has_no_such_place(page, tmp_path):
    reach(page, tmp_path, WORDS, FIRST)
    words = tool(page, "Hide a word")
    for word in ("start", "hears"):
        words.get_by_role("button", name=word, exact=True).click()
        said = checked(page, WORDS)
    assert said["changes"]["hidden"] == ["text 0", "text 6"]
    put(page, "the kings")
    assert checked(page, WORDS)["changes"]["hidden"] == ["text 0"]


# ---- two sentences ----


@pytest.mark.thorough
def test_a_head_carries_the_number_of_the_subject_from_the_second_sentence(page, tmp_path):
    reach(page, tmp_path, WORDS, FIRST)
    carry = beside(page)
    expect(carry.get_by_role("textbox")).to_have_value(f"{SECOND} ")
    # What both differ in is followed: the verb.
    assert page.locator(".reach-rivals option:checked").all_text_contents()[:2] == [SEE, SEES]
    carry.get_by_role("combobox", name="what is carried over").select_option("one head’s output")
    carry.get_by_role("button", name="head 2 of layer 2 (reading back) at “hears” (place\xa07)").click()
    said = checked(page, WORDS)
    (spot,) = said["changes"]["carried"]
    other = in_pytorch(openable()[WORDS].load(), {"read": [*said["read"][:2], 2, *said["read"][3:]]})[0]
    mixed = other["layers.1.self_attention.mixed"][0, 6].unflatten(-1, (4, -1))[1]
    assert (torch.tensor(spot["vector"]) - mixed).abs().max() < 1e-4
    one, against = other["word"][0, 6, said["rivals"]].tolist()
    expected = {"as it was": odds(said, "plain"), "now": odds(said), "other sentence": one - against}
    assert rows(page) == pytest.approx(expected, abs=0.051)
    assert expected["as it was"] > 3
    assert expected["now"] < -3
    expect(page.get_by_role("status")).to_contain_text(f"“{SEE}” against “{SEES}”: as it was")
    # Another sentence has other places: nothing is carried there.
    put(page, "the dog near the friend")
    assert state(page)["changes"]["carried"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", [TRANSLATOR, SYMBOLS])
def test_the_whole_map_is_pytorchs(page, tmp_path, name):
    reach(page, tmp_path, name)
    tried_all(page)
    found = page.evaluate("""() => {
      const { carry } = bench.view;
      return carry.map.cells.map(({ row, place, button }) => {
        const [spot] = carry.spots(row, place);
        const logits = carry.effects.found.get(carry.effects.spot(row, place)) ?? [];
        const { textContent: text, ariaLabel: words } = button;
        return { spot: { ...spot, head: null, vector: [...spot.vector] }, logits: [...logits], text, words };
      });
    }""")
    said = state(page)
    before, plain = odds(said, "plain"), said["result"]
    assert len(found) > 20
    tried = 0
    for cell in found:
        if not cell["logits"]:
            assert (cell["text"], name) == ("≠", TRANSLATOR)
            continue
        run = {"read": said["read"], "changes": {"carried": [cell["spot"]]}, "result": plain}
        ours = logits(name, run)[said["place"]]
        assert (torch.tensor(cell["logits"]) - ours).abs().max() < 1e-4, cell["words"]
        after = float(ours[said["rivals"][0]] - ours[said["rivals"][1]])
        assert float(cell["text"].replace("−", "-")) == pytest.approx(after, abs=0.051)
        tried += abs(after - before) > 1
    assert tried >= 3  # some carry the difference


@pytest.mark.thorough
def test_where_the_difference_stands_is_said_and_which_head_moves_it(page, tmp_path):
    """On a phone, where the whole answer and the cell that carries most are to be seen."""
    page.set_viewport_size({"width": 390, "height": 844})
    reach(page, tmp_path, WORDS, FIRST)
    beside(page)
    # What comes of a switch stays in sight.
    tool(page, "Set a weight by hand").get_by_label("is now").focus()
    page.mouse.wheel(0, 3000)
    stuck = page.locator(".reach-stuck")
    assert stuck.evaluate("stuck => scrollY > 600 && stuck.getBoundingClientRect().top < 60")
    assert stuck.bounding_box()["height"] < 844 / 5
    said = tried_all(page)
    expect(said).to_have_text(
        "At “kings” (place 3) most of the difference stands up to the network of layer 1; "
        "from layer 2 (reading back) on it stands at “hears” (place 7)."
    )
    page.get_by_role("button", name="Which head brings it there?").click()
    expect(said).to_contain_text(
        "Most is carried by head 2 of layer 2 (reading back) at “hears” (place\xa07)"
    )
    cell = page.get_by_role("button", name=re.compile("^head 2 of layer 2 .* at “hears”"))
    seen, place = page.locator(".reach-map").bounding_box(), cell.bounding_box()
    assert place["x"] + place["width"] <= seen["x"] + seen["width"] + 1
    page.get_by_role("switch", name="the positions").click()
    state(page)  # until all is read
    outcome = page.locator(".reach-outcome")
    expect(outcome).to_contain_text("goes from")
    assert outcome.evaluate("outcome => outcome.scrollHeight <= outcome.clientHeight")


@pytest.mark.thorough
def test_a_cell_of_the_sentence_before_is_not_carried_into_one_that_is_being_read(page, tmp_path):
    reach(page, tmp_path, WORDS, FIRST)
    beside(page)
    page.evaluate("""async () => {
      bench.put("the dog near the friend");
      await bench.view.carry.map.cells[0].button.onclick();
    }""")
    said = state(page)
    assert len(said["read"]) == 6
    assert said["changes"]["carried"] == []


@pytest.mark.thorough
def test_a_second_sentence_may_be_shorter_or_unknown_or_missing(page, tmp_path):
    reach(page, tmp_path, WORDS, FIRST)
    field = beside(page).get_by_role("textbox")
    field.fill("the king hears")
    # What ends alike goes together.
    expect(page.locator(".reach-map thead th")).to_have_text(["king", "hears"])
    expect(page.locator(".reach-odds")).to_contain_text("other sentence")
    expect(page.locator(".reach-second")).to_contain_text("alone in the first sentence: “kings” (place")
    for words in ("", "xyz"):
        field.fill(words)
        expect(page.locator(".reach-second")).to_contain_text("type one that differs in a word")
        expect(page.locator(".reach-map")).to_be_hidden()
        expect(page.get_by_role("button", name=re.compile("^Try all"))).to_be_hidden()
        expect(page.locator(".reach-odds")).not_to_contain_text("other sentence")


@pytest.mark.thorough
def test_a_press_on_a_cell_can_be_taken_back_by_a_second_one_and_by_the_list(page, tmp_path):
    reach(page, tmp_path, WORDS, FIRST)
    cell = beside(page).locator(".reach-map button").first
    for taken_back in (cell, page.get_by_role("button", name=re.compile("^undo: "))):
        cell.click()
        assert len(state(page)["changes"]["carried"]) == 1
        expect(cell).to_have_attribute("aria-pressed", "true")
        taken_back.click()
        said = state(page)
        assert said["changes"]["carried"] == []
        assert said["logits"] == said["plain"]
        expect(cell).to_have_attribute("aria-pressed", "false")
    # From cell to cell one comes by the arrow keys.
    page.locator(".reach-map button[tabindex='0']").focus()
    focused = page.locator(":focus")
    expect(focused).to_have_accessible_name("word + position at “kings” (place\xa03)")
    for key, word in {"ArrowDown": "kings", "ArrowRight": "that"}.items():
        focused.press(key)
        expect(focused).to_have_accessible_name(re.compile(rf"^after layer 1 \(reading back\) at “{word}”"))
    assert page.locator(".reach-map button[tabindex='0']").count() == 1
    focused.press("Enter")
    assert state(page)["changes"]["carried"][0]["place"] == 3


@pytest.mark.thorough
def test_an_address_opens_the_tool_that_is_in_use_with_what_it_carried(page, tmp_path):
    reach(page, tmp_path, WORDS)
    spot = {"stack": "text", "name": "layers.1.self_attention.mixed", "place": 6, "head": 1}
    given = {"text": FIRST, "view": "reach", "other": SECOND, "carried": [spot], "rivals": [SEE, SEES]}
    page.evaluate("given => bench.restore(given)", given)
    carry = page.locator(".reach-tool[open]").filter(has_text="Carry something over from another sentence")
    expect(carry.get_by_role("textbox")).to_have_value(f"{SECOND} ")
    chosen = carry.get_by_role("combobox", name="what is carried over").locator("option:checked")
    expect(chosen).to_have_text("one head’s output")
    name = "head 2 of layer 2 (reading back) at “hears” (place 7)"
    expect(carry.locator("[aria-pressed=true]")).to_have_accessible_name(name)
    assert list(rows(page)) == ["as it was", "now", "other sentence"]
    assert page.evaluate("() => bench.rivals.map((id) => bench.vocabulary[id])") == [SEE, SEES]


# ---- weights ----


@pytest.mark.thorough
def test_a_number_and_whole_rows_are_set_as_in_pytorch_and_set_back(page, tmp_path):
    reach(page, tmp_path, WORDS)
    weights = tool(page, "Set a weight by hand")
    back = weights.get_by_role("button", name="as it was")
    back.click()
    assert state(page)["changes"]["numbers"] == []
    weights.get_by_role("button", name="times 2").click()
    assert len(state(page)["changes"]["numbers"]) > 10
    back.click()
    said = state(page)
    assert said["changes"]["numbers"] == []
    assert said["logits"] == said["plain"]
    expect(deeds(page.locator(".playground"))).to_have_count(0)
    weights.get_by_label("number", exact=True).fill("5")
    weights.get_by_label("is now").fill("1.5")
    weights.get_by_label("is now").press("Enter")
    expect(weights.locator(".reach-number")).to_contain_text("is now +1.500")
    weights.get_by_role("button", name="turned around").click()
    said = checked(page, WORDS)
    assert [each["value"] for each in said["changes"]["numbers"] if each["column"] == 4][-1] == -1.5
    assert said["logits"] != said["plain"]
