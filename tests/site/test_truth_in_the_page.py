"""The truth beside the translator: whether it is right, its wrong words, and how often it is right."""

from pathlib import Path

import pytest
import torch
from bench_page import opened_bench
from bench_state import BENCH, changed, put, translated
from playwright.sync_api import Page, expect
from script_and_pytorch import switched

from chapters.the_transformer import models, truth
from chapters.translating_with_attention.models import sentences, unseen_pairs

pytestmark = pytest.mark.thorough


def right_of_fifty(**switches) -> int:
    model = switched("translator", switches)
    tried = [pair for pair in unseen_pairs(200) if 4 <= len(pair.english) <= 12][: truth.TRIES]
    right = 0
    for pair in tried:
        read = sentences([pair])
        written = models.greedy(model, read.source, read.lengths)[0]
        right += written.tolist() == read.targets[0].tolist()
    return right


@torch.no_grad()
def test_it_counts_how_often_it_is_right_as_pytorch_does_with_a_head_and_without(
    page: Page, tmp_path: Path
) -> None:
    box = opened_bench(page, tmp_path, "translator")
    whole, lacking = right_of_fifty(), right_of_fifty(off=["decoder.1.cross_attention 0"])
    assert lacking < whole
    button, told = box.get_by_role("button", name="How often is it right?"), box.locator(".tally .hint")
    button.click()
    expect(told).to_contain_text(f"Right in {whole} of 50. A translation is right when every word is.")
    # Another sentence changes nothing of it; another model does.
    put(page, "the cat sleeps")
    expect(told).to_contain_text(f"Right in {whole} of 50.")
    part = '(changes) => changes.off.add("decoder.1.cross_attention 0")'
    page.evaluate(f"() => {{ {BENCH} return bench.change({part}, 'without'); }}")
    expect(told).to_be_empty()
    button.click()
    expect(told).to_contain_text(f"Right in {lacking} of 50; with everything on in {whole}. ")
    expect(told).to_contain_text("Wrong, for one: “")
    expect(box.get_by_role("status")).to_contain_text(f"Right in {lacking} of 50")
    box.locator(".deeds").get_by_role("button").click()
    expect(told).to_contain_text(f"Right in {whole} of 50.")
    # Whoever types meanwhile ends it.
    changed(page, "the positions")
    button.click()
    expect(told).to_contain_text("Trying number")
    put(page, "the dog sleeps")
    expect(told).to_be_empty()


def test_the_wrong_words_of_a_translation_are_marked(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "translator")
    lingo = {" ".join(pair.english): " ".join(pair.lingo) for pair in unseen_pairs(3000)}
    long = [english for english in lingo if 20 < len(english.split()) < 25][:12]
    found = 0
    assert len(long) == 12
    for english in long:
        put(page, english)
        written = translated(english)
        wrong = box.locator(".says .wrong")
        if written == lingo[english]:
            expect(box.locator(".verdict")).to_have_text("✓ Right, in every word.")
            assert wrong.count() == 0
            continue
        found += 1
        expect(box.locator(".verdict")).to_contain_text("✗ Not right: ")
        expect(box.locator(".verdict")).to_contain_text(f"It should be “{lingo[english]}”.")
        assert wrong.count()
        marked = [word for word in wrong.all_inner_texts() if word != "…"]
        assert set(marked) <= set(written.split())
        assert all(wrong.evaluate_all("all => all.map(({ title }) => /should|missing/.test(title))"))
    assert 0 < found < 12
    expect(box.get_by_role("status")).to_contain_text("In Lingo: ")


@pytest.mark.parametrize(
    ("english", "fault"),
    [
        ("the cat sleep", "“sleep” does not fit “cat”: “sleeps” would."),
        ("because the cat the", "A sentence can’t begin with “because”"),
        ("the cat the dog sleeps", "Word 3, “the”, can’t stand behind “cat”"),
        ("the cat", "This is only the beginning of a sentence"),
    ],
)
def test_of_what_is_no_sentence_it_says_so(page: Page, tmp_path: Path, english: str, fault: str) -> None:
    box = opened_bench(page, tmp_path, "translator")
    put(page, english)
    expect(box.locator(".verdict")).to_contain_text(fault)
    expect(box.locator(".verdict")).to_contain_text("What it makes of this means little.")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(english)}")
    expect(box.locator(".says .wrong")).to_have_count(0)
