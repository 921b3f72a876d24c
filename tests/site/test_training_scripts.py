"""A training's scripts: the same to the last bit in Node and browsers; what is said of the two sides."""

import json
import re
from typing import Any

import pytest
from firefox import in_firefox
from node import printed
from training_scripts import in_node, program

from bookkit.registry import BOOK
from bookkit.training import page as pages
from bookkit.training import picture
from chapters.keeping_numbers_in_range.training import DEPTH
from chapters.looking_inside.training import INDUCTION
from chapters.many_heads.training import GUESTS
from chapters.where_am_i.training import COPYING

LANES = [
    (INDUCTION.settings(), 100),
    (DEPTH.settings("post-norm, warm-up"), 50),
    (COPYING.settings("rotary"), 100),
    (COPYING.settings("ALiBi"), 20),
    (COPYING.settings(), 20),
    (GUESTS.settings("one head and a network"), 100),
]
# JSON writes a number so that no other is read from it.
LAST_BITS = """return given.map(([settings, steps]) => {
  const lane = new Lane(settings, 7);
  while (lane.steps < steps) atOnce(lane.step());
  let sum = 0;
  for (const { values } of lane.adam.parameters) for (const value of values) sum += value;
  return [lane.now.loss, lane.now.norm, sum, Exact.exp(-1.3), Exact.log(17), Exact.turn(0.7)];
});"""


@pytest.mark.thorough
def test_chromium_trains_as_node_does_to_the_last_bit(page, tmp_path):
    page.add_script_tag(content=program(LANES, LAST_BITS))
    assert json.loads(page.evaluate("answer")) == in_node(LANES, LAST_BITS, tmp_path)


@pytest.mark.weekly
def test_firefox_trains_as_node_does_to_the_last_bit(tmp_path):
    ours = in_node(LANES, LAST_BITS, tmp_path)
    script = tmp_path / "in_firefox.js"
    script.write_text(program(LANES, LAST_BITS), "utf-8")
    assert in_firefox("in_firefox.mjs", "says", str(script)) == ours


# ---- what a reader may do with it ----

# It is paused by what it tells of its tenth step or a later one.
STEPPED_AND_PAUSED = """
const crew = new Crew(given, ({ step }) => step >= 10 && crew.pause(), Infinity);
const steps = () => crew.lanes.map(({ lane }) => lane.steps);
const done = (call) => (crew[call](), crew.turn(), steps());
return [done("step"), done("step"), done("go")];"""


def test_two_lanes_go_step_by_step_and_pause_before_their_end(tmp_path):
    lane = {"name": "two heads", "seed": 7, "settings": GUESTS.settings("two heads")}
    said = in_node({"lanes": [lane, lane], "every": 5}, STEPPED_AND_PAUSED, tmp_path)
    assert said == [[1, 1], [2, 2], [10, 9]]


# ---- what is said of the two sides ----

PARTS = ("elements", "training/page/race", "training/page/curves", "training/page/words")
TELLING = "\n".join((BOOK / f"_static/{name}.js").read_text("utf-8") for name in PARTS)
# Of each side the losses at the ends of its seeds; what is right then is 0.76 and 0.93.
RACED = """
const raced = (told, first, second) => {
  const lane = (side, right) => (loss, place) => ({
    side: SIDES[side], seed: place + 1, state: "done", known: { limit: told.limit }, step: told.steps,
    losses: Array(told.steps).fill(loss), rights: Array(told.steps).fill(right),
    tried: [{ right, length: 8 }],
  });
  const lanes = [...first.map(lane(0, 0.76)), ...second.map(lane(1, 0.93))];
  return { told, lanes, steps: told.steps, many: first.length > 1 };
};
"""
READ_ONE = "“after the softmax” lies below the least possible: it has read the answers"
BETTER = "The worst of one side is better than the best of the other"


def said(expression: str, name: str = "holes") -> Any:
    """What this expression is, of the training that is `told`."""
    given = f"const told = {json.dumps(pages.as_json(name))};"
    return printed(f"{TELLING}{RACED}{given}console.log(JSON.stringify({expression}));")


def outcome(first: list[float], second: list[float], name: str = "holes") -> str:
    words: str = said(f"outcomeOf(raced(told, {first}, {second}), sidesInWords(told, told.change))", name)
    return words


# ---- below the limit ----


def test_who_ends_below_the_limit_is_said_to_have_read_the_answers():
    assert READ_ONE in outcome([0.57], [0.23])
    assert "what it gets right is no success" in outcome([0.57], [0.23])
    assert "answers" not in outcome([0.57], [0.55]), "a little below is luck"
    assert "“no fault” lies below" in outcome([0.1], [0.57])
    assert "answers" not in outcome([0.0], [0.0], "guests"), "no loss is out of reach there"


def test_of_ten_seeds_it_is_said_how_many_read_and_that_is_not_called_better():
    words = outcome([0.57] * 10, [0.23] * 9 + [0.56])
    assert words.startswith(
        "No fault: 76\u00a0% right; after the softmax: 93\u00a0%. That is of the next words in new"
    )
    assert "is 0.570 against 0.230 to 0.560; the least possible is 0.562." in words
    assert "below the least possible, from 9 seeds of 10" in words
    assert "The two sides lie wholly apart: that is no noise, and no success either." in words
    assert BETTER not in words
    assert BETTER in outcome([0.57] * 10, [0.56] * 10)


@pytest.mark.parametrize("name", pages.trainings())
def test_of_the_stored_runs_those_with_a_leak_are_too_good_and_no_others(name):
    assert said("TOO_GOOD") == picture.TOO_GOOD
    run = pages.stored(name)
    read = [lane["tried"][0]["loss"] < picture.TOO_GOOD * run["limit"] for lane in run["lanes"]]
    assert read == [False, name in ("holes", "sentences")]
    assert ("the answers were read." in picture.alt(name)) == read[1]


# ---- what the sides are called ----


@pytest.mark.parametrize(
    ("name", "chosen", "whole"),
    [
        ("tag", {}, ["all three", "W_Q = W_K"]),
        ("holes", {"fault": "none"}, ["no fault", "with nothing changed"]),
        ("holes", {"fault": "no mask"}, ["no fault", "no mask"]),
        ("guests", {"network": "no", "neighbours": "four"}, ["2 heads", "1 head"]),  # the latter for both
        ("guests", {"network": "no", "rate": "5"}, ["2 heads, rate 0.05", "1 head, rate 5"]),
        ("sentences", {}, ["right mask", "off by one"]),
    ],
)
def test_each_side_is_called_by_what_it_has(name, chosen, whole):
    usual = "Object.fromEntries(told.controls.map(({ name, asItIs }) => [name, asItIs]))"
    all_chosen = f"Object.assign({usual}, told.change, {json.dumps(chosen)})"
    assert said(f"sidesInWords(told, {all_chosen})", name) == whole


@pytest.mark.parametrize("name", pages.trainings())
def test_the_picture_calls_them_so_too(name):
    usual = "Object.fromEntries(told.controls.map(({ name, asItIs }) => [name, asItIs]))"
    first, second = said(f"sidesInWords(told, Object.assign({usual}, told.change))", name)
    assert re.search(f"At the end: {re.escape(first)}: .*; {re.escape(second)}: ", picture.alt(name))


# ---- whose numbers they are ----


def test_of_many_seeds_a_table_has_the_means():
    made = "globalThis.make = (tag, properties, ...children) => ({ tag, ...properties, children })"
    table = f"({made}, tableOf(raced(told, [0.5, 0.7], [0.1, 0.3]), sidesInWords(told, told.change)))"
    rows = said(table)["children"][2]["children"]
    assert [row["children"][0]["textContent"] for row in rows] == [3, 30, 60, 90, 120, 150]
    first = [cell["textContent"] for cell in rows[0]["children"]]
    assert first == [3, "0.600", "76\u00a0%", "0.200", "93\u00a0%"]


def test_the_cell_says_where_it_runs_and_what_it_prints():
    words = said('aboutCell(5, "1 head", 2, false)')
    assert "follows the curve of “1 head”, from seed 2. Each loss" in words
    assert "the mean of 5 steps" in words
    assert "or with PYTHONPATH=src" in words
    assert "mean" not in said('aboutCell(1, "with your change", 2, false)')
    assert "from seed 2, the first of the ten." in said('aboutCell(5, "with your change", 2, true)')
