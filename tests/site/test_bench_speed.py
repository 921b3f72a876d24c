"""On a phone nothing that a reader does in a bench blocks the page."""

import re
from functools import partial
from pathlib import Path

import pytest
from bench_page import BENCH, WAYS, bench_page, changed, looked, put
from browser_pages import PHONE
from playwright.sync_api import Locator, Page, expect
from processor import MOST, SLOWER, TRIES, longest_task, tasks

from bookkit.playground import openable

pytestmark = pytest.mark.weekly

LONG = {
    "translator": "because the king loves the old red house my sisters and the small cats will see "
    "the happy dogs near the river with the horses",
    "language-model": "the kings near the dogs that the queen with the cats hears behind the horse that the "
    "birds see follow the sister under the king",
    "induction": "abcdefghijklmnop" * 3,
    "gpt": "Return the number of nodes in the graph, and of edges between them, as a list of pairs.\n\n",
}
TYPED = {"translator": " w", "language-model": " w", "induction": "ab", "gpt": " If"}

# Presses all that can be pressed in a view, one after the other; each runs to its end.
PRESSING = """async (selector) => {
  BENCH
  const acts = {
    BUTTON: (it) => it.click(),
    SUMMARY: (it) => it.click(),
    SELECT: (it) => {
      it.selectedIndex = (it.selectedIndex + 1) % it.options.length;
      it.dispatchEvent(new Event("change", { bubbles: true }));
    },
    INPUT: (it) => {
      it.value = Number(it.value) + 1;
      for (const type of ["input", "change"]) it.dispatchEvent(new Event(type, { bubbles: true }));
    },
  };
  const seen = new Set();
  const nameOf = (it) => it.ariaLabel || `${it.tagName} ${it.id} ${it.textContent.slice(0, 40)}`;
  let pressed = 0;
  for (;;) {
    const all = [...document.querySelectorAll(selector)];
    const it = all.find((each) => each.checkVisibility() && !each.disabled && !seen.has(nameOf(each)));
    if (!it || pressed > 120) return pressed;
    seen.add(nameOf(it));
    pressed += 1;
    if (pressed % 10 === 0) await bench.undoAll(); // who has changed ten things has lost the thread
    it.scrollIntoView({ block: "center", behavior: "instant" });
    await painted();
    if (!it.isConnected) continue; // it was undone
    acts[it.tagName](it);
    await bench.busy;
    await painted();
  }
}""".replace("BENCH", BENCH)
OPENING = """async () => {
  document.querySelector(".playground button").click();
  const answer = () => document.querySelector(".says strong, .next tbody tr")?.textContent;
  while (!answer()) await new Promise(requestAnimationFrame);
}"""
CONTROLS = ".view :is(button, summary, select, input[type=number], input[type=range])"


def on_a_phone(page: Page, folder: Path, model: str, *changes: str) -> Locator:
    """A slice of computing has its own length on any processor: here it is shorter by as much."""
    page.set_viewport_size(PHONE)
    address = bench_page(folder, model)
    script = folder / "_static/bench.js"
    whole = script.read_text("utf-8")
    script.write_text(re.sub(r"(?<=\bSLICE=)12\b", str(12 / SLOWER), whole), "utf-8")
    assert script.read_text("utf-8") != whole
    page.goto(address)
    box = page.locator(".playground")
    box.get_by_role("button").click()
    expect(box.get_by_role("textbox").first).to_be_focused()
    page.evaluate(f"{{ {BENCH} const run = bench.run; bench.run = () => (bench.busy = run.call(bench)); }}")
    put(page, LONG[model])
    changed(page, *changes)
    return box


def erased_and_typed(page: Page, letters: str) -> None:
    """Each time until it is seen."""
    for key in ["Backspace"] * 6 + [*letters]:
        page.keyboard.press(key)
        page.evaluate(f"async () => {{ {BENCH} await bench.busy; await painted(); }}")


OFF = {"everything on": (), "positions and mask off": ("the positions", "the mask")}


@pytest.mark.parametrize("changes", OFF.values(), ids=OFF)
@pytest.mark.parametrize("model", openable())
def test_no_key_blocks_the_page(page, tmp_path, model, changes):
    box = on_a_phone(page, tmp_path, model, *changes)
    for view in WAYS:
        looked(box, view)
        field = box.get_by_role("textbox").first
        field.press("End")
        page.keyboard.type(TYPED[model], delay=50)
        assert longest_task(page, partial(erased_and_typed, page, TYPED[model])) < MOST, view


@pytest.mark.parametrize("view", WAYS)
@pytest.mark.parametrize(
    ("model", "changes"),
    [*((model, ()) for model in openable()), ("language-model", OFF["positions and mask off"])],
    ids=[*openable(), "language-model, positions and mask off"],
)
def test_no_press_blocks_the_page(page, tmp_path, model, view, changes):
    box = on_a_phone(page, tmp_path, model, *changes)
    looked(box, view)
    pressed = []
    assert longest_task(page, lambda: pressed.append(page.evaluate(PRESSING, CONTROLS))) < MOST
    assert pressed[0] > 10


@pytest.mark.parametrize("model", openable())
def test_the_first_answer_comes_within_a_second(page, tmp_path, model):
    address = bench_page(tmp_path, model)
    page.set_viewport_size(PHONE)

    took = []
    for _ in range(TRIES):
        page.goto(address)
        took.append(sum(tasks(page, lambda: page.evaluate(OPENING))))
    assert min(took) < 1000  # with all that the page does meanwhile
