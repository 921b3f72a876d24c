"""The translator and the language model in the page: what a reader does with them, and if they are right."""

import re
from pathlib import Path

import pytest
import torch
from bench_page import BENCH, changed, deeds, field, is_share, looked, opened_bench, put, translated
from playwright.sync_api import Locator, Page, expect
from script_and_pytorch import IN_PAGE, spelled

from attnlab.corpora import agreement
from bookkit.playground import exported
from chapters.the_transformer import models
from chapters.translating_with_attention.models import unseen_pairs

# ---- the translator ----


@pytest.fixture
def slim(page: Page, tmp_path: Path) -> Locator:
    return opened_bench(page, tmp_path, "translator", form="slim")


def shown(box: Locator) -> str:
    """What is written, without the marks for words that are missing."""
    return " ".join(box.locator(".says strong").inner_text().replace("…", " ").split())


def test_a_sentence_is_translated_as_it_is_typed(slim):
    for typed, words in {
        "the hungry king's dogs will hide": "the hungry king 's dogs will hide",
        "“My sisters’ cat” (the dog) – sings…!? ": "my sisters ' cat the dog sings",
    }.items():
        field(slim).fill(typed)
        expect(slim.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
        expect(slim.locator(".found li > :first-child")).to_have_text([*words.split(), "end"])
        expect(slim.locator(".asking")).to_have_text("".join([*translated(words).split(), "end"]))
        expect(slim.get_by_role("status")).to_contain_text(f"In Lingo: {translated(words)}. ")
        expect(slim.locator(".ask .hint")).to_be_empty()


@pytest.mark.thorough
def test_words_are_offered_and_strange_ones_named(page, slim):
    field(slim).fill("the ho")
    offered = slim.locator(".offers").get_by_role("button")
    expect(offered).to_have_text(["horse", "horses", "house", "houses"])
    field(slim).press("Tab")
    page.keyboard.press("Enter")
    expect(field(slim)).to_have_value("the horse ")
    expect(field(slim)).to_be_focused()
    page.keyboard.type("runs")
    expect(slim.locator(".says")).to_have_text(f"In Lingo: {translated('the horse runs')}")
    hint = slim.locator(".ask .hint")
    for typed, read, told in [
        (
            "the wolf runs",
            "the",
            "Only “the” is read. The model has not met “wolf”: with w it knows white, will and with.",
        ),
        ("the dog and " * 9, "the dog and " * 8, "Only the first 24 words are read (’s is one)."),
        ("the los", "the", "Only “the” is read. “los” is Lingo, which the model writes; it reads English."),
        ("... The dog sleeps. My cat si", "the dog sleeps", "Only the first sentence is read."),
    ]:
        field(slim).fill(typed)
        expect(hint).to_have_text(told)
        expect(slim.get_by_role("status")).to_have_text(told)
        expect(slim.locator(".says")).to_have_text(f"In Lingo: {translated(read.strip())}")
    expect(slim.locator(".verdict")).to_have_text("✓ Right, in every word. So far as it is read.")
    expect(slim.locator(".offers")).to_be_empty()
    field(slim).fill(f"{'the dog and ' * 4}the wolf runs")
    expect(hint).to_contain_text("Only “… the dog and the dog and the dog and the” is read.")
    field(slim).fill("xylophone ")
    expect(hint).to_contain_text("Nothing is read. ")
    expect(hint).to_contain_text("“xylophone”: it knows and, because, behind")
    expect(slim.locator(".says")).to_be_hidden()
    offered.click()  # a sentence that can be read
    expect(hint).to_be_empty()
    field(slim).fill("z" * 3000)
    expect(hint).to_contain_text(f"“{'z' * 30}…”: it knows")


@pytest.mark.thorough
def test_the_slim_form_offers_sentences_has_one_switch_and_is_printed(page, slim):
    for sentence in exported("translator")["offered"]:
        expect(field(slim)).to_have_value(sentence.replace(" '", "'") + " ")
        expect(slim.locator(".says")).to_have_text(f"In Lingo: {translated(sentence)}")
        slim.get_by_role("button", name="Another sentence").click()
    put(page, "the cat sees the dog")
    switch = slim.locator(".outcome button")
    for words, switches in {
        "Give the positions back": {"positions": False},
        "Take the positions away": {},
    }.items():
        switch.press("Enter")
        expect(switch).to_have_text(words)
        expect(switch).to_be_focused()
        assert shown(slim) == translated("the cat sees the dog", **switches)
    expect(slim.get_by_role("group", name="Ways to look at it")).to_have_count(0)
    page.emulate_media(media="print")
    expect(field(slim)).to_be_visible()
    assert slim.get_by_role("button", name="Another sentence").count() == 0
    assert slim.locator(".hint:visible").count() == 0


@pytest.mark.thorough
def test_without_heads_positions_or_the_mask_the_answer_says_what_it_was(page, tmp_path):
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
        expect(deeds(box).filter(has_text="ead")).to_have_count(head + 1)
        assert shown(box) == now
        was = "With everything on it was right."  # as it is, of this sentence
        assert (was in box.locator(".verdict").inner_text()) == (now != then)
    box.get_by_role("button", name="All as it was").click()
    expect(deeds(box)).to_have_count(0)
    assert shown(box) == translated(words)
    changed(page, "the mask")
    assert shown(box) == translated(words, mask=False)
    # What is shown is the last look of all, when there are words behind the chosen one.
    box.locator(".road").get_by_role("button", name="head 1 of layer 1 (writing)").first.click()
    expect(box.locator(".looks")).to_contain_text("When all is written, from the place of “")
    box.get_by_role("button", name="undo:").click()
    expect(box.locator(".looks")).to_contain_text("is written, head 1 of layer 1 looks at “")


# ---- whether it is right ----


@pytest.mark.thorough
def test_it_counts_how_often_it_is_right_with_a_head_and_without(page, tmp_path):
    """That PyTorch counts as many is shown in test_truth_script.py."""
    box = opened_bench(page, tmp_path, "translator")
    button, told = box.get_by_role("button", name="How often is it right?"), box.locator(".tally .hint")
    button.click()
    expect(told).to_contain_text(" of 50. A translation is right when every word is.")
    whole = int(re.search(r"Right in (\d+)", told.inner_text())[1])
    # Another sentence changes nothing of it; another model does.
    put(page, "the cat sleeps")
    expect(told).to_contain_text(f"Right in {whole} of 50.")
    part = '(changes) => changes.off.add("decoder.1.cross_attention 0")'
    page.evaluate(f"() => {{ {BENCH} return bench.change({part}, 'without'); }}")
    expect(told).to_be_empty()
    button.click()
    expect(told).to_contain_text(f" of 50; with everything on in {whole}. ")
    lacking = int(re.search(r"Right in (\d+)", told.inner_text())[1])
    assert lacking < whole
    expect(told).to_contain_text("Wrong, for one: “")
    expect(box.get_by_role("status")).to_contain_text(f"Right in {lacking} of 50")
    deeds(box).get_by_role("button").click()
    expect(told).to_contain_text(f"Right in {whole} of 50.")
    # Typing ends it.
    changed(page, "the positions")
    button.click()
    expect(told).to_contain_text("Trying number")
    put(page, "the dog sleeps")
    expect(told).to_be_empty()


@pytest.mark.thorough
def test_the_wrong_words_of_a_translation_are_marked_and_what_is_no_sentence_is_told(page, tmp_path):
    box = opened_bench(page, tmp_path, "translator")
    wrong, verdict = box.locator(".says .wrong"), box.locator(".verdict")
    put(page, "the cat sleeps")
    expect(verdict).to_have_text("✓ Right, in every word.")
    assert wrong.count() == 0
    long = [pair for pair in unseen_pairs(3000) if 20 < len(pair.english) < 25]
    pair = next(pair for pair in long if translated(" ".join(pair.english)) != " ".join(pair.lingo))
    put(page, " ".join(pair.english))
    expect(verdict).to_contain_text("✗ Not right: ")
    expect(verdict).to_contain_text(f"It should be “{' '.join(pair.lingo)}”.")
    assert wrong.count()
    assert {*wrong.all_inner_texts()} <= {"…", *translated(" ".join(pair.english)).split()}
    assert all(wrong.evaluate_all("all => all.map(({ title }) => /should|missing/.test(title))"))
    for english, fault in {
        "the cat sleep": "“sleep” does not fit “cat”: “sleeps” would.",
        "the cat": "This is only the beginning of a sentence",
    }.items():
        put(page, english)
        expect(verdict).to_contain_text(fault)
        expect(verdict).to_contain_text("What it makes of this means little.")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(english)}")
        expect(wrong).to_have_count(0)


# ---- the language model ----


def chances(words: str, temperature: float = 1, **changes) -> torch.Tensor:
    model = spelled(IN_PAGE["language-model"].loaded(), changes)
    with torch.no_grad():
        read = torch.tensor([[1, *map(models.WORDS.index, words.split())]])
        return (model(read)[0, -1] / temperature).softmax(-1)


def numbers_of(box: Locator) -> dict[str, list[str]]:
    return {
        row.get_by_role("button").text_content(): row.locator("td:not(.bar)").all_text_contents()
        for row in box.locator(".next tbody tr").all()
    }


def walked(words: str):
    state = agreement.FIRST
    for word in words.split():
        state = agreement.following(state)[word][1]
    return state


WIDTHS = """it => [it.getBoundingClientRect().x, it.getBoundingClientRect().width]"""


def test_the_likeliest_words_with_the_models_chances_and_the_grammars(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model")
    words = "the dogs near the king"
    put(page, words)
    slider = box.get_by_role("slider", name="temperature")
    for temperature in (0.5, 2, 1):
        slider.fill(str(temperature))
        expect(box.locator(".draw span")).to_have_text(str(temperature))
        at_one = "" if temperature == 1 else " at temperature 1"  # what the views say is of no other
        expect(box.locator(".stands")).to_have_text(re.compile(rf"%{at_one}\. Logit"))
        likeliest = chances(words, temperature).topk(8)
        page.evaluate(f"() => {{ {BENCH} return bench.run(); }}")
        said = numbers_of(box)
        assert [*said] == [models.WORDS[word] for word in likeliest.indices.tolist()]
        for word, chance in zip(said, likeliest.values.tolist(), strict=True):
            allowed = agreement.following(walked(words)).get(word, (0, None))[0]
            assert is_share(said[word][0], chance)
            assert is_share(said[word][1], allowed)
    # Rings and bars have one scale.
    scales = []
    for row, numbers in zip(box.locator(".next tbody tr").all(), numbers_of(box).values(), strict=True):
        model, grammar = (float(number.removesuffix("\xa0%")) for number in numbers)
        place, bar, ring = (row.locator(part).evaluate(WIDTHS) for part in (".bar", ".bar i", ".bar b"))
        scales += [bar[1] / model] * (model > 5)
        scales += [(ring[0] + ring[1] / 2 - place[0]) / grammar] * (grammar > 5) if grammar else []
    assert len(scales) > 6
    assert max(scales) < 1.12 * min(scales)  # shares are rounded


@pytest.mark.thorough
def test_a_word_is_chosen_from_the_bars_and_a_wrong_beginning_is_told(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model")
    put(page, "the")
    first = box.locator(".next").get_by_role("button").first
    word = first.text_content()
    first.press("Enter")
    expect(field(box)).to_have_value(f"the {word} ")
    expect(box.locator(".next").get_by_role("button").first).to_be_focused()
    field(box).fill("the dogs sees")
    expect(box.locator(".verdict")).to_have_text("✗ “sees” does not fit “dogs”: “see” would.")
    expect(box.locator(".typed .wrong")).to_have_text("sees")
    expect(box.locator(".typed")).to_have_text("the dogs sees")
    field(box).fill("the dogs near near")
    expect(box.locator(".verdict")).to_contain_text("✗ Word 4, “near”, can’t follow “near”")
    expect(box.locator(".typed .wrong")).to_have_text("near")
    field(box).fill("the dogs see the king.")
    expect(box.locator(".typed")).to_be_empty()
    # Behind a whole sentence the full stop may come first, which can't be pressed.
    put(page, "the dogs see the")
    box.locator(".next").get_by_role("button", disabled=False).first.press("Enter")
    page.wait_for_function("document.activeElement.closest('.next') !== null")
    put(page, "the dogs near " * 9)
    assert box.locator(".next").get_by_role("button", disabled=False).count() == 0
    # A mark is named and cannot be chosen.
    field(box).fill("")
    expect(box.locator(".next").get_by_role("button", name="start")).to_be_disabled()
    expect(box.locator(".next")).not_to_contain_text("<")


@pytest.mark.thorough
def test_an_unknown_word_is_not_passed_over_in_writing_on(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model")
    told = "“ki” is no word yet: type on, or choose one of those that are offered."
    for typed, words in {
        "the elephant ": "Only “the” is read. The model has not met “elephant”",
        "the ki": told,
        "the king": "“the king ",
    }.items():
        field(box).fill(typed)
        box.get_by_role("button", name="Write on").click()
        expect(box.locator(".sample")).to_contain_text(words)
        if words is told:
            expect(box.get_by_role("status")).to_have_text(told)


@pytest.mark.thorough
def test_without_a_head_the_chances_change_as_pytorchs_do(page, tmp_path):
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


@pytest.mark.thorough
def test_what_it_writes_is_judged_by_the_grammar(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model")
    put(page, "the dogs")
    page.evaluate(f"() => {{ {BENCH} return bench.warm(1.6); }}")
    sample, right = box.locator(".sample"), 0
    for count in range(1, 13):
        before = sample.text_content()
        box.get_by_role("button", name="Write on").press("Enter")
        expect(sample).not_to_have_text(before)
        said = sample.text_content()
        words = said[1 : said.index("”")].replace(".", " .").split()
        fault = agreement.fault(words)
        right += not fault
        assert ("✓ A sentence of the grammar." in said) == (not fault)
        if fault:
            wrong = words[int(re.search(r"^word (\d+)", fault)[1]) - 1]
            assert f"“{wrong}”" in said.partition("No sentence of the grammar: ")[2]
        if count > 1:
            assert said.endswith(f"So far {right} of {count} were, at temperature 1.6.")
    assert 0 < right < 12
