"""Looks and effects in the page: numbers on heads, what a switch does to them, and that all can use it."""

import re
from pathlib import Path

import pytest
from accessible import AXE, RULES, violations
from bench_page import opened_bench
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import in_pytorch, texts
from share_reference import Reference

from bookkit.playground import openable
from chapters.the_transformer.models import WORDS
from chapters.translating_with_attention.models import START

TEXT = "the kings that the king hears"
IDS = [START, *map(WORDS.index, TEXT.split())]
SEE, SEES = WORDS.index("see"), WORDS.index("sees")
SUBJECT = "Head 2 of layer 2 (reading back)"


def looks(page: Page, folder: Path, model: str = "language-model", text: str | None = TEXT) -> Locator:
    box = opened_bench(page, folder, model, text)
    box.get_by_role("button", name="Looks and effects").click()
    expect(box.locator(".looks-view .road li").first).to_be_visible()
    return box.locator(".looks-view")


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def heads_of(view: Locator) -> dict[str, str]:
    """What each head's button says, by its name: what follows the first comma."""
    said = [button.get_attribute("aria-label") for button in view.locator(".adds button").all()]
    return {name: rest for name, _, rest in (each.partition(", ") for each in said)}


def reference(**changes) -> Reference:
    model = openable()["language-model"].load()
    return Reference(model, {"read": IDS, "rivals": [SEE, SEES], "changes": changes}, None)


# ---- numbers ----


def test_each_head_and_network_has_the_share_that_pytorch_gives_it(page, tmp_path):
    view = looks(page, tmp_path)
    shares = {name: float(each[-1]) for name, each in reference().shares().items()}
    said = heads_of(view)
    assert len(said) == 8
    for layer in range(2):
        for head in range(4):
            told = said[f"head {head + 1} of layer {layer + 1} (reading back)"].removeprefix("adds ")
            assert abs(number(told) - shares[f"head,{layer},0,{head},"]) < 0.0051
    boxes = [number(text) for text in view.locator(".box:visible .adding span").all_text_contents()]
    biases = sum(share for name, share in shares.items() if name.startswith("bias"))
    own = [shares[name] for name in ("embedding,,,,", "positions,,,,", "network,0,1,,", "network,1,1,,")]
    assert boxes == pytest.approx([*own, biases], abs=0.0051)
    total = reference().difference(reference().said()[-1])
    expect(view.locator(".stands")).to_contain_text(
        f"Logit of “see” less logit of “sees”: +{float(total):.2f}"
    )


@pytest.mark.thorough
def test_what_does_most_is_found_among_all_rows(page, tmp_path):
    view = looks(page, tmp_path)
    most = view.locator("p").filter(has_text="Most for").inner_text()
    squares = [number(each.removeprefix("adds ")) for each in heads_of(view).values()]
    boxes = [number(text) for text in view.locator(".box:visible .adding span").all_text_contents()]
    shares = [number(each) for each in re.findall(r"\(([+−]\d+\.\d\d)\)", most)]
    assert shares == [max(squares + boxes), min(squares + boxes)]


@pytest.mark.thorough
def test_the_word_so_far_is_what_the_model_would_say_if_it_stopped_there(page, tmp_path):
    view, pytorch = looks(page, tmp_path), reference()
    layers = [
        f"layers.{layer}.around_{part}" for layer in range(2) for part in ("self_attention", "feed_forward")
    ]
    said = view.locator(".so strong").all_text_contents()
    for text, station in zip(said, ["embedding", "positions", *layers], strict=True):
        chances = pytorch.said(station)[-1].softmax(-1)
        word, share = re.fullmatch(r"(\S+) ([\d.]+)\xa0%", text).groups()
        assert word == WORDS[int(chances.argmax())]
        assert abs(float(share) / 100 - float(chances.max())) < 0.0051


@pytest.mark.thorough
def test_what_a_place_brings_is_told_with_its_weight(page, tmp_path):
    view = looks(page, tmp_path)
    brought = reference().brought("layers.1.self_attention", 1)[-1]
    weights = in_pytorch(openable()["language-model"].load(), {"read": IDS})[0][
        "layers.1.self_attention.weights"
    ]
    rows = view.locator(".found li").all()
    told = [row.locator("> span").all_text_contents() for row in rows]
    assert [name for name, *_ in told] == ["start", *TEXT.split(), "together"]
    for (_, share, brings), expected, weight in zip(told[:-1], brought, weights[0, 1, -1], strict=True):
        assert abs(number(brings) - expected) < 0.0051
        assert abs(float(share.removesuffix("\xa0%")) / 100 - weight) < 0.0051
    assert abs(number(told[-1][2]) - brought.sum()) < 0.0051
    expect(view.locator(".looks")).to_have_text(
        f"While “hears” is read, head 2 of layer 2 looks at “kings” (100\xa0%). "
        f"That brings +{brought[2]:.2f} for “see” against “sees”."
    )


# ---- switching off ----


@pytest.mark.thorough
def test_a_head_that_is_off_is_told_by_what_becomes_of_both_words(page, tmp_path):
    view = looks(page, tmp_path)
    expect(view.locator(".head-name")).to_have_text(SUBJECT)
    view.get_by_role("button", name="This head off").click()
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
    expect(page.locator(".deeds li")).to_contain_text(f"{SUBJECT} off")
    view.get_by_role("button", name="This head on again").click()
    expect(page.locator(".deeds li")).to_have_count(0)
    expect(stands).not_to_contain_text("→")


@pytest.mark.thorough
def test_all_heads_of_one_kind_are_named_as_what_they_are(page, tmp_path):
    view = looks(page, tmp_path, "translator", "the houses will see my white star")
    words = "All 4 heads of layer 2 (looking across)"
    view.get_by_role("button", name=f"{words} off").click()
    expect(page.locator(".deeds li")).to_contain_text(f"{words} off")
    said = heads_of(view)
    off = {name for name, rest in said.items() if rest == "off"}
    assert off == {f"head {head} of layer 2 (looking across)" for head in range(1, 5)}
    assert len(said) == 24
    expect(view.get_by_role("button", name=f"{words} on again")).to_be_visible()


@pytest.mark.thorough
def test_switching_off_each_in_turn_tells_what_pytorch_tells(page, tmp_path):
    view = looks(page, tmp_path)
    view.get_by_role("button", name="Switch off each in turn, and compare").click()
    expect(view.locator(".head-switches p")).to_contain_text("rises or falls when that head is off")
    before = float(reference().difference(reference().said()[-1]))
    for layer in range(2):
        for head in range(4):
            without = reference(off=[f"layers.{layer}.self_attention {head}"])
            lost = float(without.difference(without.said()[-1])) - before
            told = heads_of(view)[f"head {head + 1} of layer {layer + 1} (reading back)"].partition(", off ")[
                2
            ]
            assert abs(number(told) - lost) < 0.0051
    # Of another place nothing was measured.
    view.get_by_label("After").select_option("3")
    assert ", off" not in " ".join(heads_of(view).values())


# ---- which words ----


@pytest.mark.thorough
def test_a_reader_picks_the_words_that_are_held_against_each_other(page, tmp_path):
    view = looks(page, tmp_path)
    view.get_by_label("what speaks for").select_option(label="near")
    view.get_by_label("against").select_option(label="with")
    model = openable()["language-model"].load()
    run = {"read": IDS, "rivals": [WORDS.index("near"), WORDS.index("with")]}
    shares = Reference(model, run, None).shares()
    told = heads_of(view)["head 1 of layer 1 (reading back)"].removeprefix("adds ")
    assert abs(number(told) - float(shares["head,0,0,0,"][-1])) < 0.0051
    expect(view.locator(".stands")).to_contain_text("Logit of “near” less logit of “with”")


@pytest.mark.thorough
def test_a_head_that_reads_adds_to_no_word_itself_but_its_lack_does_something(page, tmp_path):
    view = looks(page, tmp_path, "translator", "the houses will see my white star")
    view.get_by_role("button", name="head 1 of layer 1 (reading)", exact=True).press("Enter")
    expect(view.locator(".head-name")).to_have_text("Head 1 of layer 1 (reading)")
    expect(view.locator(".found li")).to_have_count(8)
    expect(view.locator(".found .signed")).to_have_count(0)
    expect(view.locator(".looks")).to_contain_text("is read, head 1 of layer 1 looks at")
    expect(page.get_by_role("status")).to_contain_text("is read, head 1 of layer 1 looks at")
    expect(view.get_by_label("Writing word").locator("option:checked")).to_have_text("stela (place 5)")
    view.get_by_role("button", name="Switch off each in turn, and compare").click()
    expect(view.locator(".head-switches p")).to_contain_text("rises or falls when that head is off")
    assert re.fullmatch(r"off [+−]?\d\.\d\d", heads_of(view)["head 4 of layer 2 (reading)"])


# ---- for everyone ----


@pytest.mark.thorough
def test_it_is_used_by_keyboard_alone_and_keeps_the_focus(page, tmp_path):
    view = looks(page, tmp_path)
    head = view.get_by_role("button", name="head 3 of layer 1")
    head.focus()
    page.keyboard.press("Enter")
    expect(head).to_be_focused()
    expect(head).to_have_attribute("aria-pressed", "true")
    word = view.locator(".asking button").nth(3)
    word.focus()
    page.keyboard.press("Space")
    expect(view.locator(".asking button").nth(3)).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("While “that” is read, head 3 of layer 1 looks at")
    off = view.get_by_role("button", name="This head off")
    off.focus()
    page.keyboard.press("Enter")
    expect(view.get_by_role("button", name="This head on again")).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Logit of “")


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_it_fits_on_small_screens(page, tmp_path, scheme):
    page.emulate_media(color_scheme=scheme)
    view = looks(page, tmp_path, "translator", "the houses will see my white star")
    view.get_by_role("button", name="This head off").click()
    expect(view.locator(".adds .off")).to_have_count(1)
    page.evaluate(AXE)
    assert [*violations(page, RULES)] == []
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = view.locator("*").evaluate_all(
        "all => all.filter((it) => it.checkVisibility() && it.textContent.trim()).map((it) => "
        "parseFloat(getComputedStyle(it).fontSize))"
    )
    assert min(sizes) >= 12
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.thorough
def test_of_a_long_text_only_what_matters_is_drawn(page, tmp_path):
    view = looks(page, tmp_path, "gpt", "Return the number of nodes in the graph. " * 8)
    expect(view.locator(".found li")).to_have_count(14)  # 12 pieces, all others, and the sum
    expect(view.locator(".asking li")).to_have_count(12)
    told = view.locator(".found li").all_text_contents()
    assert re.match(r"\d+ others", told[12])
    rows = [row.locator("> span").last.text_content() for row in view.locator(".found li").all()]
    assert sum(map(number, rows[:-1])) == pytest.approx(number(rows[-1]), abs=0.08)


@pytest.mark.weekly
def test_fifty_beginnings_have_pytorchs_numbers_on_all_heads(page, tmp_path):
    view = looks(page, tmp_path)
    model = openable()["language-model"].load()
    for run in texts(50):
        words = [WORDS[word] for word in run["read"][1:-1]]
        page.get_by_role("textbox").fill(" ".join(words))
        expect(view.get_by_label("After").locator("option")).to_have_count(len(words) + 1)
        rivals = [int(select.input_value()) for select in view.locator(".against select").all()[1:]]
        shares = Reference(model, {"read": run["read"][:-1], "rivals": rivals}, None).shares()
        for name, told in heads_of(view).items():
            head, layer = map(int, re.findall(r"\d+", name))
            share = float(shares[f"head,{layer - 1},0,{head - 1},"][-1])
            assert abs(number(told.removeprefix("adds ")) - share) < 0.0051
