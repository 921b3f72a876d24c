"""What all benches share: texts that are read, changes and their way back, views, words and truth."""

from pathlib import Path

import pytest
from bench_page import opened_bench
from bench_state import BENCH, CHANGES, KINDS, SEEN, changed, logits, looked, put, translated, troubles
from playwright.sync_api import Locator, Page, expect

from bookkit.playground import exported, openable

WEEKLY = pytest.mark.weekly
VIEWS = ("Looks and effects", "Step by step", "Reach in")
TEXTS = {
    "translator": "the hungry king 's dogs will hide",
    "language-model": "the kings that the king hears",
    "induction": "abcdefgabcdefgab",
    "gpt": "Return the number of nodes",
}


LONGEST = "the dog and the cat and the horse sleep because my sisters will love the old kings"


def deeds(box: Locator) -> Locator:
    return box.get_by_role("list", name="What you have changed")


# ---- changes, and their way back ----


@pytest.mark.parametrize(
    ("model", "view"),
    [
        pytest.param(
            model,
            view,
            marks=[WEEKLY] * ((model, view) != ("language-model", "Looks and effects")),
        )
        for model in openable()
        for view in VIEWS
    ],
)
def test_a_change_and_its_undo_leave_exactly_what_was(
    page: Page, tmp_path: Path, model: str, view: str
) -> None:
    box = opened_bench(page, tmp_path, model)
    put(page, TEXTS[model])
    looked(box, view)
    before, numbers = box.evaluate(SEEN), logits(page)
    for kind in KINDS:
        changed(page, kind)
        assert logits(page) != numbers, kind
        assert deeds(box).get_by_role("listitem").all_inner_texts() == [f"{kind} undo"]
        deeds(box).get_by_role("button", name=f"undo: {kind}").press("Enter")
        expect(deeds(box).get_by_role("listitem")).to_have_count(0)
        expect(box.get_by_role("textbox").first).to_be_focused()
        assert logits(page) == numbers, kind
        assert box.evaluate(SEEN) == before, kind


@pytest.mark.thorough
def test_all_is_as_it_was_after_one_press(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model", TEXTS["language-model"])
    looked(box, "Looks and effects")
    changed(page, "a head")
    expect(box.get_by_role("button", name="All as it was")).to_have_count(0)  # “undo” does the same
    deeds(box).get_by_role("button").click()
    before, numbers = box.evaluate(SEEN), logits(page)
    changed(page, *KINDS)
    expect(deeds(box).get_by_role("listitem")).to_have_count(len(KINDS) + 1)
    # One in the middle is taken back by itself, and the focus is on what has come to its place.
    deeds(box).get_by_role("button", name="undo: the mask").press("Enter")
    expect(deeds(box).get_by_role("button", name="undo: the positions")).to_be_focused()
    left = [f"{kind} undo" for kind in KINDS if kind != "the mask"]
    expect(deeds(box).get_by_role("listitem")).to_have_text([*left, "All as it was"])
    box.get_by_role("button", name="All as it was").press("Enter")
    expect(deeds(box).get_by_role("listitem")).to_have_count(0)
    expect(box.get_by_role("textbox")).to_be_focused()
    assert logits(page) == numbers
    assert box.evaluate(SEEN) == before


@pytest.mark.thorough
def test_a_change_that_takes_an_earlier_one_back_leaves_neither(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model", TEXTS["language-model"])
    looked(box, "Looks and effects")
    changed(page, "a hidden word")
    numbers = logits(page)
    box.get_by_role("button", name="This head off").click()
    expect(deeds(box).get_by_role("listitem")).to_have_count(3)  # with “All as it was”
    changed(page, "the positions")
    box.get_by_role("button", name="This head on again").click()
    expect(deeds(box).get_by_role("listitem")).to_have_text(
        ["a hidden word undo", "the positions undo", "All as it was"]
    )
    deeds(box).get_by_role("button", name="undo: the positions").click()
    expect(deeds(box).get_by_role("listitem")).to_have_text(["a hidden word undo"])
    assert logits(page) == numbers
    changed(page, "a hidden word")  # it is so already
    expect(deeds(box).get_by_role("listitem")).to_have_text(["a hidden word undo"])


# ---- one text after another ----

# What stands in the field and in the answer, each time that an answer is shown.
WATCHING = """
const watched = [];
const showing = bench.showAnswer.bind(bench);
bench.showAnswer = () => {
  showing();
  const places = bench.traces.read[bench.stacks[0].positions].length;
  watched.push([bench.typedText, bench.translation.textContent, places, bench.done.length]);
};
"""


@pytest.mark.thorough
def test_whoever_types_on_sees_no_answer_to_what_was_typed_before(page: Page, tmp_path: Path) -> None:
    found = troubles(page)
    opened_bench(page, tmp_path, "translator")
    words = LONGEST.split()
    texts = [" ".join(words[:count]) for count in range(2, len(words) + 1)]
    seen = page.evaluate(
        f"""async (texts) => {{ {BENCH} {CHANGES} {WATCHING}
        bench.change(kinds["the positions"], "the positions");
        for (const [count, text] of texts.entries()) {{
          bench.put(text);
          bench.choose({{ place: 99, key: 99 }}); // whoever presses something meanwhile
          await pause(7 * (count % 4));
        }}
        await bench.put(texts.at(-1));
        bench.undo();
        bench.change(kinds["a head"], "a head"); // the undo is not yet shown
        await bench.undo();
        await pause(100);
        return watched; }}""",
        texts,
    )
    for typed, lingo, places, changes in seen:
        count = len(typed.split())
        assert places == count + 1
        assert lingo == translated(" ".join(words[:count]), positions=not changes)
    assert [seen[-1][0], seen[-1][3]] == [texts[-1], 0]
    assert 1 in [changes for *_, changes in seen]
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("model", openable())
def test_a_text_that_gets_shorter_loses_what_was_hidden_or_followed_behind_its_end(
    page: Page, tmp_path: Path, model: str
) -> None:
    found = troubles(page)
    box = opened_bench(page, tmp_path, model)
    text = TEXTS[model]
    short = text[:4] if model == "induction" else " ".join(text.split()[:2])
    for view in VIEWS:
        put(page, text)
        looked(box, view)
        first = logits(page)
        page.evaluate(
            f"""async () => {{ {BENCH}
            const [{{ name }}] = bench.stacks;
            const place = bench.labels(name).length - 1;
            bench.choose({{ stack: name, place, key: place }});
            bench.choose({{ place, key: place }});
            bench.deeds.push(...deedsOf(bench, {{ hidden: [`${{name}} ${{place}}`] }}));
            return bench.run(); }}"""
        )
        assert logits(page) != first
        put(page, short)
        assert box.locator(".view").inner_text()
        assert "undefined" not in box.inner_text()
        assert "NaN" not in box.inner_text()
        numbers = logits(page)
        deeds(box).get_by_role("button").click()
        expect(deeds(box).get_by_role("listitem")).to_have_count(0)
        assert logits(page) == numbers  # there was nothing to hide
    assert not found


@pytest.mark.thorough
def test_a_translation_that_gets_shorter_is_followed_to_its_end(page: Page, tmp_path: Path) -> None:
    found = troubles(page)
    box = opened_bench(page, tmp_path, "translator", "the old king 's hungry red dogs will hide")
    for view in VIEWS:
        looked(box, view)
        page.evaluate(
            f"""async () => {{ {BENCH}
            const place = bench.labels("written").length - 1;
            bench.choose({{ stack: "written", place, key: place }});
            const end = {{ name: "word.bias", row: 2, value: 100 }};
            await bench.change((changes) => changes.numbers.push(end), "the end at once"); }}"""
        )
        expect(box.locator(".says")).to_have_text("In Lingo: …")
        expect(box.locator(".verdict")).to_contain_text("words are missing")
        assert "undefined" not in box.inner_text()
        deeds(box).get_by_role("button", name="undo: the end at once").click()
        expect(box.locator(".verdict")).to_contain_text("Right")
    assert not found


# ---- words ----


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["translator", "induction"])
def test_an_empty_field_says_what_to_do(page: Page, tmp_path: Path, model: str) -> None:
    found = troubles(page)
    box = opened_bench(page, tmp_path, model)
    told = {
        "translator": "Nothing is typed yet. Type a sentence, or press “Another”.",
        "induction": "Nothing is typed yet. Type a few letters and repeat them, or press “Another”.",
    }[model]
    for typed in ("", "   "):
        box.get_by_role("textbox").fill(typed)
        expect(box.locator(".verdict")).to_have_text(told)
        expect(box.get_by_role("status")).to_have_text(told)
        expect(box.locator(".view")).to_be_hidden()
    # What can't be read is told instead; changes can still be taken back.
    box.get_by_role("textbox").fill("?" if model == "induction" else "wolf ")
    expect(box.locator(".ask .hint")).to_contain_text("Nothing is read.")
    expect(box.locator(".verdict")).to_have_text("")
    for view in VIEWS:
        box.get_by_role("button", name=view).click()
    box.get_by_role("button", name="Another").click()
    expect(box.locator(".view")).to_be_visible()
    expect(box.locator(".verdict")).not_to_be_empty()
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["language-model", "gpt"])
def test_a_model_that_writes_on_begins_at_the_start(page: Page, tmp_path: Path, model: str) -> None:
    found = troubles(page)
    box = opened_bench(page, tmp_path, model, "")
    expect(box.locator(".next tbody tr")).to_have_count({"language-model": 8, "gpt": 5}[model])
    for view in VIEWS:
        looked(box, view)
        assert box.locator(".view").inner_text()
        assert "undefined" not in box.locator(".view").inner_text()
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["translator", "language-model"])
def test_the_words_it_knows_are_folded_below_the_answer_and_endings_are_explained(
    page: Page, tmp_path: Path, model: str
) -> None:
    box = opened_bench(page, tmp_path, model)
    known = box.locator("details.known")
    assert known.get_attribute("open") is None
    assert known.bounding_box()["y"] > box.locator(".outcome").bounding_box()["y"]
    words = [word for word in exported(model)["read"] if word[0].isalpha()]
    assert known.locator("summary").inner_text() == f"The {len(words)} words it knows"
    known.locator("summary").click()
    told = known.locator(".hint").inner_text()
    listed, _, marks = told.partition(". Its table has ")
    if model == "translator":
        assert listed.endswith(", and the endings of king’s and kings’")
    assert listed.removesuffix(", and the endings of king’s and kings’").split() == sorted(words)
    assert marks.startswith("3 rows more, for what nobody types: padding, start and ")


# ---- views ----


@pytest.mark.thorough
def test_a_view_whose_script_comes_damaged_is_asked_for_again(page: Page, tmp_path: Path) -> None:
    box = opened_bench(page, tmp_path, "language-model")
    steps = tmp_path / "_static/steps.js"
    whole = steps.read_text("utf-8")
    steps.write_text(whole[: len(whole) // 2], "utf-8")
    button = box.get_by_role("button", name="Step by step")
    for _ in range(2):
        button.click()
        told = "This view could not be loaded. Press its button once more."
        expect(box.locator(".view")).to_have_text(told)
        expect(box.get_by_role("status")).to_have_text(told)
        looked(box, "Looks and effects")
        expect(box.locator(".view")).not_to_contain_text("could not be loaded")
    steps.write_text(whole, "utf-8")
    button.click()
    expect(box.locator(".view > .steps")).to_be_visible()
