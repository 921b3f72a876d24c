"""The pages' engine against PyTorch: the same data, first weights, gradients and curves."""

import json

import pytest
import torch
from training_scripts import in_node

from bookkit.training.cell import cell
from bookkit.training.die import die_of
from bookkit.training.learner import Learner, loss_of
from bookkit.training.tasks import task_of
from chapters.keeping_numbers_in_range.training import DEPTH
from chapters.looking_inside.training import INDUCTION
from chapters.many_heads.training import GUESTS
from chapters.queries_keys_and_values_that_learn.training import TAG
from chapters.the_transformer.training import SENTENCES
from chapters.where_am_i.training import COPYING
from chapters.who_may_look_where.training import HOLES
from chapters.why_divide_by_root_dk.training import LOOK_UP

BENCHES = {
    "tag": TAG,
    "look-up": LOOK_UP,
    "holes": HOLES,
    "guests": GUESTS,
    "copying": COPYING,
    "depth": DEPTH,
    "sentences": SENTENCES,
    "induction": INDUCTION,
}
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
    page = in_node({"settings": settings, "seed": seed}, FIRST_STEP, tmp_path)
    task = task_of(settings["task"])
    batch = task.draw(die_of("data", seed), settings["training"]["rows"], settings["task"]["length"])
    learner = Learner(settings["model"], task, seed)
    scores = learner.forward(batch.ids)
    loss = loss_of(scores, batch, settings["training"]["loss"])
    loss.backward()
    assert page["ids"] == batch.ids.flatten().tolist()
    assert page["targets"] == batch.targets.flatten().tolist()
    if page["known"]:
        assert page["known"] == batch.known.flatten().tolist()
    assert page["limit"] == pytest.approx(task.limit, abs=1e-12)
    assert page["loss"] == pytest.approx(loss.item(), abs=1e-5)
    asked = batch.known & (batch.targets >= 0)
    right = (scores.argmax(-1) == batch.targets)[asked].double().mean().item()
    assert page["right"] == pytest.approx(right, abs=2 / asked.sum().item())
    assert page["values"].keys() == learner.parameters.keys()
    for parameter, tensor in learner.parameters.items():
        assert page["values"][parameter] == tensor.flatten().tolist()
        gap = (torch.tensor(page["slopes"][parameter]) - tensor.grad.flatten()).abs().max()
        assert gap < 1e-4 * max(1, tensor.grad.abs().max()), parameter


CHAPTERS = {
    "tag": "queries_keys_and_values_that_learn",
    "look-up": "why_divide_by_root_dk",
    "holes": "who_may_look_where",
    "guests": "many_heads",
    "copying": "where_am_i",
    "depth": "keeping_numbers_in_range",
    "sentences": "the_transformer",
    "induction": "looking_inside",
}
IN_THE_PAGE = """
  const lane = new Lane(given.settings, 3);
  const losses = [];
  while (losses.length < given.steps) {
    atOnce(lane.step());
    losses.push(lane.now.loss);
  }
  return losses;"""


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHES)
def test_the_cell_that_is_shown_ends_at_the_same_loss_after_a_hundred_steps(name, tmp_path):
    bench = BENCHES[name]
    steps = min(100, bench.training["steps"])
    page = in_node({"settings": bench.settings(), "steps": steps}, IN_THE_PAGE, tmp_path)
    text = cell(CHAPTERS[name], name, next(iter(bench.lanes)), seed=3, steps=steps)
    assert text.count("\n") <= 25
    made = {}
    exec(text, made)  # as a reader would run it
    assert made["losses"][0] == pytest.approx(page[0], abs=1e-5)
    assert made["losses"][-1] == pytest.approx(page[-1], abs=1e-3)


def test_a_clipped_gradient_is_pytorchs(tmp_path):
    settings = GUESTS.settings()
    settings["training"]["clip"] = 0.01  # all are longer
    page = in_node({"settings": settings, "steps": 40}, IN_THE_PAGE, tmp_path)
    text = cell("many_heads", "guests", "two heads", seed=3, steps=40)
    made = {}
    exec(text.replace("\ntraining", '\nsettings["training"]["clip"] = 0.01\ntraining'), made)
    assert made["losses"][-1] == pytest.approx(page[-1], abs=1e-3)
    assert in_node({"settings": GUESTS.settings(), "steps": 40}, IN_THE_PAGE, tmp_path)[-1] != page[-1]


def test_two_lanes_read_the_same_and_begin_alike_in_what_both_have(tmp_path):
    body = """const lanes = given.map((settings) => new Lane(settings, 5));
      const drawn = lanes.map((lane) => Array.from(lane.task.draw(lane.data, 4, 6).ids));
      const all = lanes.map(({ learner }) => Object.entries(learner.parameters)
        .map(([name, { values }]) => [name, Array.from(values)]));
      return [drawn, all.map(Object.fromEntries)];"""
    lanes = [TAG.settings("all three"), TAG.settings("W_Q = W_K")]
    (first, second), (whole, tied) = in_node(lanes, body, tmp_path)
    assert first == second
    assert whole.keys() - tied.keys() == {"layers.0.attention.key.weight"}
    assert all(whole[name] == values for name, values in tied.items())


def test_another_seed_draws_other_data_and_other_weights(tmp_path):
    body = """return given.map((seed) => {
      const lane = new Lane(SETTINGS, seed);
      const [first] = Object.values(lane.learner.parameters);
      return [Array.from(lane.task.draw(lane.data, 4, 6).ids), first.values[0]];
    });""".replace("SETTINGS", json.dumps(TAG.settings()))
    (ids, weight), (others, other) = in_node([5, 6], body, tmp_path)
    assert ids != others
    assert weight != other
