"""What a page says and draws of a run is what PyTorch computes: of symbols, changes, drawn steps."""

import re
from pathlib import Path

import pytest
import torch
from bench_page import opened_bench
from bench_state import BENCH, changed, is_share, put
from playwright.sync_api import Page, expect
from script_and_pytorch import switched

from chapters.looking_inside import models as repeats
from chapters.looking_inside.playground import chances
from chapters.the_transformer.models import WORDS

pytestmark = pytest.mark.thorough

# Twice t in a round, and at last a letter that is not the likeliest.
ROUNDS = "attentionattentionattx"


# ---- symbols ----


def judged(text: str, rows: torch.Tensor) -> list[tuple[bool, bool]]:
    """Of each symbol behind the first whether it could be known, and whether it was the likeliest."""
    found = []
    for place in range(1, len(text)):
        before = text.rfind(text[place - 1], 0, place - 1)
        likeliest = repeats.SYMBOLS[int(rows[place - 1].argmax())]
        found.append((before >= 0 and text[before + 1] == text[place], likeliest == text[place]))
    return found


def test_each_symbol_is_judged_by_what_followed_the_last_time(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "induction")
    for text in (ROUNDS, "playgroundplayground", "abcabcab"):
        put(page, text)
        rows = chances(text)
        told = [each.split(", ") for each in box.locator(".rounds .unseen").all_text_contents()]
        for place, (known, right) in enumerate(judged(text, rows), start=1):
            symbol, share, *rest = told[place]
            assert symbol == text[place]
            assert is_share(
                share.removesuffix("\xa0%"), float(rows[place - 1][repeats.SYMBOLS.index(symbol)])
            )
            assert (rest != []) == known
            assert (rest == ["foreseen"]) == (known and right)
        verdict = box.locator(".verdict").inner_text()
        both, known = [sum(map(all, judged(text, rows))), sum(each for each, _ in judged(text, rows))]
        assert f"Foreseen: {both} of the {known} that could be known so." in verdict
        place = text.rfind(text[-1], 0, -1)
        if place < 0:
            assert f"{text[-1]} has not stood before" in verdict
            continue
        expected = text[place + 1]
        right = repeats.SYMBOLS[int(rows[-1].argmax())] == expected
        assert verdict.startswith("Right" if right else "Wrong")
        assert f": the last time, at place {place + 1}, {text[-1]} was followed by {expected}." in verdict
    changed(page, "a head")
    verdict = box.locator(".verdict")
    expect(verdict).to_contain_text("with nothing changed")
    had = re.search(rf"\({expected} had ([\d.]+)\s% with", verdict.inner_text())
    assert is_share(had[1], float(rows[-1][repeats.SYMBOLS.index(expected)]))


# ---- changes ----


def test_of_a_text_typed_after_a_change_it_is_told_how_it_was_without(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model", "the kings that the king hears")
    page.evaluate(f"() => {{ {BENCH} return bench.pick([5, 9]); }}")
    changed(page, "the positions")
    words = "the dogs near the king"
    put(page, words)
    model = switched("language-model", {})
    with torch.no_grad():
        before = model(torch.tensor([[1, *map(WORDS.index, words.split())]]))[0, -1].softmax(-1)
    verb = next(word for id_ in before.argsort(descending=True) if f"{(word := WORDS[id_])}s" in WORDS)
    was = 100 * float(before[WORDS.index(verb)])
    assert was > 10
    expect(box.locator(".verdict")).to_contain_text(f"“{verb}” goes from {was:.0f}\xa0% to ")
