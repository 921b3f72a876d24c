"""“Reach in”: what a reader changes inside a model, and what comes of it, against PyTorch changed alike."""

import random
import re
from pathlib import Path

import pytest
import torch
from accessible import AXE, RULES, violations
from playwright.sync_api import Page, expect
from reach_page import assert_pytorchs, beside, logits, odds, reach, read, rows, settled, state, tool
from script_and_pytorch import in_pytorch
from tiers import left_to

from bookkit.playground import openable

WORDS, TRANSLATOR, SYMBOLS, GPT = "language-model", "translator", "induction", "gpt"
SEE, SEES = "see", "sees"
FIRST, SECOND = "the kings that the king hears", "the king that the king hears"

# ---- parts, and words ----


@pytest.mark.parametrize("name", left_to(pytest.mark.thorough, [WORDS, TRANSLATOR, SYMBOLS], but=[WORDS]))
def test_a_head_that_is_switched_off_is_off_in_pytorch_and_on_again_it_is_as_it_was(
    page: Page, tmp_path: Path, name: str
) -> None:
    reach(page, tmp_path, name)
    head = page.get_by_role("switch", name=re.compile("^head 2 of layer 2")).last
    head.click()
    said = state(page)
    assert [each.split()[1] for each in said["changes"]["off"]] == ["1"]
    assert said["logits"] != said["plain"]
    assert_pytorchs(name, said)
    expect(head).to_have_attribute("aria-checked", "false")
    expect(head).to_have_text("off")
    assert rows(page) == pytest.approx({"as it was": odds(said, "plain"), "now": odds(said)}, abs=0.051)
    head.click()
    said = state(page)
    assert said["logits"] == said["plain"]
    assert [*rows(page)] == ["as it was"]


@pytest.mark.thorough
def test_all_heads_of_one_attention_the_mask_and_the_positions_are_switches_too(
    page: Page, tmp_path: Path
) -> None:
    reach(page, tmp_path, TRANSLATOR)
    page.get_by_role("switch", name="all 4 heads of layer 1 (looking across)").click()
    said = state(page)
    assert said["changes"]["off"] == [f"decoder.0.cross_attention {head}" for head in range(4)]
    assert_pytorchs(TRANSLATOR, said)
    for part in ("mask", "positions"):
        page.get_by_role("switch", name=f"the {part}").click()
        said = state(page)
        assert said["changes"][part] is False
        assert_pytorchs(TRANSLATOR, said)


@pytest.mark.thorough
def test_nobody_looks_at_a_hidden_word_and_a_shorter_text_has_no_such_place(
    page: Page, tmp_path: Path
) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    settled(page)
    words = tool(page, "Hide a word")
    for word in ("start", "hears"):
        words.get_by_role("button", name=word, exact=True).click()
        settled(page)
    said = state(page)
    assert said["changes"]["hidden"] == ["text 0", "text 6"]
    assert_pytorchs(WORDS, said)
    read(page, "the kings")
    said = state(page)
    assert said["changes"]["hidden"] == ["text 0"]
    assert_pytorchs(WORDS, said)


# ---- two sentences ----


@pytest.mark.thorough
def test_a_head_carries_the_number_of_the_subject_from_the_second_sentence(
    page: Page, tmp_path: Path
) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    carry = beside(page)
    expect(carry.get_by_role("textbox")).to_have_value(f"{SECOND} ")
    # What both differ in is followed: the verb.
    assert page.locator(".reach-rivals option:checked").all_text_contents()[:2] == [SEE, SEES]
    carry.get_by_role("combobox", name="what is carried over").select_option("one head’s output")
    carry.get_by_role("button", name="head 2 of layer 2 (reading back) at “hears” (place\xa07)").click()
    said = state(page)
    (spot,) = said["changes"]["carried"]
    other = in_pytorch(openable()[WORDS].load(), {"read": [*said["read"][:2], 2, *said["read"][3:]]})[0]
    mixed = other["layers.1.self_attention.mixed"][0, 6].unflatten(-1, (4, -1))[1]
    assert (torch.tensor(spot["vector"]) - mixed).abs().max() < 1e-4
    assert_pytorchs(WORDS, said)
    one, against = other["word"][0, 6, said["rivals"]].tolist()
    expected = {"as it was": odds(said, "plain"), "now": odds(said), "other sentence": one - against}
    assert rows(page) == pytest.approx(expected, abs=0.051)
    assert expected["as it was"] > 3
    assert expected["now"] < -3
    expect(page.get_by_role("status")).to_contain_text(f"“{SEE}” against “{SEES}”: as it was")
    # Another sentence has other places: nothing is carried there.
    read(page, "the dog near the friend")
    assert state(page)["changes"]["carried"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", [WORDS, TRANSLATOR, SYMBOLS])
def test_the_whole_map_is_pytorchs(page: Page, tmp_path: Path, name: str) -> None:
    reach(page, tmp_path, name)
    beside(page).get_by_role("button", name=re.compile("^Try all")).click()
    expect(page.locator(".reach-found")).not_to_be_empty()
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
def test_where_the_difference_stands_is_said_and_which_head_moves_it(page: Page, tmp_path: Path) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    beside(page).get_by_role("button", name=re.compile("^Try all")).click()
    said = page.locator(".reach-found")
    expect(said).to_have_text(
        "At “kings” (place 3) most of the difference stands up to the network of layer 1; "
        "from layer 2 (reading back) on it stands at “hears” (place 7)."
    )
    page.get_by_role("button", name="Which head brings it there?").click()
    expect(said).to_contain_text(
        "Most is carried by head 2 of layer 2 (reading back) at “hears” (place\xa07)"
    )


@pytest.mark.thorough
def test_a_cell_of_the_sentence_before_is_not_carried_into_one_that_is_being_read(
    page: Page, tmp_path: Path
) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    beside(page)
    page.evaluate("""async () => {
      bench.put("the dog near the friend");
      await bench.view.carry.map.cells[0].button.onclick();
    }""")
    said = state(page)
    assert len(said["read"]) == 6
    assert said["changes"]["carried"] == []


@pytest.mark.thorough
def test_a_second_sentence_may_be_shorter_or_unknown_or_missing(page: Page, tmp_path: Path) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
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
def test_a_press_on_a_cell_can_be_taken_back_by_a_second_one_and_by_the_list(
    page: Page, tmp_path: Path
) -> None:
    reach(page, tmp_path, SYMBOLS)
    carry = beside(page)
    cell = carry.locator(".reach-map button").first
    for taken_back in (cell, page.get_by_role("button", name=re.compile("^undo: "))):
        cell.click()
        assert len(state(page)["changes"]["carried"]) == 1
        expect(cell).to_have_attribute("aria-pressed", "true")
        taken_back.click()
        said = state(page)
        assert said["changes"]["carried"] == []
        assert said["logits"] == said["plain"]
        expect(cell).to_have_attribute("aria-pressed", "false")


@pytest.mark.thorough
def test_from_cell_to_cell_by_the_arrow_keys(page: Page, tmp_path: Path) -> None:
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    beside(page)
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
def test_an_address_opens_the_tool_that_is_in_use_with_what_it_carried(page: Page, tmp_path: Path) -> None:
    reach(page, tmp_path, WORDS)
    spot = {"stack": "text", "name": "layers.1.self_attention.mixed", "place": 6, "head": 1}
    given = {"text": FIRST, "view": "reach", "other": SECOND, "carried": [spot], "rivals": [SEE, SEES]}
    page.evaluate("given => bench.restore(given)", given)
    carry = page.locator(".reach-tool[open]").filter(has_text="Carry something over from another sentence")
    expect(carry.get_by_role("textbox")).to_have_value(f"{SECOND} ")
    expect(carry.get_by_role("combobox", name="what is carried over").locator("option:checked")).to_have_text(
        "one head’s output"
    )
    expect(carry.locator("[aria-pressed=true]")).to_have_accessible_name(
        "head 2 of layer 2 (reading back) at “hears” (place 7)"
    )
    assert list(rows(page)) == ["as it was", "now", "other sentence"]
    assert page.evaluate("() => bench.rivals.map((id) => bench.vocabulary[id])") == [SEE, SEES]


@pytest.mark.thorough
def test_what_comes_of_a_switch_stays_in_sight_on_a_phone(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    reach(page, tmp_path, WORDS)
    beside(page)
    tool(page, "Set a weight by hand").get_by_label("is now").focus()
    page.mouse.wheel(0, 3000)
    assert page.locator(".reach-stuck").evaluate(
        "stuck => scrollY > 600 && stuck.getBoundingClientRect().top < 60"
    )
    assert page.locator(".reach-stuck").bounding_box()["height"] < 844 / 5


@pytest.mark.thorough
def test_on_a_phone_the_answer_is_told_whole_and_the_cell_that_carries_most_is_seen(
    page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    reach(page, tmp_path, WORDS)
    read(page, FIRST)
    carry = beside(page)
    carry.get_by_role("button", name=re.compile("^Try all")).click()
    expect(page.locator(".reach-found")).not_to_be_empty()
    page.get_by_role("button", name="Which head brings it there?").click()
    expect(page.locator(".reach-found")).to_contain_text("Most is carried by head 2 of layer 2")
    name = re.compile("^head 2 of layer 2 .* at “hears”")
    seen, cell = (
        each.bounding_box() for each in (page.locator(".reach-map"), carry.get_by_role("button", name=name))
    )
    assert cell["x"] + cell["width"] <= seen["x"] + seen["width"] + 1
    page.get_by_role("switch", name="the positions").click()
    settled(page)
    outcome = page.locator(".reach-outcome")
    expect(outcome).to_contain_text("goes from")
    assert outcome.evaluate("outcome => outcome.scrollHeight <= outcome.clientHeight")


# ---- weights ----


@pytest.mark.thorough
@pytest.mark.parametrize("name", [WORDS, TRANSLATOR, SYMBOLS])
def test_a_number_and_whole_rows_are_set_as_in_pytorch(page: Page, tmp_path: Path, name: str) -> None:
    reach(page, tmp_path, name)
    weights = tool(page, "Set a weight by hand")
    matrix = weights.get_by_role("combobox", name="the matrix")
    titles = matrix.locator("option").all_text_contents()
    for which in (0, 1, 3, len(titles) - 1):
        matrix.select_option(index=which)
        weights.get_by_label("number", exact=True).fill("5")
        weights.get_by_label("is now").fill("1.5")
        weights.get_by_label("is now").press("Enter")
        expect(weights.locator(".reach-number")).to_contain_text("is now +1.500")
        weights.get_by_role("button", name="turned around").click()
        said = state(page)
        assert [each["value"] for each in said["changes"]["numbers"] if each["column"] == 4][-1] == -1.5
        assert_pytorchs(name, said)
    assert said["logits"] != said["plain"]
    page.get_by_role("button", name="All as it was").click()
    said = state(page)
    assert said["changes"]["numbers"] == []
    assert said["logits"] == said["plain"]


@pytest.mark.thorough
def test_a_row_is_set_back_where_it_was_changed(page: Page, tmp_path: Path) -> None:
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
    expect(page.get_by_role("list", name="What you have changed").get_by_role("listitem")).to_have_count(0)


# ---- for everyone ----


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_screen_and_axe_finds_nothing(page: Page, tmp_path: Path, scheme: str) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    reach(page, tmp_path, TRANSLATOR)
    page.locator(".reach-kinds [role=switch]").first.click()
    for title in ("Hide a word", "Set a weight by hand"):
        tool(page, title)
    carry = beside(page)
    carry.locator(".reach-map button").first.click()
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.evaluate(AXE)
    assert [*violations(page, RULES)] == []


# ---- many ----

# One of all that can be pressed, by a number.
PRESS = """async (number) => {
  const { carry, tools } = bench.view;
  const [parts, hiding, , numbers] = tools;
  await busy;
  const kinds = carry.kinds.length;
  const ways = [
    () => parts.switches[number % parts.switches.length][0].click(),
    () => [...hiding.element.querySelectorAll("button")].at(number % 3).click(),
    () => {
      carry.kind = carry.kinds[number % kinds];
      carry.draw();
      carry.map.cells[number % carry.map.cells.length]?.button.click();
    },
    () => {
      const which = number % numbers.matrices.length;
      numbers.go({ which, row: number % numbers.matrices[which].count, column: number % 64 });
      numbers.set(((number % 17) - 8) / 4);
    },
  ];
  ways[number % 4]();
  await busy;
}"""


@pytest.mark.weekly
@pytest.mark.parametrize(("name", "count"), {WORDS: 50, TRANSLATOR: 50, SYMBOLS: 50, GPT: 20}.items())
def test_many_changes_one_or_two_at_once_are_pytorchs(
    page: Page, tmp_path: Path, name: str, count: int
) -> None:
    reach(page, tmp_path, name)
    for title in ("Hide a word", "Set a weight by hand"):
        tool(page, title)
    beside(page)
    draw = random.Random(0)
    offered = openable()[name].data()["offered"]
    for number in range(count):
        page.evaluate("() => bench.undoAll()")
        read(page, offered[number % len(offered)])
        settled(page)
        page.wait_for_function("bench.view.carry.second.isRead")
        for _ in range(1 + number % 2):
            page.evaluate(PRESS, 4 * draw.randrange(10_000) + number % 4)
        said = state(page)
        assert_pytorchs(name, said)
        assert rows(page)["as it was"] == pytest.approx(odds(said, "plain"), abs=0.051)
