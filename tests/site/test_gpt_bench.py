"""The GPT in the page, and what a reader does with it."""

import re
from pathlib import Path

import pytest
import torch
from accessible import WITHOUT_FETCHING, in_both_colours
from bench_page import BENCH, changed, field, is_share, opened_bench, put, troubles
from playwright.sync_api import Locator, Page, expect

from attnlab import decoding
from bookkit.playground import exported
from bookkit.training.die import Die
from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.playground import OFFERED, expected, loaded, named

# So many turns of the page that it would have written several pieces.
LATER = "async () => { for (let turn = 0; turn < 20; turn++) await pause(PACE); }"
LONG = """Return the number of nodes in the graph.

Parameters
----------
G : NetworkX graph
    A graph, naïve 🙂 or not.
"""


@pytest.fixture
def box(page: Page, tmp_path: Path) -> Locator:
    page.emulate_media(reduced_motion="reduce")
    return opened_bench(page, tmp_path, "gpt")


def bits_of(text: str) -> list[float]:
    ids, chances = expected(text)
    return [-float(row[number].log2()) for row, number in zip(chances[:-1], ids, strict=True)]


def pieces_of(text: str) -> list[str]:
    """As they are shown: half letters by their bytes."""
    cut = models.pieces()
    halves = {
        number: "".join(f"‹{byte:x}›" for byte in cut.bytes[number]) for number in range(256) if number > 127
    }
    return [halves.get(number, named(number)) for number in cut.encode(text)]


def summary(text: str) -> str:
    size, cost = len(text.encode()), sum(bits_of(text))
    pieces = len(models.pieces().encode(text))
    return f"{pieces}\xa0pieces, {size}\xa0bytes: {cost / size:.2f} bits a byte."


def labels(box: Locator) -> list[str]:
    return box.locator(".pieces button").evaluate_all("all => all.map(({ ariaLabel }) => ariaLabel)")


def bits_told(label: str) -> float:
    return float(re.search(r", ([\d.]+)\sbits$", label)[1])


# ---- typing ----


def test_a_text_is_cut_and_shaded_as_it_is_typed(page, box):
    field(box).fill("Return the")
    page.keyboard.type(" sum², naïve 🙂")
    text = "Return the sum², naïve 🙂"
    expect(box.locator(".change")).to_have_text(summary(text))
    assert box.locator(".pieces li").all_text_contents() == pieces_of(text)
    classes = box.locator(".pieces li").evaluate_all("all => all.map(({ className }) => className)")
    for shown, label, bits in zip(classes, labels(box), bits_of(text), strict=True):
        assert f"shade-{sum(bits >= least for least in (1, 3, 6, 9))}" in shown.split()
        assert bits_told(label) == pytest.approx(bits, abs=0.51)


@pytest.mark.thorough
def test_the_likeliest_pieces_have_their_chances_and_are_put_behind_the_text(box):
    for number, start in enumerate(exported("gpt")["offered"]):
        box.get_by_role("group", name="Starts to try").get_by_role("button").nth(number).press("Enter")
        expect(field(box)).to_have_value(start)
        expect(box.locator(".change")).to_have_text(summary(start))
    text = "Parameters\n----------\nx :"
    for typed in ("Parameters\n-", text):
        field(box).fill(typed)
        expect(box.locator(".change")).to_have_text(summary(typed))
    likeliest = expected(text)[1][-1].topk(5)
    rows = box.locator(".next tbody tr")
    assert rows.locator("th").all_text_contents() == [named(number) for number in likeliest.indices.tolist()]
    for said, chance in zip(rows.locator("td:last-child").all_text_contents(), likeliest.values, strict=True):
        assert is_share(said, float(chance))
    rows.get_by_role("button").first.press("Enter")
    longer = text + models.pieces().decode([int(likeliest.indices[0])])
    expect(field(box)).to_have_value(longer)
    expect(rows.get_by_role("button").first).to_be_focused()
    expect(box.locator(".change")).to_have_text(summary(longer))


@pytest.mark.thorough
def test_a_piece_tells_what_was_expected_in_its_place(page, box):
    text = OFFERED[0]
    buttons, looks = box.locator(".pieces").get_by_role("button"), box.locator("p.looks").first
    ids, chances = expected(text)

    def told(place: int) -> str:
        best = ", ".join(f"“{named(number)}”" for number in chances[place].topk(3).indices.tolist())
        return f"“{named(ids[place])}” cost .* Likeliest there: {re.sub(', ', '.*', best)}"

    most = max(range(len(ids)), key=bits_of(text).__getitem__)
    expect(looks).to_have_text(re.compile(told(most)))
    buttons.nth(1).hover()
    expect(looks).to_have_text(re.compile(told(1)))
    buttons.nth(4).click()
    expect(looks).to_have_text(re.compile(told(4)))
    # One of them is reached with Tab, the others from there.
    assert box.locator(".pieces button[tabindex='0']").count() == 1
    for key, place in {"ArrowRight": 5, "ArrowLeft": 4, "Home": 0, "End": len(ids) - 1}.items():
        page.keyboard.press(key)
        expect(buttons.nth(place)).to_be_focused()
        expect(buttons.nth(place)).to_have_attribute("aria-pressed", "true")
        expect(looks).to_have_text(re.compile(told(place)))
        assert buttons.nth(place).get_attribute("aria-describedby") == looks.get_attribute("id")


@pytest.mark.thorough
def test_after_each_change_pieces_and_chances_are_those_of_the_model_that_is_shown(page, box):
    def shown() -> list[str]:
        """The likeliest, whose chances are right."""
        logits = page.evaluate(f"() => {{ {BENCH} return [...bench.logits.at(-1)]; }}")
        best = torch.tensor(logits).softmax(-1).topk(5)
        told = box.locator(".next td:last-child").all_text_contents()
        for said, chance in zip(told, best.values, strict=True):
            assert is_share(said, float(chance))
        names = box.locator(".next tbody th").all_text_contents()
        assert names == [named(number) for number in best.indices.tolist()]
        return names

    put(page, "Return the number of nodes")
    seen, before = [shown()], labels(box)
    for kind in ("the positions", "a head", "the mask"):
        changed(page, kind)
        seen.append(shown())
    assert seen[0] != seen[1] != seen[3]
    now = labels(box)
    bits = page.evaluate(f"() => {{ {BENCH} return bench.typed.map((_, i) => bench.reading.bits(i + 1)); }}")
    assert now != before
    assert [*map(bits_told, now)] == pytest.approx(bits, abs=0.51)
    expect(box.locator(".change")).to_contain_text("It was ")
    # Without the mask what comes behind a piece changes what was made of it.
    put(page, "Return the number of nodes in")
    shown()
    put(page, "Return the number of nodes")
    assert shown() == seen[-1]
    for deed in ("the mask", "a head", "the positions"):
        box.get_by_role("button", name=f"undo: {deed}").click()
        expect(box.get_by_role("button", name=f"undo: {deed}")).to_have_count(0)
        expect(box.locator(":focus")).to_have_count(1)  # read to its end: what is next to undo has the focus
        shown()
    assert shown() == seen[0]
    assert labels(box) == before
    expect(box.locator(".change")).not_to_contain_text("It was ")


@pytest.mark.thorough
def test_what_is_out_of_sight_is_dashed_and_said(box):
    text = LONG * 5
    field(box).fill(text)
    pieces = len(models.pieces().encode(text))
    assert pieces > models.CONTEXT + 32
    seen = pieces - (64 * (pieces // 64 - 1) - 1)
    told = f"For what comes next the model still sees the last {seen}; dashed are those before."
    expect(box.locator(".change")).to_contain_text(told)
    expect(box.locator(".unseen-now")).to_have_count(pieces - seen)
    field(box).fill(LONG)
    expect(box.locator(".change")).to_have_text(summary(LONG))
    expect(box.locator(".unseen-now")).to_have_count(0)


@pytest.mark.thorough
def test_an_empty_field_and_odd_texts(page, box):
    found = troubles(page)
    field(box).fill("")
    expect(box.locator(".change")).to_have_text("Nothing is typed.")
    likeliest = expected("")[1][-1].topk(5).indices.tolist()
    expect(box.locator(".next tbody th")).to_have_text([named(number) for number in likeliest])
    for text in ("<b>&amp;</b>", "\u202eright to left", "👩‍👩‍👧‍👦" * 10, " " * 50, "__proto__"):
        field(box).fill(text)
        typed = field(box).input_value()
        expect(box.locator(".pieces li")).to_have_count(len(models.pieces().encode(typed)))
        expect(box.locator(".change")).to_contain_text(f"{len(typed.encode())}\xa0bytes: ")
    assert box.locator(".pieces b").count() == 0
    field(box).fill("")
    field(box).fill("b" * 1000)
    expect(box.locator(".change")).to_contain_text("1000\xa0bytes")
    assert box.locator(".next").get_by_role("button", disabled=False).count() == 0  # the field is full
    assert not found


TELLING = """() => {
  window.told = [];
  const status = document.querySelector(".playground [role=status]");
  new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true });
}"""


@pytest.mark.thorough
def test_a_screen_reader_is_told_once_when_the_keys_rest(browser, tmp_path):
    with browser.new_context() as context:  # its clock goes on as it is told to
        page = context.new_page()
        box = opened_bench(page, tmp_path, "gpt", "")
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        page.evaluate(TELLING)
        for letter in "Return the sum":
            page.keyboard.type(letter)
            page.clock.run_for(60)
        page.clock.run_for(10_000)
        expect(box.get_by_role("status")).to_contain_text(summary("Return the sum"))
        assert len(page.evaluate("told")) <= 2  # what was begun before, perhaps, and this


# ---- writing on ----


@torch.no_grad()
def written(text: str, seed: int, temperature: float = 0.8, top_p: float = 0.9) -> tuple[str, int, bool]:
    """What PyTorch writes on, how many pieces, and whether the text ended."""
    cut, half = models.pieces(), models.CONTEXT // 2
    ids = [cut.end, *cut.encode(text)]
    begun = len(ids)
    throw = Die(seed)
    while len(ids) < begun + 80:
        start = max(0, half * ((len(ids) - 1) // half - 1))
        shares = decoding.chances(loaded()(torch.tensor([ids[start:]]))[0, -1], temperature, top_p=top_p)
        ordered, places = shares.double().sort(descending=True, stable=True)
        number = int(places[int((ordered.cumsum(0) > throw()).nonzero()[0])])
        if number == cut.end:
            return cut.decode(ids[begun:]), len(ids) - begun, True
        ids.append(number)
    return cut.decode(ids[begun:]), 80, False


@pytest.mark.thorough
def test_it_writes_on_what_pytorch_would_and_the_same_for_the_same_seed(box):
    text, verdict = OFFERED[0], box.locator(".sample + .hint")
    for button, seed in (("Write on", 1), ("Another", 2), ("Write on", 2)):
        box.get_by_role("button", name=button).click()
        more, pieces, ended = written(text, seed)
        why = "then the text ended" if ended else "the most that are written here"
        told = f"Seed {seed}, temperature 0.8, top-p 0.9: {pieces}\xa0pieces, {why}."
        expect(verdict).to_have_text(told)
        assert box.locator(".sample").text_content() == text + more
        assert box.locator(".sample strong").text_content() == more
        expect(box.get_by_role("status")).to_contain_text(told)
    box.get_by_role("slider", name="temperature").fill("0.1")
    box.get_by_role("slider", name="top-p").fill("1")
    box.get_by_role("spinbutton", name="seed").fill("7")
    box.get_by_role("button", name="Write on").click()
    expect(verdict).to_contain_text("Seed 7, temperature 0.1, top-p 1: ")
    more, *_ = written(text, 7, 0.1, 1.0)
    expect(box.locator(".sample strong")).to_have_text(more, use_inner_text=False)
    box.get_by_role("button", name="Keep it").click()
    expect(field(box)).to_have_value((text + more)[:1000])
    expect(box.get_by_role("button", name="Keep it")).to_be_disabled()


def test_what_is_still_being_read_when_it_writes_on_is_read_to_its_end(page, box):
    """The bench was left faded."""
    text = OFFERED[1]
    press = "bench.go.click();"  # “Write on”, and then “Stop”
    page.evaluate(f"text => {{ {BENCH} bench.put(text); {press} {press} }}", text)
    expect(box.locator(".change")).to_have_text(summary(text))
    expect(box).not_to_have_class(re.compile("computing"))


@pytest.mark.thorough
def test_it_can_be_stopped_and_is_by_typing(page, box):
    page.emulate_media(reduced_motion="no-preference")
    box.get_by_role("button", name="Write on").press("Enter")
    expect(box.locator(".sample strong")).to_be_visible()
    box.get_by_role("button", name="Stop").press("Enter")
    expect(box.locator(".sample + .hint")).to_contain_text(", stopped.")
    expect(box.get_by_role("button", name="Write on")).to_be_focused()
    so_far = box.locator(".sample").text_content()
    page.evaluate(LATER)
    assert box.locator(".sample").text_content() == so_far
    box.get_by_role("button", name="Write on").press("Enter")
    expect(box.locator(".sample strong")).to_be_visible()
    field(box).press("x")
    expect(box.get_by_role("button", name="Write on")).to_be_visible()
    page.evaluate(LATER)
    assert box.locator(".sample").text_content() == ""
    assert written(OFFERED[0], 1)[0].startswith(so_far.removeprefix(OFFERED[0]))


@pytest.mark.thorough
def test_what_was_typed_and_written_is_accessible_and_printed(page, box):
    field(box).fill(LONG * 4)
    expect(box.locator(".unseen-now").first).to_be_attached()
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample strong")).to_be_visible()
    page.evaluate(f"() => {{ {BENCH} return bench.run(); }}")  # until all of it is drawn
    assert not in_both_colours(page, WITHOUT_FETCHING)
    page.emulate_media(media="print")
    expect(field(box)).to_be_visible()
    expect(box.locator(".sample strong")).to_be_visible()
    assert not box.locator(".draw:visible, .offers:visible, .hint:visible").count()
