"""Looks and effects in the page: numbers on heads, and what a switch does to them."""

import re
from pathlib import Path

import pytest
from bench_page import deeds, looked, opened_bench
from node import printed
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import in_pytorch, spelled
from share_reference import Reference

from bookkit.playground import openable
from bookkit.registry import BOOK
from chapters.the_transformer.models import WORDS
from chapters.translating_with_attention.models import START

TEXT = "the kings that the king hears"
IDS = [START, *map(WORDS.index, TEXT.split())]
SEE, SEES = WORDS.index("see"), WORDS.index("sees")
SUBJECT = "Head 2 of layer 2 (reading back)"
ROUNDED = 0.0051  # hundredths are shown


def looks(page: Page, folder: Path, model: str = "language-model", text: str = TEXT) -> Locator:
    box = opened_bench(page, folder, model, text)
    looked(box, "Looks and effects")
    return box.locator(".looks-view")


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def heads_of(view: Locator) -> dict[str, str]:
    """What each head's button says, by its name: what follows the first comma."""
    said = [button.get_attribute("aria-label") for button in view.locator(".adds button").all()]
    return {name: rest for name, _, rest in (each.partition(", ") for each in said)}


def reference(rivals: tuple[int, int] = (SEE, SEES), **changes) -> Reference:
    model = openable()["language-model"].load()
    traces = in_pytorch(model, {"read": IDS, "changes": changes})
    return Reference(spelled(model, changes), traces[-1], [*rivals])


def test_all_that_is_shown_has_pytorchs_numbers(page, tmp_path):
    view, pytorch = looks(page, tmp_path), reference()
    shares = {name: float(each[-1]) for name, each in pytorch.shares().items()}
    adds = {name: number(told.removeprefix("adds ")) for name, told in heads_of(view).items()}
    assert adds == pytest.approx(
        {
            f"head {head + 1} of layer {layer + 1} (reading back)": shares[f"head,{layer},0,{head},"]
            for layer in range(2)
            for head in range(4)
        },
        abs=ROUNDED,
    )
    boxes = [number(text) for text in view.locator(".box:visible .adding span").all_text_contents()]
    biases = sum(share for name, share in shares.items() if name.startswith("bias"))
    own = [shares[name] for name in ("embedding,,,,", "positions,,,,", "network,0,1,,", "network,1,1,,")]
    assert boxes == pytest.approx([*own, biases], abs=ROUNDED)
    total = float(pytorch.difference(pytorch.said()[-1]))
    expect(view.locator(".stands")).to_contain_text(f"Logit of “see” less logit of “sees”: +{total:.2f}")
    most = re.findall(r"\(([+−]\d+\.\d\d)\)", view.locator("p").filter(has_text="Most for").inner_text())
    every = [*adds.values(), *boxes]
    assert [*map(number, most)] == [max(every), min(every)]
    # The word so far is what the model would say if it stopped there.
    parts = ("self_attention", "feed_forward")
    layers = [f"layers.{layer}.around_{part}" for layer in range(2) for part in parts]
    said = view.locator(".so strong").all_text_contents()
    for text, station in zip(said, ["embedding", "positions", *layers], strict=True):
        chances = pytorch.said(station)[-1].softmax(-1)
        word, share = re.fullmatch(r"(\S+) ([\d.]+)\xa0%", text).groups()
        assert word == WORDS[int(chances.argmax())]
        assert abs(float(share) / 100 - float(chances.max())) < ROUNDED
    # What each place brings has its weight beside it.
    brought = pytorch.brought("layers.1.self_attention", 1)[-1]
    weights = pytorch.trace["layers.1.self_attention.weights"][0, 1, -1]
    told = [row.locator("> span").all_text_contents() for row in view.locator(".found li").all()]
    assert [name for name, *_ in told] == ["start", *TEXT.split(), "together"]
    for (_, share, brings), expected, weight in zip(told[:-1], brought, weights, strict=True):
        assert abs(number(brings) - expected) < ROUNDED
        assert abs(float(share.removesuffix("\xa0%")) / 100 - weight) < ROUNDED
    assert abs(number(told[-1][2]) - brought.sum()) < ROUNDED
    expect(view.locator(".looks")).to_have_text(
        f"While “hears” is read, head 2 of layer 2 looks at “kings” (100\xa0%). "
        f"That brings +{brought[2]:.2f} for “see” against “sees”."
    )


@pytest.mark.thorough
def test_a_head_that_is_off_is_told_by_what_becomes_of_both_words(page, tmp_path):
    view = looks(page, tmp_path)
    expect(view.locator(".head-name")).to_have_text(SUBJECT)
    off = view.get_by_role("button", name="This head off")
    off.focus()
    page.keyboard.press("Enter")
    expect(view.get_by_role("button", name="This head on again")).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Logit of “")
    before, after = reference().said()[-1], reference(off=["layers.1.self_attention 1"]).said()[-1]
    gaps = [float(each[SEE] - each[SEES]) for each in (before, after)]
    assert gaps[1] < 0 < gaps[0]
    shares = [100 * float(each.softmax(-1)[SEE]) for each in (before, after)]
    stands = view.locator(".stands")
    expect(stands).to_contain_text(f"“see” {shares[0]:.0f}\xa0% → {shares[1]:.1f}\xa0%")
    expect(stands).to_contain_text(f"+{gaps[0]:.2f} → −{-gaps[1]:.2f}")
    expect(view.locator(".head-switches p")).to_have_text(stands.inner_text())  # where it was pressed
    assert heads_of(view)[SUBJECT.lower()] == "off"
    expect(view.locator(".looks")).to_contain_text("It is off: what it finds is not used.")
    expect(deeds(page.locator(".playground"))).to_contain_text(f"{SUBJECT} off")
    view.get_by_role("button", name="This head on again").click()
    expect(deeds(page.locator(".playground"))).to_have_count(0)
    expect(stands).not_to_contain_text("→")
    # Each in turn.
    view.get_by_role("button", name="Switch off each in turn, and compare").click()
    expect(view.locator(".head-switches p")).to_contain_text("rises or falls when that head is off")
    told = heads_of(view)
    for layer in range(2):
        for head in range(4):
            without = reference(off=[f"layers.{layer}.self_attention {head}"])
            lost = float(without.difference(without.said()[-1])) - gaps[0]
            said = told[f"head {head + 1} of layer {layer + 1} (reading back)"].partition(", off ")[2]
            assert abs(number(said) - lost) < ROUNDED
    # Of another place nothing was measured.
    view.get_by_label("After").select_option("3")
    assert ", off" not in " ".join(heads_of(view).values())


@pytest.mark.thorough
def test_a_reader_picks_words_and_heads_also_by_keyboard_alone(page, tmp_path):
    view = looks(page, tmp_path)
    view.get_by_label("what speaks for").select_option(label="near")
    view.get_by_label("against").select_option(label="with")
    shares = reference((WORDS.index("near"), WORDS.index("with"))).shares()
    told = heads_of(view)["head 1 of layer 1 (reading back)"].removeprefix("adds ")
    assert abs(number(told) - float(shares["head,0,0,0,"][-1])) < ROUNDED
    expect(view.locator(".stands")).to_contain_text("Logit of “near” less logit of “with”")
    head = view.get_by_role("button", name="head 3 of layer 1")
    head.focus()
    page.keyboard.press("Enter")
    expect(head).to_be_focused()
    expect(head).to_have_attribute("aria-pressed", "true")
    word = view.locator(".asking button").nth(3)
    word.focus()
    page.keyboard.press("Space")
    expect(word).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("While “that” is read, head 3 of layer 1 looks at")


@pytest.mark.thorough
def test_in_a_translator_heads_that_read_add_to_no_word_but_their_lack_does_something(page, tmp_path):
    view = looks(page, tmp_path, "translator", "the houses will see my white star")
    view.get_by_role("button", name="head 1 of layer 1 (reading)", exact=True).press("Enter")
    expect(view.locator(".head-name")).to_have_text("Head 1 of layer 1 (reading)")
    expect(view.locator(".found li")).to_have_count(8)
    shares = view.locator(".found li:not(.mix) > :nth-child(2)").all_text_contents()
    total = sum(float(share.removesuffix("\xa0%").removeprefix("<\u202f")) for share in shares)
    assert abs(total - 100) < 0.5 * len(shares)
    expect(view.locator(".found .signed")).to_have_count(0)
    expect(view.locator(".looks")).to_contain_text("is read, head 1 of layer 1 looks at")
    expect(page.get_by_role("status")).to_contain_text("is read, head 1 of layer 1 looks at")
    expect(view.get_by_label("Writing word").locator("option:checked")).to_have_text("mia (place 4)")
    view.get_by_role("button", name="Switch off each in turn, and compare").click()
    expect(view.locator(".head-switches p")).to_contain_text("rises or falls when that head is off")
    assert re.fullmatch(r"off [+−]?\d\.\d\d", heads_of(view)["head 4 of layer 2 (reading)"])
    # All heads of one kind are named as what they are.
    view.get_by_role("button", name="head 1 of layer 2 (looking across)").press("Enter")
    words = "All 4 heads of layer 2 (looking across)"
    view.get_by_role("button", name=f"{words} off").click()
    expect(deeds(page.locator(".playground"))).to_contain_text([f"{words} off"])
    said = heads_of(view)
    off = {name for name, rest in said.items() if rest == "off"}
    assert off == {f"head {head} of layer 2 (looking across)" for head in range(1, 5)}
    assert len(said) == 24
    expect(view.get_by_role("button", name=f"{words} on again")).to_be_visible()


@pytest.mark.thorough
def test_of_a_long_text_only_what_matters_is_drawn(page, tmp_path):
    view = looks(page, tmp_path, "gpt", "Return the number of nodes in the graph. " * 8)
    expect(view.locator(".found li")).to_have_count(14)  # 12 pieces, all others, and the sum
    expect(view.locator(".asking li")).to_have_count(12)
    told = view.locator(".found li").all_text_contents()
    assert re.match(r"\d+ others", told[12])
    rows = [row.locator("> span").last.text_content() for row in view.locator(".found li").all()]
    assert sum(map(number, rows[:-1])) == pytest.approx(number(rows[-1]), abs=0.08)


# A change has left 2 words of 4, and another 3: what was followed before may be gone.
SHORTER = """
const isAttention = { kind: "attention", attention: "a", weights: "w" };
const stackWithWords = ([stack]) => stack, likeliest = (logits) => logits;
const run = (count) => Array(count).fill(Array(count).fill(0.5));
const bench = Object.assign(Object.create(Workbench.prototype), {
  stacks: [{ name: "written", norm: "w", layers: [{ parts: [isAttention] }] }], model: { heads: 1 },
  choice: { place: 3, key: 3, number: null }, traces: { written: { w: [run(2)] } },
  logits: run(2), plainLogits: run(4),
});
const settled = () => (bench.settle(), [bench.choice.place, bench.choice.key, bench.rivals.length]);
const first = settled();
Object.assign(bench, { choice: { place: 2, key: 0, number: null }, traces: { written: { w: [run(3)] } } });
Object.assign(bench, { logits: run(3), plainLogits: run(2) });
const view = Object.assign(Object.create(LooksView.prototype), { bench, last: 7 });
const second = settled();
const lines = Object.assign(Object.create(AttentionView.prototype), { bench });
Object.assign(bench, { choice: { ...bench.choice, place: 5 }, changes: { off: new Set() } });
const shown = lines.shown.place;
bench.choice = { stack: "read" };
bench.traces.written.w = run(3);
console.log(JSON.stringify([first, second, shown, view.followed]));
"""


def test_what_is_followed_is_of_what_there_still_is():
    files = ("workbench.js", "bench/attention_view.js", "bench/looks_view.js")
    scripts = "".join((BOOK / "_static" / name).read_text("utf-8") for name in files)
    assert printed(scripts + SHORTER) == [[1, 1, 4], [2, 0, 2], 2, 2]
