"""What a training in the page says of its two sides, in Node: races that are made up, told in words."""

import json
import subprocess
from typing import Any

import pytest

from _ext.javascript import NODE
from bookkit.registry import BOOK
from bookkit.training import page, picture

PARTS = ("elements", "training/page/race", "training/page/curves", "training/page/words")
SCRIPTS = "\n".join((BOOK / f"_static/{name}.js").read_text("utf-8") for name in PARTS)
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
READ_ONE = "With your change it lies below the least possible: it has read the answers"
BETTER = "The worst of one side is better than the best of the other"


def said(expression: str, name: str = "holes") -> Any:
    """What this expression is, of the training that is `told`."""
    told = f"const told = {json.dumps(page.told(name))};"
    script = f"{SCRIPTS}{RACED}{told}console.log(JSON.stringify({expression}));"
    done = subprocess.run([NODE, "-"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def outcome(first: list[float], second: list[float], name: str = "holes") -> str:
    words: str = said(f"outcomeOf(raced(told, {first}, {second}), sidesInWords(told, told.change))", name)
    return words


# ---- below the limit ----


def test_who_ends_below_the_limit_is_said_to_have_read_the_answers() -> None:
    assert READ_ONE in outcome([0.57], [0.23])
    assert "what it gets right is no success" in outcome([0.57], [0.23])
    assert "answers" not in outcome([0.57], [0.55]), "a little below is luck"
    assert "As it is it lies below" in outcome([0.1], [0.57])


def test_where_no_loss_is_out_of_reach_none_is_too_good() -> None:
    assert "answers" not in outcome([0.0], [0.0], "guests")


def test_of_ten_seeds_it_is_said_how_many_read_and_that_is_not_called_better() -> None:
    words = outcome([0.57] * 10, [0.23] * 9 + [0.56])
    assert "0.570 as it is and 0.230 to 0.560 with your change; the least possible is 0.562." in words
    assert "below the least possible, from 9 seeds of 10" in words
    assert "The two sides lie wholly apart: that is no noise, and no success either." in words
    assert BETTER not in words
    assert BETTER in outcome([0.57] * 10, [0.56] * 10)


def test_the_picture_holds_a_loss_for_luck_as_far_as_the_page() -> None:
    assert said("TOO_GOOD") == picture.TOO_GOOD


@pytest.mark.parametrize("name", page.trainings())
def test_of_the_stored_runs_those_with_a_leak_are_too_good_and_no_others(name: str) -> None:
    run = page.stored(name)
    read = [lane["tried"][0]["loss"] < picture.TOO_GOOD * run["limit"] for lane in run["lanes"]]
    assert read == [False, name in ("holes", "sentences")]
    assert ("With the change it is below: the answers were read." in picture.alt(name)) == read[1]


# ---- what the sides are called ----


@pytest.mark.parametrize(
    ("name", "chosen", "whole"),
    [
        ("tag", {}, ["as it is (what learns: all three)", "with your change (what learns: W_Q = W_K)"]),
        ("holes", {"fault": "none"}, ["as it is (fault: none)", "with nothing changed"]),
        ("holes", {"fault": "no mask"}, ["as it is (fault: none)", "with your change (fault: no mask)"]),
        (
            "guests",
            {"network": "no", "neighbours": "four"},  # the latter for both
            ["as it is (heads: 2)", "with your change (heads: 1)"],
        ),
    ],
)
def test_each_side_is_called_by_what_it_has(name: str, chosen: dict[str, str], whole: list[str]) -> None:
    all_chosen = (
        f"Object.assign(Object.fromEntries(told.controls.map(({{ name, asItIs }}) => [name, asItIs])),\
 told.change, {json.dumps(chosen)})"
    )
    assert said(f"sidesInWords(told, {all_chosen}).map(({{ whole }}) => whole)", name) == whole


def test_the_picture_calls_them_so_too() -> None:
    assert "as it is (heads: 2, a network behind: no) 100" in picture.alt("guests")
    assert "with the change (heads: 1, a network behind: yes) 99" in picture.alt("guests")


# ---- whose numbers they are ----


def test_a_table_says_of_what_its_numbers_are_means() -> None:
    assert said("captionOf(5, false, 2)") == "In training, from seed 2, mean of the last 5 steps"
    assert said("captionOf(1, false, 2)") == "In training, from seed 2"
    assert said("captionOf(5, true, 2)") == "In training, mean of the last 5 steps and ten seeds"


def test_of_many_seeds_a_table_has_the_means() -> None:
    made = "globalThis.make = (tag, properties, ...children) => ({ tag, ...properties, children })"
    table = f"({made}, tableOf(raced(told, [0.5, 0.7], [0.1, 0.3]), sidesInWords(told, told.change)))"
    rows = said(table)["children"][2]["children"]
    assert [row["children"][0]["textContent"] for row in rows] == [3, 30, 60, 90, 120, 150]
    assert [cell["textContent"] for cell in rows[0]["children"]] == [
        3,
        "0.600",
        "76\u00a0%",
        "0.200",
        "93\u00a0%",
    ]


def test_the_cell_says_where_it_runs_and_what_it_prints() -> None:
    words = said('aboutCell(5, "with your change", 2, false)')
    assert "follows the curve with your change, from seed 2. Each loss" in words
    assert "the mean of 5 steps" in words
    assert "or with PYTHONPATH=book" in words
    assert "mean" not in said('aboutCell(1, "with your change", 2, false)')
    assert "from seed 2, the first of the ten." in said('aboutCell(5, "with your change", 2, true)')
