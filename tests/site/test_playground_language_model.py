"""The language model in the page, and what a reader does with it."""

import re
from pathlib import Path

import pytest
import torch
from bench_page import opened_bench
from bench_state import BENCH, is_share, put
from open_playground import field
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import switched

from attnlab.corpora import agreement
from bookkit.playground import exported
from chapters.the_transformer import models


# ---- the language model ----
def chances(words: str, temperature: float = 1, **switches) -> torch.Tensor:
    model = switched("language-model", switches)
    with torch.no_grad():
        ids = torch.tensor([[1, *map(models.WORDS.index, words.split())]])
        return (model(ids)[0, -1] / temperature).softmax(-1)


def numbers_of(box: Locator) -> dict[str, list[str]]:
    rows = box.locator(".next tbody tr").all()
    return {
        row.get_by_role("button").text_content(): row.locator("td:not(.bar)").all_text_contents()
        for row in rows
    }


def test_the_likeliest_words_with_the_models_chances_and_the_grammars(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    words = "the dogs near the king"
    put(page, words)
    state = walked(words)
    slider = box.get_by_role("slider", name="temperature")
    for temperature in (1, 0.5, 2):
        slider.fill(str(temperature))
        expect(box.locator(".draw span")).to_have_text(str(temperature))
        likeliest = chances(words, temperature).topk(8)
        page.evaluate(f"() => {{ {BENCH} return bench.run(); }}")
        said = numbers_of(box)
        assert [*said] == [models.WORDS[word] for word in likeliest.indices.tolist()]
        for word, chance in zip(said, likeliest.values.tolist(), strict=True):
            allowed = agreement.following(state).get(word, (0, None))[0]
            assert is_share(said[word][0], chance)
            assert is_share(said[word][1], allowed)


@pytest.mark.thorough
def test_a_word_is_chosen_from_the_bars_and_a_wrong_beginning_is_told(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    put(page, "the")
    first = box.locator(".next").get_by_role("button").first
    word = first.text_content()
    first.press("Enter")
    expect(field(box)).to_have_value(f"the {word} ")
    expect(box.locator(".next").get_by_role("button").first).to_be_focused()
    field(box).fill("the dogs sees")
    told = "✗ “sees” does not fit “dogs”: “see” would."
    expect(box.locator(".verdict")).to_have_text(told)
    expect(box.locator(".typed .wrong")).to_have_text("sees")
    expect(box.locator(".typed")).to_have_text("the dogs sees")
    field(box).fill("the dogs near near")
    expect(box.locator(".verdict")).to_contain_text("✗ Word 4, “near”, can’t stand behind “near”")
    expect(box.locator(".typed .wrong")).to_have_text("near")
    field(box).fill("the dogs see the king.")
    expect(box.locator(".typed")).to_be_empty()
    # Behind a whole sentence the full stop may come first, which can't be pressed.
    put(page, "the dogs see the")
    box.locator(".next").get_by_role("button", disabled=False).first.press("Enter")
    page.wait_for_function("document.activeElement.closest('.next') !== null")
    put(page, "the dogs near " * 9)
    assert box.locator(".next").get_by_role("button", disabled=False).count() == 0


@pytest.mark.thorough
def test_rings_and_bars_have_one_scale(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    put(page, "the dogs near the king")
    rows = box.locator(".next tbody tr").all()
    said = [[float(part.removesuffix("\xa0%")) for part in each] for each in numbers_of(box).values()]
    width = {}
    for row, (model, grammar) in zip(rows, said, strict=True):
        place, bar, ring = (
            row.locator(part).evaluate(
                "it => [it.getBoundingClientRect().x, it.getBoundingClientRect().width]"
            )
            for part in (".bar", ".bar i", ".bar b")
        )
        if model > 5:
            width[bar[1] / model] = None
        if grammar > 5:
            width[(ring[0] + ring[1] / 2 - place[0]) / grammar] = None
    assert len(width) > 6
    assert max(width) < 1.12 * min(width)  # shares are rounded


@pytest.mark.thorough
def test_an_unknown_word_is_not_passed_over_in_writing_on(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    field(box).fill("the elephant ")
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text("Only “the” is read. The model has not met “elephant”")
    field(box).fill("the ki")
    box.get_by_role("button", name="Write on").click()
    told = "“ki” is no word yet: type on, or choose one of those that are offered."
    expect(box.locator(".sample")).to_have_text(told)
    expect(box.get_by_role("status")).to_have_text(told)
    field(box).fill("the king")
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text("“the king ")


@pytest.mark.thorough
def test_a_mark_is_named_and_cannot_be_chosen(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    field(box).fill("")
    expect(box.locator(".next")).not_to_contain_text("<")
    expect(box.locator(".next").get_by_role("button", name="start")).to_be_disabled()


@pytest.mark.thorough
def test_without_a_head_the_chances_change_as_pytorchs_do(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    words = "the dogs near the king"
    put(page, words)
    place, head = exported("language-model")["shown"]
    off = f"(changes) => changes.off.add('{place} {head}')"
    page.evaluate(f"async () => {{ {BENCH} await bench.run(); return bench.change({off}, 'off'); }}")
    before, now = chances(words), chances(words, off=[f"{place} {head}"])
    for word, (said, _) in numbers_of(box).items():
        assert is_share(said, now[models.WORDS.index(word)])
    told = box.locator(".verdict").inner_text()
    moved = re.findall(r"“(\S+)” goes from (.+?%) to (.+?%)", told)
    first, second = moved
    assert {first[0], second[0]} == {first[0].removesuffix("s"), f"{first[0].removesuffix('s')}s"}
    for word, was, became in moved:
        assert is_share(was, before[models.WORDS.index(word)])
        assert is_share(became, now[models.WORDS.index(word)])
    allowed = agreement.following(walked(words))
    total = [100 * sum(float(each[models.WORDS.index(word)]) for word in allowed) for each in (now, before)]
    assert f"get {total[0]:.0f}\xa0% together; it was {total[1]:.0f}\xa0%." in told
    page.evaluate(f"() => {{ {BENCH} return bench.undo(); }}")
    for word, (said, _) in numbers_of(box).items():
        assert is_share(said, before[models.WORDS.index(word)])


def warmed(page: Page, temperature: float) -> None:
    page.evaluate(f"temperature => {{ {BENCH} return bench.warm(temperature); }}", temperature)


def walked(words: str):
    state = agreement.FIRST
    for word in words.split():
        state = agreement.following(state)[word][1]
    return state


@pytest.mark.thorough
def test_what_it_writes_is_judged_by_the_grammar(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    put(page, "the dogs")
    warmed(page, 1.6)
    right = 0
    for count in range(1, 13):
        before = box.locator(".sample").text_content()
        box.get_by_role("button", name="Write on").press("Enter")
        expect(box.locator(".sample")).not_to_have_text(before)
        said = box.locator(".sample").text_content()
        text = said[1 : said.index("”")]
        fault = agreement.fault(text.replace(".", " .").split())
        right += not fault
        assert ("✓ A sentence of the grammar." in said) == (not fault)
        if fault:
            number = int(re.search(r"^word (\d+)", fault)[1])
            wrong = text.replace(".", " .").split()[number - 1]
            assert f"“{wrong}”" in said.partition("No sentence of the grammar: ")[2]
        if count > 1:
            assert said.endswith(f"So far {right} of {count} were, at temperature 1.6.")
    assert 0 < right < 12
    warmed(page, 0.5)
    box.get_by_role("button", name="Write on").press("Enter")
    expect(box.locator(".sample")).not_to_contain_text("So far")


@pytest.mark.thorough
def test_written_at_hardly_any_temperature_it_takes_the_likeliest(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    page.evaluate("Math.random = () => 0.5")
    put(page, "the dogs")
    warmed(page, 0.1)
    words = "the dogs"
    while not words.endswith(".") and len(words.split()) < 60:
        cumulated = chances(words, 0.1).cumsum(-1)
        words += f" {models.WORDS[int((cumulated > 0.5).nonzero()[0])]}"
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text(f"“{words.replace(' .', '.')}”")
