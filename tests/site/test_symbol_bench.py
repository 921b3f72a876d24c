"""The model of *Looking inside* in the page, and the two findings to which its chapter leads."""

import re

import pytest
import torch
from bench_page import INSIDE_CHAPTER, changed, deeds, field, is_share, opened_bench, put
from playwright.sync_api import Locator, Page, expect
from tiers import left_to

from chapters.looking_inside import models
from chapters.looking_inside.playground import chances

TWICE, STRANGE = "playgroundplayground", "playgXoundplaygr"
# Twice t in a round, and at last a letter that is not the likeliest.
ROUNDS = "attentionattentionattx"


def said_of(box: Locator) -> list[str]:
    """Of each symbol what a screen reader is told."""
    return box.locator(".rounds .unseen").all_text_contents()


def judged(text: str, rows: torch.Tensor) -> list[tuple[bool, bool]]:
    """Of each symbol behind the first whether it could be known, and whether it was the likeliest."""
    found = []
    for place in range(1, len(text)):
        before = text.rfind(text[place - 1], 0, place - 1)
        likeliest = models.SYMBOLS[int(rows[place - 1].argmax())]
        found.append((before >= 0 and text[before + 1] == text[place], likeliest == text[place]))
    return found


@pytest.mark.parametrize(
    "text", left_to(pytest.mark.thorough, [TWICE, ROUNDS, "Ab9+=Ab9+=A", "aaaa"], but=[TWICE])
)
def test_each_symbol_has_its_chance_and_is_judged_by_what_followed_the_last_time(page, tmp_path, text):
    box = opened_bench(page, tmp_path, "induction")
    put(page, text)
    rows, told = chances(text), said_of(box)
    for place, (known, right) in enumerate(judged(text, rows), start=1):
        symbol, share, *rest = told[place].split(", ")
        assert symbol == text[place]
        assert is_share(share, float(rows[place - 1][models.SYMBOLS.index(symbol)]))
        assert (rest != []) == known
        assert (rest == ["foreseen"]) == (known and right)
    best = models.SYMBOLS[int(rows[-1].argmax())]
    assert told[-1].startswith(f"next, {best}, ")
    assert is_share(told[-1], float(rows[-1].max()))
    expect(box.locator(".says strong")).to_have_text(best)
    verdict = box.locator(".verdict").inner_text()
    both, known = sum(map(all, judged(text, rows))), sum(each for each, _ in judged(text, rows))
    assert f"Foreseen: {both} of the {known} that could be known so." in verdict
    place = text.rfind(text[-1], 0, -1)
    if place < 0:
        assert f"{text[-1]} has not stood before: what follows can’t be known." in verdict
        return
    assert verdict.startswith("Right" if best == text[place + 1] else "Wrong")
    assert f": the last time, at place {place + 1}, {text[-1]} was followed by {text[place + 1]}." in verdict
    changed(page, "a head")
    expect(box.locator(".verdict")).to_contain_text("with nothing changed")
    had = re.search(rf"\({text[place + 1]} had ([\d.]+)\s% with", box.locator(".verdict").inner_text())
    assert is_share(had[1], float(rows[-1][models.SYMBOLS.index(text[place + 1])]))


@pytest.mark.thorough
def test_rounds_stand_below_each_other_and_what_is_not_read_is_told(page, tmp_path):
    box = opened_bench(page, tmp_path, "induction")
    put(page, TWICE)
    lefts = [box.locator(".rounds li").nth(place).bounding_box()["x"] for place in (0, 10, 20)]
    assert max(lefts) - min(lefts) < 1
    field(box).fill(" play play ")
    expect(box.locator(".rounds li")).to_have_count(9)  # spaces are passed over
    for typed, told in {
        "": "Nothing is typed yet.",
        "plä": "Only “pl” is read. The model has not met “ä”",
        "😀ab": "Nothing is read. The model has not met “😀”",
        "<b>": "Nothing is read. The model has not met “<”",
        "ab" * 40: "Only the first 48 symbols are read.",
    }.items():
        field(box).fill(typed)
        expect(box.get_by_role("status")).to_contain_text(told)


# ---- the two findings to which “Looking inside” leads ----


def followed(page: Page, base_url: str, words: str) -> Locator:
    """The playground, once the link with these words has set it."""
    page.goto(base_url + INSIDE_CHAPTER)
    for summary in page.locator(".cover > summary").all():
        summary.evaluate("summary => (summary.parentElement.open = true)")
    page.get_by_role("link", name=words).click()
    box = page.locator(".playground[data-model=induction]")
    expect(deeds(box)).to_have_count(1)
    return box


@pytest.mark.thorough
def test_a_link_takes_the_head_away_without_which_nothing_is_foreseen(page, base_url):
    box = followed(page, base_url, "Without that head")
    expect(field(box)).to_have_value(TWICE)
    expect(box.locator(".verdict")).to_contain_text("Foreseen: 0 of the 9 that could be known so (9 with")
    assert all(float(re.search(r"([\d.]+)\s%", each)[1]) < 3 for each in said_of(box)[11:20])
    expect(box.locator(".views [aria-pressed=true]")).to_have_text("Looks and effects")
    box.get_by_role("button", name=re.compile("^undo")).click()
    expect(box.locator(".verdict")).to_contain_text("Foreseen: 9 of the 9 that could be known so.")


@pytest.mark.thorough
def test_a_link_carries_one_note_over_and_the_model_says_what_it_cannot_know(page, base_url):
    box = followed(page, base_url, "With this one note carried over")
    expect(field(box)).to_have_value(STRANGE)
    expect(box.locator(".says strong")).to_have_text("o")
    expect(box.locator(".verdict")).to_contain_text("(o had 1.9 % with nothing changed)")
    expect(box.locator(".views [aria-pressed=true]")).to_have_text("Reach in")
