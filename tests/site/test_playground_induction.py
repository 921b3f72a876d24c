"""The model of *Looking inside* in the page, and the two findings to which its chapter leads."""

import re

import pytest
import torch
from bench_state import is_share
from open_playground import INSIDE_CHAPTER, opened
from playwright.sync_api import Locator, Page, expect
from tiers import left_to

from attnlab.inside import heads_changed
from chapters.looking_inside import models
from chapters.looking_inside.playground import chances, ids, loaded

TWICE, STRANGE, WHOLE = "playgroundplayground", "playgXoundplaygr", "playgroundplaygr"


@pytest.fixture
def box(page: Page, base_url: str) -> Locator:
    return opened(page, base_url + INSIDE_CHAPTER, "induction")


def field(box: Locator) -> Locator:
    return box.get_by_label("A few letters, again and again")


def said(box: Locator) -> list[str]:
    """Of each symbol what a screen reader is told, once the text that was typed is read."""
    return box.locator(".rounds .unseen").all_text_contents()


def read(box: Locator, text: str) -> None:
    field(box).fill(text)
    expect(box.locator(".rounds li")).to_have_count(len(text) + 1)


TEXTS = [TWICE, "attentionattentionatt", "Ab9+=Ab9+=A", "aaaa"]


@pytest.mark.parametrize("text", left_to(pytest.mark.thorough, TEXTS, but=[TWICE]))
def test_each_symbol_has_the_chance_that_pytorch_gives_it(box: Locator, text: str) -> None:
    read(box, text)
    rows, told = chances(text), said(box)
    for place in range(1, len(text)):
        assert told[place].startswith(f"{text[place]}, ")
        assert is_share(told[place], float(rows[place - 1][models.SYMBOLS.index(text[place])]))
    best = models.SYMBOLS[int(rows[-1].argmax())]
    assert told[-1].startswith(f"next, {best}, ")
    assert is_share(told[-1], float(rows[-1].max()))
    expect(box.locator(".says strong")).to_have_text(best)


@pytest.mark.thorough
def test_what_could_be_known_is_marked_as_foreseen_or_not(box: Locator) -> None:
    text = "attentionattentionatt"
    read(box, text)
    rows, told = chances(text), said(box)
    for place in range(1, len(text)):
        before = text.rfind(text[place - 1], 0, place - 1)
        known = before >= 0 and text[before + 1] == text[place]
        right = models.SYMBOLS[int(rows[place - 1].argmax())] == text[place]
        assert ("foreseen" in told[place]) == known
        assert ("not foreseen" in told[place]) == (known and not right)


@pytest.mark.thorough
def test_the_likeliest_is_judged_by_what_followed_the_last_time(box: Locator) -> None:
    verdict = box.locator(".verdict")
    read(box, TWICE)
    expect(verdict).to_contain_text("Right: the last time, at place 10, d was followed by p.")
    expect(verdict).to_contain_text("Foreseen: 9 of the 9 that could be known so.")
    read(box, STRANGE)
    expect(verdict).to_contain_text("r has not stood before: what follows can’t be known.")


@pytest.mark.thorough
def test_rounds_stand_below_each_other(box: Locator) -> None:
    read(box, TWICE)
    lefts = [box.locator(".rounds li").nth(place).bounding_box()["x"] for place in (0, 10, 20)]
    assert max(lefts) - min(lefts) < 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "Nothing is typed yet."),
        ("plä", "Only “pl” is read. The model has not met “ä”"),
        ("😀ab", "Nothing is read. The model has not met “😀”"),
        ("<b>", "Nothing is read. The model has not met “<”"),
        ("ab" * 40, "Only the first 48 symbols are read."),
    ],
)
def test_what_it_does_not_read_is_told(box: Locator, typed: str, told: str) -> None:
    field(box).fill(typed)
    expect(box.get_by_role("status")).to_contain_text(told)


@pytest.mark.thorough
def test_spaces_are_passed_over(box: Locator) -> None:
    field(box).fill(" play play ")
    expect(box.locator(".rounds li")).to_have_count(9)


# ---- the two findings ----


def followed(page: Page, words: str) -> Locator:
    """The playground, once the link with these words has set it."""
    for summary in page.locator(".cover > summary").all():
        summary.evaluate("summary => (summary.parentElement.open = true)")
    page.get_by_role("link", name=words).click()
    box = page.locator(".playground[data-model=induction]")
    expect(box.locator(".deeds li")).to_have_count(1)
    return box


@pytest.mark.thorough
def test_a_link_takes_the_head_away_without_which_nothing_is_foreseen(page: Page, base_url: str) -> None:
    page.goto(base_url + INSIDE_CHAPTER)
    box = followed(page, "Without that head")
    expect(field(box)).to_have_value(TWICE)
    expect(box.locator(".verdict")).to_contain_text("Foreseen: 0 of the 9 that could be known so (9 with")
    told = said(box)
    assert all(float(re.search(r"([\d.]+)\s%", each)[1]) < 3 for each in told[11:20])
    expect(box.locator(".views [aria-pressed=true]")).to_have_text("Looks and effects")
    box.get_by_role("button", name=re.compile("^undo")).click()
    expect(box.locator(".verdict")).to_contain_text("Foreseen: 9 of the 9 that could be known so.")


@torch.no_grad()
def with_the_note() -> torch.Tensor:
    """The chances behind STRANGE, with what head 1 of layer 1 found in WHOLE at the seventh place."""

    def change(heads: torch.Tensor) -> torch.Tensor:
        heads = heads.clone()
        heads[0, 6, 0] = heads[1, 6, 0]
        return heads

    with heads_changed(loaded().layers[0].self_attention, change):
        return loaded()(torch.cat([ids(STRANGE), ids(WHOLE)]))[0, -1].softmax(-1)


@pytest.mark.thorough
def test_a_link_carries_one_note_over_and_the_model_says_what_it_cannot_know(
    page: Page, base_url: str
) -> None:
    page.goto(base_url + INSIDE_CHAPTER)
    box = followed(page, "With this one note carried over")
    expect(field(box)).to_have_value(STRANGE)
    expect(box.locator(".says strong")).to_have_text("o")
    assert is_share(said(box)[-1], float(with_the_note()[models.SYMBOLS.index("o")]))
    expect(box.locator(".verdict")).to_contain_text("(o had 1.9 % with nothing changed)")
    expect(box.locator(".views [aria-pressed=true]")).to_have_text("Reach in")
