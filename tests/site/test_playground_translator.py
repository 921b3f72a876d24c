"""The translator in the page, and what a reader does with it."""

import pytest
import torch
from open_playground import CHAPTER, HOME, field, opened
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


def test_a_sentence_is_translated_as_it_is_typed(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    for typed, words in {
        "the hungry king's dogs will hide": "the hungry king 's dogs will hide",
        "My sisters’ cat sings!": "my sisters ' cat sings",
    }.items():
        field(box).fill(typed)
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
        expect(box.locator(".found li > :first-child")).to_have_text([*words.split(), "end"])
        expect(box.locator(".asking")).to_have_text("".join([*translated(words).split(), "end"]))
        expect(box.get_by_role("status")).to_have_text(f"In Lingo: {translated(words)}.")


def test_words_are_offered_and_strange_ones_named(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
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
    expect(box.locator(".ask .hint")).to_have_text("Only the first 24 words are read.")
    expect(box.get_by_role("status")).to_have_text("Only the first 24 words are read.")
    field(box).fill(f"{'the dog and ' * 4}the wolf runs")
    quoted = "Only “… the dog and the dog and the dog and the” is read."
    expect(box.locator(".ask .hint")).to_contain_text(quoted)
    field(box).fill("xylophone ")
    expect(box.locator(".ask .hint")).to_contain_text("Nothing is read. ")
    expect(box.locator(".ask .hint")).to_contain_text("“xylophone”: it knows and, because, behind")
    field(box).fill("“The dog” (my dog) – sleeps…")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog my dog sleeps')}")


@pytest.mark.thorough
def test_one_sentence_is_read(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    field(box).fill("... The dog sleeps. My cat si")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog sleeps')}")
    expect(box.locator(".ask .hint")).to_have_text("Only the first sentence is read.")
    expect(box.get_by_role("status")).to_have_text("Only the first sentence is read.")
    expect(box.locator(".offers")).to_be_empty()
    field(box).fill("The dog sleeps!? ")
    expect(box.locator(".ask .hint")).to_contain_text("It knows ")


@pytest.mark.thorough
def test_a_long_picture_is_moved_in_its_place(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    field(box).fill("the dog and the cat and the horse sleep")
    picture = box.locator(".attention")
    assert picture.evaluate("it => it.scrollHeight <= it.clientHeight")
    box.get_by_role("checkbox", name="the positions").check()
    for layer in 1, 2:
        box.get_by_role("button", name=f"head 1 of layer {layer} (writing)", exact=True).click()
        box.get_by_role("checkbox", name=f"all heads of layer {layer} (writing)").check()
    assert picture.bounding_box()["height"] <= 48 * 16
    assert picture.evaluate("it => it.scrollHeight > it.clientHeight")


@pytest.mark.thorough
def test_what_was_typed_is_printed(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    page.emulate_media(media="print")
    expect(field(box)).to_be_visible()
    assert box.get_by_role("button", name="Another sentence").count() == 0
    assert box.locator(".hint:visible").count() == 0


@pytest.mark.thorough
def test_each_offered_sentence_is_new_to_the_model_and_translated(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    for sentence in exported("translator")["offered"]:
        expect(field(box)).to_have_value(f"{sentence} ")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(sentence)}")
        box.get_by_role("button", name="Another sentence").click()


@pytest.mark.thorough
def test_one_word_of_one_head_is_shown_with_its_weights_and_its_mix(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    field(box).fill("these kings will love the kings")
    heads = box.get_by_role("group", name="Which head to look at").get_by_role("button")
    assert heads.count() == 3 * 2 * 4
    for name in (
        "head 1 of layer 2 (reading)",
        "head 3 of layer 1 (writing)",
        "head 2 of layer 1 (looking across)",
    ):
        heads.and_(box.get_by_role("button", name=name, exact=True)).press("Enter")
        asking = box.locator(".asking").get_by_role("button")
        for place in (0, asking.count() - 1):
            asking.nth(place).press("Enter")
            expect(asking.nth(place)).to_be_focused()
            expect(asking.nth(place)).to_have_attribute("aria-pressed", "true")
            shares = box.locator(".found li:not(.mix) > :nth-child(2)").all_text_contents()
            total = sum(float(share.removesuffix("\xa0%")) for share in shares)
            assert abs(total - 100) < 0.5 * len(shares)
            expect(box.get_by_role("status")).to_contain_text(name.partition(" (")[0])
            assert box.locator(".found .vector").count() == len(shares) + 1


@pytest.mark.thorough
def test_without_a_head_the_sentence_says_what_becomes_of_it(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    words = "the old king 's red dogs follow my cats"
    field(box).fill(words)
    height = box.bounding_box()["height"]
    off = []
    # One after the other, until most of those that look across are off.
    for head in range(3):
        name = f"head {head + 1} of layer 2 (looking across)"
        box.get_by_role("button", name=name, exact=True).click()
        box.get_by_role("checkbox", name=name, exact=True).check()
        off.append(f"decoder.1.cross_attention {head}")
        now, then = translated(words, off=off), translated(words)
        became = (
            f"the translation becomes “{now}”; it was “{then}”"
            if now != then
            else "the translation stays as it is"
        )
        expect(box.locator(".change")).to_contain_text(f", {became}.")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {now}")
    expect(box.locator(".change")).to_contain_text("Without 3 heads, ")
    box.get_by_role("button", name="All on again").click()
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
    assert box.bounding_box()["height"] == height
    box.get_by_role("checkbox", name="all heads of layer 2 (looking across)").check()
    off = [f"decoder.1.cross_attention {head}" for head in range(4)]
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words, off=off)}")
    expect(box.get_by_role("checkbox", name=name, exact=True)).to_be_checked()


@pytest.mark.thorough
def test_without_positions_and_without_the_mask(page: Page, base_url: str, monkeypatch) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    words = "these queens follow the small happy cats"
    field(box).fill(words)
    box.get_by_role("checkbox", name="the positions").check()
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words, positions=False)}")
    expect(box.locator(".change")).to_contain_text("Without positions, ")
    box.get_by_role("checkbox", name="the positions").uncheck()
    box.get_by_role("checkbox", name="the mask").check()
    monkeypatch.setattr("attnlab.transformer.causal", everything)
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
    expect(box.locator(".change")).to_contain_text("Without the mask, ")
    expect(box.locator(".change")).to_contain_text("Nothing stands behind the newest word")
    # What is shown is the last look of all, when there are words behind the chosen one.
    box.get_by_role("button", name="head 1 of layer 1 (writing)", exact=True).click()
    expect(box.locator(".looks")).to_contain_text("When all is written, from the place of “")
    box.get_by_role("checkbox", name="the mask").uncheck()
    expect(box.locator(".looks")).to_contain_text("is written, head 1 of layer 1 looks at “")


@pytest.mark.thorough
def test_all_of_it_is_reached_from_the_keyboard(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    box = page.locator(".playground").first
    box.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(field(box)).to_be_focused()
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        inside = "box => box.contains(document.activeElement) ? document.activeElement : null"
        focused = box.evaluate_handle(inside).as_element()
        if focused is None:
            break
        names.append(
            focused.evaluate("it => it.ariaLabel ?? it.closest('label')?.textContent ?? it.textContent")
        )
    assert names[0] == "Another sentence"
    assert names[2:5] == ["all heads of layer 2 (looking across)", "the mask", "the positions"]
    assert len([name for name in names if name.startswith("head ")]) == 1 + 24  # a switch and all maps
    words = len(exported("translator")["offered"][0].split())
    assert len(names) > 5 + 24 + words - 2
    assert names[-1] == "end"
