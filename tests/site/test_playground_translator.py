"""The translator in the page, and what a reader does with it."""

from pathlib import Path

import pytest
import torch
from bench_page import opened_bench
from bench_state import looked, put
from open_playground import field
from playwright.sync_api import Page, expect
from script_and_pytorch import everything, switched

from bookkit.playground import exported
from chapters.the_transformer import models
from chapters.translating_with_attention.models import ENGLISH_WORDS, LINGO_WORDS


# ---- the translator ----
def translated(words: str, **switches) -> str:
    """What PyTorch writes, with these parts of the model off."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, words.split()), 2]])
    written = models.greedy(switched("translator", switches), source, torch.tensor([source.shape[1]]))
    return " ".join(LINGO_WORDS[word] for word in written[0].tolist() if word > 2)


def test_a_sentence_is_translated_as_it_is_typed(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", form="slim")
    for typed, words in {
        "the hungry king's dogs will hide": "the hungry king 's dogs will hide",
        "My sisters’ cat sings!": "my sisters ' cat sings",
    }.items():
        field(box).fill(typed)
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
        expect(box.locator(".found li > :first-child")).to_have_text([*words.split(), "end"])
        expect(box.locator(".asking")).to_have_text("".join([*translated(words).split(), "end"]))
        expect(box.get_by_role("status")).to_contain_text(f"In Lingo: {translated(words)}. ")


@pytest.mark.thorough
def test_words_are_offered_and_strange_ones_named(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", form="slim")
    field(box).fill("the ho")
    offered = box.locator(".offers").get_by_role("button")
    expect(offered).to_have_text(["horse", "horses", "house", "houses"])
    field(box).press("Tab")
    page.keyboard.press("Enter")
    expect(field(box)).to_have_value("the horse ")
    expect(field(box)).to_be_focused()
    page.keyboard.type("runs")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the horse runs')}")
    field(box).fill("the wolf runs")
    told = "Only “the” is read. The model has not met “wolf”: with w it knows white, will and with."
    expect(box.locator(".ask .hint")).to_have_text(told)
    expect(box.get_by_role("status")).to_have_text(told)
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the')}")
    field(box).fill("the dog and " * 9)
    expect(box.locator(".ask .hint")).to_have_text("Only the first 24 words are read (’s is one).")
    expect(box.get_by_role("status")).to_have_text("Only the first 24 words are read (’s is one).")
    field(box).fill(f"{'the dog and ' * 4}the wolf runs")
    quoted = "Only “… the dog and the dog and the dog and the” is read."
    expect(box.locator(".ask .hint")).to_contain_text(quoted)
    field(box).fill("xylophone ")
    expect(box.locator(".ask .hint")).to_contain_text("Nothing is read. ")
    expect(box.locator(".ask .hint")).to_contain_text("“xylophone”: it knows and, because, behind")
    field(box).fill("“The dog” (my dog) – sleeps…")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog my dog sleeps')}")


@pytest.mark.thorough
def test_one_sentence_is_read(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", form="slim")
    field(box).fill("... The dog sleeps. My cat si")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog sleeps')}")
    expect(box.locator(".ask .hint")).to_have_text("Only the first sentence is read.")
    expect(box.locator(".verdict")).to_have_text("✓ Right, in every word. So far as it is read.")
    expect(box.get_by_role("status")).to_have_text("Only the first sentence is read.")
    expect(box.locator(".offers")).to_be_empty()
    field(box).fill("The dog sleeps!? ")
    expect(box.locator(".ask .hint")).to_be_empty()


@pytest.mark.thorough
def test_what_was_typed_is_printed(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", form="slim")
    page.emulate_media(media="print")
    expect(field(box)).to_be_visible()
    assert box.get_by_role("button", name="Another sentence").count() == 0
    assert box.locator(".hint:visible").count() == 0


@pytest.mark.thorough
def test_each_offered_sentence_is_new_to_the_model_and_translated(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", form="slim")
    for sentence in exported("translator")["offered"]:
        expect(field(box)).to_have_value(f"{sentence} ")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(sentence)}")
        box.get_by_role("button", name="Another sentence").click()


@pytest.mark.thorough
def test_one_word_of_one_head_is_shown_with_its_weights(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator")
    put(page, "these kings will love the kings")
    looked(box, "Looks and effects")
    heads = box.locator(".looks-view .road").get_by_role("button")
    assert heads.count() >= 3 * 2 * 4
    for name in (
        "head 1 of layer 2 (reading)",
        "head 3 of layer 1 (writing)",
        "head 2 of layer 1 (looking across)",
    ):
        heads.and_(box.get_by_role("button", name=name)).first.press("Enter")
        expect(box.locator(".head-name")).to_have_text(name[0].upper() + name[1:])
        asking = box.locator(".asking").get_by_role("button")
        for place in (0, asking.count() - 1):
            asking.nth(place).press("Enter")
            expect(asking.nth(place)).to_be_focused()
            expect(asking.nth(place)).to_have_attribute("aria-pressed", "true")
            shares = box.locator(".found li:not(.mix) > :nth-child(2)").all_text_contents()
            total = sum(float(share.removesuffix("\xa0%").removeprefix("<\u202f")) for share in shares)
            assert abs(total - 100) < 0.5 * len(shares)
            expect(box.get_by_role("status")).to_contain_text(name.partition(" (")[0])


@pytest.mark.thorough
def test_without_heads_the_answer_says_what_it_was(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator")
    words = "the old king 's red dogs follow my cats"
    put(page, words)
    looked(box, "Looks and effects")
    off = []
    # One after the other, until most of those that look across are off.
    for head in range(3):
        name = f"head {head + 1} of layer 2 (looking across)"
        box.locator(".road").get_by_role("button", name=name).first.click()
        box.get_by_role("button", name="This head off").click()
        off.append(f"decoder.1.cross_attention {head}")
        now, then = translated(words, off=off), translated(words)
        expect(box.locator(".says")).to_contain_text("In Lingo: ")
        expect(box.locator(".deeds li").filter(has_text="ead")).to_have_count(head + 1)
        assert shown(box) == now
        was = "With everything on it was right."  # as it is, of this sentence
        assert (was in box.locator(".verdict").inner_text()) == (now != then)
    box.get_by_role("button", name="All as it was").click()
    expect(box.locator(".deeds li")).to_have_count(0)
    assert shown(box) == translated(words)
    box.get_by_role("button", name="All 4 heads of layer 2 (looking across) off").click()
    expect(box.locator(".deeds li")).to_have_count(1)
    off = [f"decoder.1.cross_attention {head}" for head in range(4)]
    assert shown(box) == translated(words, off=off)


def shown(box) -> str:
    """What is written, without the marks for words that are missing."""
    return " ".join(box.locator(".says strong").inner_text().replace("…", " ").split())


@pytest.mark.thorough
def test_without_positions_and_without_the_mask(page: Page, tmp_path: Path, monkeypatch) -> None:
    box = opened_bench(page, tmp_path, "translator")
    words = "these queens follow the small happy cats"
    put(page, words)
    looked(box, "Reach in")
    positions, mask = (
        box.locator(".reach p").filter(has_text=f"the {part}") for part in ("positions", "mask")
    )
    positions.get_by_role("switch").click()
    expect(box.locator(".deeds li")).to_have_count(1)
    assert shown(box) == translated(words, positions=False)
    positions.get_by_role("switch").click()
    expect(box.locator(".deeds li")).to_have_count(0)
    mask.get_by_role("switch").click()
    expect(box.locator(".deeds li")).to_have_count(1)
    monkeypatch.setattr("attnlab.transformer.causal", everything)
    assert shown(box) == translated(words)
    # What is shown is the last look of all, when there are words behind the chosen one.
    looked(box, "Looks and effects")
    box.locator(".road").get_by_role("button", name="head 1 of layer 1 (writing)").first.click()
    expect(box.locator(".looks")).to_contain_text("When all is written, from the place of “")
    box.get_by_role("button", name="undo:").click()
    expect(box.locator(".looks")).to_contain_text("is written, head 1 of layer 1 looks at “")


@pytest.mark.thorough
def test_on_the_front_page_one_switch_takes_the_positions_away(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator", "the cat sees the dog", form="slim")
    switch = box.locator(".outcome button")
    expect(switch).to_have_text("Take the positions away")
    for words, switches in (
        ("Give the positions back", {"positions": False}),
        ("Take the positions away", {}),
    ):
        switch.press("Enter")
        expect(switch).to_have_text(words)
        expect(switch).to_be_focused()
        assert shown(box) == translated("the cat sees the dog", **switches)
    expect(box.get_by_role("group", name="Ways to look at it")).to_have_count(0)
