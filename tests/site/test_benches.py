"""What all benches share: changes and their way back, texts, words, views; and that all can use them."""

import pytest
from accessible import WITHOUT_FETCHING, in_both_colours
from bench_page import (
    BENCH,
    CHANGES,
    KINDS,
    SEEN,
    TEXTS,
    WAYS,
    changed,
    deeds,
    logits,
    looked,
    opened_bench,
    put,
    translated,
    troubles,
)
from playwright.sync_api import expect
from tiers import left_to

from bookkit.playground import exported, openable

EVERY = [(model, view) for model in openable() for view in WAYS]
LOOKS = ("language-model", "Looks and effects")
LONGEST = "the dog and the cat and the horse sleep because my sisters will love the old kings"


# ---- changes, and their way back ----


@pytest.mark.parametrize("bench", left_to(pytest.mark.weekly, EVERY, but=[LOOKS]), ids=", ".join)
def test_a_change_and_its_undo_leave_exactly_what_was(page, tmp_path, bench):
    model, view = bench
    box = opened_bench(page, tmp_path, model)
    put(page, TEXTS[model])
    looked(box, view)
    before, numbers = box.evaluate(SEEN), logits(page)
    for kind in KINDS:
        changed(page, kind)
        assert logits(page) != numbers, kind
        assert deeds(box).all_inner_texts() == [f"{kind.capitalize()} undo"]
        deeds(box).get_by_role("button", name=f"undo: {kind}").press("Enter")
        expect(deeds(box)).to_have_count(0)
        expect(box.get_by_role("textbox").first).to_be_focused()
        assert logits(page) == numbers, kind
        assert box.evaluate(SEEN) == before, kind


@pytest.mark.thorough
def test_all_is_as_it_was_after_one_press(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model", TEXTS["language-model"])
    looked(box, "Looks and effects")
    changed(page, "a head")
    expect(box.get_by_role("button", name="All as it was")).to_have_count(0)  # “undo” does the same
    deeds(box).get_by_role("button").click()
    before, numbers = box.evaluate(SEEN), logits(page)
    changed(page, *KINDS)
    expect(deeds(box)).to_have_count(len(KINDS) + 1)
    # One in the middle is taken back by itself, and the focus is on what has come to its place.
    deeds(box).get_by_role("button", name="undo: the mask").press("Enter")
    expect(deeds(box).get_by_role("button", name="undo: the positions")).to_be_focused()
    left = [f"{kind} undo" for kind in KINDS if kind != "the mask"]
    expect(deeds(box)).to_have_text([*left, "All as it was"])
    box.get_by_role("button", name="All as it was").press("Enter")
    expect(deeds(box)).to_have_count(0)
    expect(box.get_by_role("textbox")).to_be_focused()
    assert logits(page) == numbers
    assert box.evaluate(SEEN) == before


@pytest.mark.thorough
def test_a_change_that_takes_an_earlier_one_back_leaves_neither(page, tmp_path):
    box = opened_bench(page, tmp_path, "language-model", TEXTS["language-model"])
    looked(box, "Looks and effects")
    changed(page, "a hidden word")
    numbers = logits(page)
    box.get_by_role("button", name="This head off").click()
    expect(deeds(box)).to_have_count(3)  # with “All as it was”
    changed(page, "the positions")
    box.get_by_role("button", name="This head on again").click()
    expect(deeds(box)).to_have_text(["a hidden word undo", "the positions undo", "All as it was"])
    deeds(box).get_by_role("button", name="undo: the positions").click()
    expect(deeds(box)).to_have_text(["a hidden word undo"])
    assert logits(page) == numbers
    changed(page, "a hidden word")  # it is so already
    expect(deeds(box)).to_have_text(["a hidden word undo"])


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
def test_whoever_types_on_sees_no_answer_to_what_was_typed_before(page, tmp_path):
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
def test_a_text_that_gets_shorter_loses_what_was_hidden_or_followed_behind_its_end(page, tmp_path, model):
    found = troubles(page)
    box = opened_bench(page, tmp_path, model)
    text = TEXTS[model]
    short = text[:4] if model == "induction" else " ".join(text.split()[:2])
    for view in WAYS:
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
        expect(deeds(box)).to_have_count(0)
        assert logits(page) == numbers  # there was nothing to hide
    assert not found


@pytest.mark.thorough
def test_a_translation_that_gets_shorter_is_followed_to_its_end(page, tmp_path):
    found = troubles(page)
    box = opened_bench(page, tmp_path, "translator", "the old king 's hungry red dogs will hide")
    for view in WAYS:
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
def test_an_empty_field_says_what_to_do(page, tmp_path, model):
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
    for view in WAYS:
        box.get_by_role("button", name=view).click()
    box.get_by_role("button", name="Another").click()
    expect(box.locator(".view")).to_be_visible()
    expect(box.locator(".verdict")).not_to_be_empty()
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["language-model", "gpt"])
def test_a_model_that_writes_on_begins_at_the_start(page, tmp_path, model):
    found = troubles(page)
    box = opened_bench(page, tmp_path, model, "")
    expect(box.locator(".next tbody tr")).to_have_count({"language-model": 8, "gpt": 5}[model])
    for view in WAYS:
        looked(box, view)
        assert box.locator(".view").inner_text()
        assert "undefined" not in box.locator(".view").inner_text()
    assert not found


@pytest.mark.thorough
def test_the_words_it_knows_are_folded_below_the_answer_and_endings_are_explained(page, tmp_path):
    box = opened_bench(page, tmp_path, "translator")
    known = box.locator("details.known")
    assert known.get_attribute("open") is None
    assert known.bounding_box()["y"] > box.locator(".outcome").bounding_box()["y"]
    words = [word for word in exported("translator")["read"] if word[0].isalpha()]
    assert known.locator("summary").inner_text() == f"The {len(words)} words it knows"
    known.locator("summary").click()
    told = known.locator(".hint").inner_text()
    listed, _, marks = told.partition(". Its table has ")
    assert listed.endswith(", and the endings of king’s and kings’")
    assert listed.removesuffix(", and the endings of king’s and kings’").split() == sorted(words)
    assert marks.startswith("3 rows more, for what nobody types: padding, start and ")


# ---- views ----


@pytest.mark.thorough
def test_a_view_whose_script_comes_damaged_is_asked_for_again(page, tmp_path):
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


# ---- in every view: in both colours, on a narrow phone, by keyboard, on paper ----

SCREENS = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 320, "height": 700}}
PUSHED = [("translator", "Looks and effects"), ("language-model", "Step by step"), ("translator", "Reach in")]
# What is wider than the screen, and does not scroll in its own place; type and targets that are too small.
SMALL = """box => {
  const isSeen = (it) => it.checkVisibility({ visibilityProperty: true });
  const moves = (it) => it.matches(".unseen") || getComputedStyle(it).overflowX !== "visible";
  const inPlace = (it) => it && (moves(it) || inPlace(it.parentElement));
  const found = [];
  for (const it of [...box.querySelectorAll("*")].filter(isSeen)) {
    const { left, right, width, height } = it.getBoundingClientRect();
    const name = `${it.tagName} ${it.getAttribute("class") ?? ""} ${it.textContent.slice(0, 30)}`;
    if (width && (right > innerWidth + 0.5 || left < -0.5) && !inPlace(it)) found.push(`too wide: ${name}`);
    const text = [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isSmall = parseFloat(getComputedStyle(it).fontSize) < 12;
    if (text && !it.closest(".unseen, svg") && isSmall) found.push(`type: ${name}`);
    const isTarget = it.matches("button, select, summary, input");
    if (isTarget && (width < 24 || height < 23.9)) found.push(`target: ${width} ${height} ${name}`);
  }
  return [...new Set(found)];
}"""


# All that can be pressed; and how much of the bench has had the focus so far.
PRESSED = """box => [...box.querySelectorAll("*")]
  .filter((it) => it.matches(":is(button, select, input, textarea):enabled, summary, a[href]"))
  .filter((it) => it.checkVisibility({ visibilityProperty: true }) && it.tabIndex >= 0).length"""
FOCUSED = """() => {
  window.reached ??= new Set();
  if (document.activeElement.closest(".playground")) reached.add(document.activeElement);
  return reached.size;
}"""


@pytest.mark.thorough
@pytest.mark.parametrize("bench", left_to(pytest.mark.weekly, EVERY, but=PUSHED), ids=", ".join)
def test_a_bench_is_for_everyone(page, tmp_path, bench):
    """With something changed, and all that is folded open."""
    model, view = bench
    box = opened_bench(page, tmp_path, model)
    looked(box, view)
    changed(page, "a head", "the positions")
    for fold in box.locator("summary").all():
        if not fold.evaluate("it => it.parentElement.open"):
            fold.evaluate("it => it.click()")
    expect(deeds(box)).to_have_count(3)
    wanted = box.evaluate(PRESSED)  # of pieces and cells that the arrow keys lead through, one
    for _ in range(wanted + 40):  # round and round
        page.keyboard.press("Tab")
        reached = page.evaluate(FOCUSED)
    assert reached >= wanted > 12
    for screen, size in SCREENS.items():
        page.set_viewport_size(size)
        assert not in_both_colours(page, WITHOUT_FETCHING), screen
    assert page.evaluate("document.documentElement.scrollWidth") == SCREENS["phone"]["width"]
    assert box.evaluate(SMALL) == []
    # On paper stands what was shown; what a reader presses is of no use there.
    page.emulate_media(media="print")
    expect(box.get_by_role("textbox").first).to_be_visible()
    expect(box.locator(".view > *").first).to_be_visible()
    expect(box.locator(".deeds")).to_contain_text("a head")
    assert box.get_by_role("button", name="undo").filter(visible=True).count() == 0
    assert box.get_by_role("group", name="Ways to look at it").filter(visible=True).count() == 0
    page.emulate_media(media="screen")
