"""The pages' engine against PyTorch: the same data, first weights, gradients and curves."""

import gzip
import math
import re

import pytest
import torch
from training_scripts import FOLDER, in_node

from bookkit.training import page
from bookkit.training.cell import cell
from bookkit.training.die import die_of
from bookkit.training.learner import Learner, loss_of
from bookkit.training.tasks import task_of

BENCHES = {name: page.known(name)[1].bench for name in page.trainings()}
LANES = [(bench, lane) for bench, each in BENCHES.items() for lane in each.lanes if "rate" not in lane]

FIRST_STEP = """
  const lane = new Lane(given.settings, given.seed);
  const batch = lane.task.draw(lane.data, given.settings.training.rows, given.settings.task.length);
  const tape = new Tape();
  const scores = atOnce(lane.learner.forward(tape, batch));
  const loss = lane.loss(tape, scores, batch);
  atOnce(tape.backward());
  const list = (values) => Array.from(values);
  const parameters = Object.entries(lane.learner.parameters);
  return {
    ids: list(batch.ids), targets: list(batch.targets), known: batch.known, loss, limit: lane.task.limit,
    right: lane.right(scores, batch), looks: lane.learner.looks.map(list),
    values: Object.fromEntries(parameters.map(([name, { values }]) => [name, list(values)])),
    slopes: Object.fromEntries(parameters.map(([name, { slopes }]) => [name, list(slopes)])),
  };"""


@pytest.mark.parametrize(("name", "lane"), LANES)
def test_data_start_and_every_gradient_are_pytorchs(name, lane, tmp_path):
    settings, seed = BENCHES[name].settings(lane), 3
    ran = in_node({"settings": settings, "seed": seed}, FIRST_STEP, tmp_path)
    task = task_of(settings["task"])
    batch = task.draw(die_of("data", seed), settings["training"]["rows"], settings["task"]["length"])
    learner = Learner(settings["model"], task, seed)
    scores = learner.forward(batch.ids)
    loss = loss_of(scores, batch, settings["training"]["loss"])
    loss.backward()
    assert ran["ids"] == batch.ids.flatten().tolist()
    assert ran["targets"] == batch.targets.flatten().tolist()
    if ran["known"]:
        assert ran["known"] == batch.known.flatten().tolist()
    assert ran["limit"] == pytest.approx(task.limit, abs=1e-12)
    assert ran["loss"] == pytest.approx(loss.item(), abs=1e-5)
    asked = batch.known & (batch.targets >= 0)
    right = (scores.argmax(-1) == batch.targets)[asked].double().mean().item()
    assert ran["right"] == pytest.approx(right, abs=2 / asked.sum().item())
    assert ran["values"].keys() == learner.parameters.keys()
    for parameter, tensor in learner.parameters.items():
        assert ran["values"][parameter] == tensor.flatten().tolist()
        gap = (torch.tensor(ran["slopes"][parameter]) - tensor.grad.flatten()).abs().max()
        assert gap < 1e-4 * max(1, tensor.grad.abs().max()), parameter


IN_THE_PAGE = """
  const lane = new Lane(given.settings, 3);
  const losses = [];
  while (losses.length < given.steps) {
    atOnce(lane.step());
    losses.push(lane.now.loss);
  }
  return losses;"""


def test_a_clipped_gradient_is_pytorchs(tmp_path):
    settings = BENCHES["guests"].settings()
    settings["training"]["clip"] = 0.01  # all are longer
    ran = in_node({"settings": settings, "steps": 40}, IN_THE_PAGE, tmp_path)
    text = cell("many_heads", "guests", "two heads", seed=3, steps=40)
    made = {}
    exec(text.replace("\ntraining", '\nsettings["training"]["clip"] = 0.01\ntraining'), made)
    assert made["losses"][-1] == pytest.approx(ran[-1], abs=1e-3)
    assert (
        in_node({"settings": BENCHES["guests"].settings(), "steps": 40}, IN_THE_PAGE, tmp_path)[-1] != ran[-1]
    )


def test_the_last_steps_are_longer_in_the_page_and_in_the_cell(tmp_path):
    settings = BENCHES["longer"].settings("50 steps")
    settings["training"] |= {"last": 2, "steps": 4}
    ran = in_node({"settings": settings, "steps": 4}, IN_THE_PAGE, tmp_path)
    text = cell("longer_than_it_was_trained", "longer", "50 steps", seed=3, steps=4)
    made = {}
    exec(text.replace("\ntraining", '\nsettings["training"]["last"] = 2\ntraining'), made)
    assert made["losses"] == pytest.approx(ran, abs=1e-4)
    assert made["batch"].ids.shape[1] == 96


def test_two_lanes_read_the_same_and_begin_alike_in_what_both_have_and_another_seed_changes_both(tmp_path):
    body = """return given.map(([settings, seed]) => {
      const lane = new Lane(settings, seed);
      const all = Object.entries(lane.learner.parameters);
      const values = Object.fromEntries(all.map(([name, { values }]) => [name, Array.from(values)]));
      return [Array.from(lane.task.draw(lane.data, 4, 6).ids), values];
    });"""
    whole, tied = (BENCHES["tag"].settings(lane) for lane in ("all three", "W_Q = W_K"))
    first, second, other = in_node([(whole, 5), (tied, 5), (whole, 6)], body, tmp_path)
    assert first[0] == second[0] != other[0]
    assert first[1].keys() - second[1].keys() == {"layers.0.attention.key.weight"}
    assert all(first[1][name] == values for name, values in second[1].items())
    assert first[1] != other[1]


# ---- what makes a training the same in every browser, and small enough to be read and sent ----

ALL = sorted(FOLDER.glob("*.js"))


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_only_what_all_browsers_compute_alike_is_used(script):
    """IEEE 754 says what + - × ÷ and the square root are, to the last bit; of the others each has its own."""
    text = re.sub(r"//.*", "", script.read_text("utf-8"))
    used = set(re.findall(r"Math\.(\w+)", text))
    whole = {"floor", "round", "max", "min", "abs", "imul"}
    assert used <= whole | {"sqrt", "LN2", "SQRT1_2"}
    powers = text.replace("2 ** 32", "")  # a whole number of 33 bits
    assert "**" not in powers


def test_the_engine_is_read_in_one_sitting_and_all_of_it_is_light():
    assert len((FOLDER / "engine.js").read_text("utf-8").splitlines()) <= 300
    assert sum(len(gzip.compress(script.read_bytes())) for script in ALL) <= 25_000


def test_exponential_logarithm_and_sines_are_right_to_fifteen_digits(tmp_path):
    body = """return [Exact.exp(-Infinity), Exact.exp(NaN), Exact.exp(Infinity), Exact.log(0), Exact.log(-1)]
        .map(String);"""
    assert in_node(None, body, tmp_path) == ["0", "NaN", "Infinity", "-Infinity", "NaN"]
    values = [-650.5, -40.25, -3.0, -0.3, 0.0, 1e-9, 0.1, 1.0, 2.5, 20.0, 600.0]
    body = """return given.map((x) =>
        [Exact.exp(x), Exact.log(x > 0 ? x : 1 - x), Exact.turn(Math.min(1, Math.abs(x)))]);"""
    for x, (power, logarithm, (sine, cosine)) in zip(values, in_node(values, body, tmp_path), strict=True):
        assert power == pytest.approx(math.exp(x), rel=1e-13)
        assert logarithm == pytest.approx(math.log(x if x > 0 else 1 - x), rel=1e-14, abs=1e-16)
        angle = min(1, abs(x))
        assert (sine, cosine) == pytest.approx((math.sin(angle), math.cos(angle)), rel=1e-15)
