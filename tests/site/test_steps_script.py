"""One word's way, step by step, in Node: all numbers are PyTorch's, and what is said of them is true."""

import json
import math
import random
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from script_and_pytorch import Run, texts, translations
from steps_in_pytorch import numbers_of, seen
from torch import nn

from _ext.javascript import NODE
from attnlab.runtime import generator
from bookkit import weights
from bookkit.playground import exported, numbers
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import models as gpt
from chapters.a_gpt_of_your_own import playground as gpt_playground
from chapters.looking_inside import models as looking_inside
from chapters.the_transformer.playground import loaded

SCRIPTS = [
    *(
        "elements.js",
        "model.js",
        "transformer.js",
        "gpt.js",
        "bench/anatomy.js",
        "bench/words.js",
        "bench/attention_view.js",
    ),
    *("bench/steps.js", "bench/step_words.js", "bench/step_arithmetic.js"),
]
# For each run: the words that were written, and of each stack's way the steps.
IN_JAVASCRIPT = """(data, runs) => runs.map((run) => {
  const model = new { Transformer, LanguageModel, GPT }[data.kind](data);
  const { off = [], hidden = [], mask = true, positions = true, carried = [], numbers = [] } = run;
  model.changes = { off: new Set(off), hidden: new Set(hidden), mask, positions, carried, numbers };
  const result = finished(model.running(run.read));
  const stacks = anatomy(model);
  const { traces, logits } = model;
  const labels = (name) => traces[name].positions.map((_, place) => `w${place % 7}`);
  const vocabulary = Array.from({ length: logits[0].length }, (_, id) => `v${id}`);
  const plain = (tensor) => (tensor.length === undefined ? tensor : Array.from(tensor, plain));
  const ways = stacks.map((stack) => {
    const place = Math.floor(run.choice.where * traces[stack.name].positions.length);
    const choice = { ...run.choice, stack: stack.name, place };
    const bench = { model, stacks, traces, logits, choice, labels, vocabulary };
    const way = new stepping.Way(bench);
    const words = new stepping.StepWords(bench, way, run.choice.number ?? 5);
    return way.steps.map((step) => {
      const tensors = Object.entries(step.numbers).map(([name, tensor]) => [name, plain(tensor)]);
      const { id, kind, layer, part, head, key, carried, off } = step;
      const said = { sentence: words.sentence(step), ...stepping.arithmeticOf(step, words) };
      const numbers = Object.fromEntries(tensors);
      return { id, kind, layer, part, head, key, carried, off, stack: stack.name, place, numbers, ...said };
    });
  });
  const words = data.kind === "Transformer" && [data.start, ...result.slice(0, -1)];
  return { words, steps: ways.flat() };
})"""


@cache
def model_of(name: str) -> nn.Module:
    if name == "gpt":
        return gpt_playground.loaded()
    if name != "looking-inside":
        return loaded(name)
    model = looking_inside.reader(2)
    weights.load("looking_inside/two-layers", model)
    return model


def data_of(name: str) -> dict[str, Any]:
    if name != "looking-inside":
        return exported(name)
    return {"kind": "LanguageModel", "heads": looking_inside.HEADS, "layers": 2} | numbers(model_of(name))


def runs_of(name: str, count: int) -> list[Run]:
    """So many sentences; in each any place is followed, and any head and key, or else the strongest."""
    if name == "translator":
        given = [{"read": run["read"]} for run in translations(count)]
    elif name == "language-model":
        given = texts(count)
    elif name == "looking-inside":
        given = [
            {"read": words} for words in looking_inside.repeated(count, generator(5)).words[:, :30].tolist()
        ]
    else:
        docs = [function.__doc__ for function in vars(math).values() if callable(function)][:count]
        pieces = gpt.pieces()
        given = [{"read": [pieces.end, *pieces.encode(doc)][:40]} for doc in docs]
    draw = random.Random(5)
    heads = data_of(name)["heads"]
    return [
        run
        | {
            "choice": {
                "where": draw.random(),
                "layer": draw.randrange(2),
                "part": 0,
                "head": draw.choice([None, draw.randrange(heads)]),
                "key": draw.choice([None, draw.randrange(3)]),
            }
        }
        for run in given
    ]


def in_node(name: str, runs: list[Run], folder: Path) -> list[dict[str, Any]]:
    program = folder / "program.js"
    scripts = [(BOOK / "_static" / script).read_text("utf-8") for script in SCRIPTS]
    call = f"console.log(JSON.stringify(({IN_JAVASCRIPT})({json.dumps(data_of(name))}, {json.dumps(runs)})));"
    program.write_text("\n".join([*scripts, call]), "utf-8")
    done = subprocess.run([NODE, str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def largest_difference(name: str, runs: list[Run], said: list[dict[str, Any]]) -> float:
    """Between all numbers of all steps and PyTorch's; both must have the same ones."""
    largest = 0.0
    for run, each in zip(runs, said, strict=True):
        stacks = seen(model_of(name), run, each["words"])
        for step in each["steps"]:
            ours = numbers_of(step, run, stacks)
            assert ours.keys() == step["numbers"].keys(), step["id"]
            for label, tensor in ours.items():
                theirs = torch.tensor(step["numbers"][label], dtype=torch.float64)
                assert theirs.shape == tensor.shape, (step["id"], label)
                difference = float((theirs - tensor.detach()).abs().max())
                assert difference < 1e-4, (step["id"], label, difference)
                largest = max(largest, difference)
    return largest


NAMES = ["translator", "language-model", "looking-inside", "gpt"]
MANY = [("translator", 50), ("language-model", 50), ("looking-inside", 50), ("gpt", 20)]


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_every_step_is_pytorchs(name, tmp_path):
    runs = runs_of(name, 5)
    assert 0 < largest_difference(name, runs, in_node(name, runs, tmp_path)) < 1e-4


@pytest.mark.weekly
@pytest.mark.parametrize(("name", "count"), MANY)
def test_every_number_of_many_sentences_is_pytorchs(name, count, tmp_path):
    runs = runs_of(name, count)
    assert len(runs) == count
    assert 0 < largest_difference(name, runs, in_node(name, runs, tmp_path)) < 1e-4


# What a reader may change, in a model that has such a place; the word that is followed is the third.
CHANGES = [
    ("translator", {"off": ["decoder.0.cross_attention 1", "decoder.0.cross_attention 2"]}),
    ("translator", {"hidden": ["read 1"]}),
    ("translator", {"hidden": ["written 0"], "mask": False}),
    ("language-model", {"off": ["layers.0.self_attention 0"]}),
    ("language-model", {"hidden": ["text 0", "text 1"]}),
    ("language-model", {"mask": False}),
    (
        "language-model",
        {"numbers": [{"name": "layers.0.around_self_attention.norm.weight", "row": 3, "value": 4}]},
    ),
    (
        "language-model",
        {"numbers": [{"name": "layers.1.self_attention.in_proj_weight", "row": 70, "column": 5, "value": 2}]},
    ),
    ("looking-inside", {"off": ["layers.1.self_attention 1"]}),
    ("gpt", {"numbers": [{"name": "blocks.1.widen.weight", "row": 9, "column": 8, "value": -3}]}),
]


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_changed_runs_are_pytorchs_too(name, change, tmp_path):
    choice = {"where": 0.3, "layer": 0, "part": 0, "head": 0, "key": None}
    runs = [runs_of(name, 1)[0] | change | {"choice": choice}]
    said = in_node(name, runs, tmp_path)
    assert 0 < largest_difference(name, runs, said) < 1e-4
    plain = in_node(name, [{"read": runs[0]["read"], "choice": choice}], tmp_path)
    assert said[0]["steps"][-1]["numbers"] != plain[0]["steps"][-1]["numbers"]


CARRIED = [
    (
        "language-model",
        {"stack": "text", "name": "layers.0.self_attention.mixed", "head": 2, "vector": [0.5] * 16},
    ),
    (
        "language-model",
        {"stack": "text", "name": "layers.0.around_self_attention", "vector": [0.5, -1.0] * 32},
    ),
    (
        "translator",
        {"stack": "read", "name": "encoder.1.self_attention.mixed", "head": 0, "vector": [1.0] * 16},
    ),
    ("gpt", {"stack": "text", "name": "blocks.0.attention.mixed", "head": 1, "vector": [0.25] * 32}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "carried"), CARRIED)
def test_what_was_carried_over_is_pytorchs_and_the_step_says_so(name, carried, tmp_path):
    choice = {"where": 0.0, "layer": 0, "part": 0, "head": carried.get("head"), "key": None}
    layer = int(carried["name"].split(".")[1])
    runs = [runs_of(name, 1)[0] | {"carried": [carried | {"place": 0}], "choice": choice | {"layer": layer}}]
    said = in_node(name, runs, tmp_path)
    assert 0 < largest_difference(name, runs, said) < 1e-4
    marked = [
        step["id"] for step in said[0]["steps"] if step["carried"] and step["stack"] == carried["stack"]
    ]
    assert marked == [f"{layer}.0.{'mix' if 'head' in carried else 'output'}"]
    # Of another place nothing is said, nor of another head.
    others = [{"where": 0.99}, *([{"head": 3}] * ("head" in carried))]
    elsewhere = [runs[0] | {"choice": runs[0]["choice"] | other} for other in others]
    for each in in_node(name, elsewhere, tmp_path):
        assert not [step["id"] for step in each["steps"] if step["carried"]]


@pytest.mark.parametrize(("where", "told"), [(0.0, "hides 5 later words"), (0.99, "hides nothing here")])
def test_the_last_place_hears_that_the_mask_hides_nothing_from_it(where, told, tmp_path):
    choice = {"where": where, "layer": 0, "part": 0, "head": 0, "key": 0}
    read = runs_of("language-model", 1)[0]["read"][:6]
    (said,) = in_node("language-model", [{"read": read, "choice": choice}], tmp_path)
    sentences = [step["sentence"] for step in said["steps"] if step["kind"] == "softmax"]
    assert len(sentences) == 2
    assert all(f"The mask {told}" in sentence for sentence in sentences)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_unless_one_is_chosen_the_head_that_adds_most_and_its_strongest_look_are_followed(name, tmp_path):
    free = {"where": 0.9, "layer": 0, "part": 0, "head": None, "key": None}
    heads = []
    for said in in_node(name, [run | {"choice": free} for run in runs_of(name, 3)], tmp_path):
        steps = {(step["stack"], step["id"]): step for step in said["steps"]}
        for (stack, name_), step in steps.items():
            if step["kind"] != "output":
                continue
            lengths = torch.tensor(step["numbers"]["heads"]).norm(dim=-1)
            assert step["head"] == int(lengths.argmax())
            weights = steps[stack, name_.replace("output", "softmax")]["numbers"]["weights"]
            assert weights[step["key"]] == max(weights)
            heads.append(step["head"])
    assert len({*heads}) > 1


# ---- what is said ----


def value_of(term: str) -> float:
    """Of "2.79 × 89 %", say."""
    term = re.sub(r"\([^()]*[a-z][^()]*\)", "", term.replace("\u00a0%", "*0.01"))  # (bias), (61 others)
    for sign, python in {"−": "-", "×": "*", "÷": "/", "e^": "exp"}.items():
        term = term.replace(sign, python)
    term = re.sub(r"·10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "e-" + found[1].translate(DIGITS), term)
    assert re.fullmatch(r"(exp|e-|[-+*/().\d ])+", term), term
    return float(eval(term, {"exp": math.exp}))


DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
EQUATION = re.compile(r"(?:All \d+: )?([^=:]+) = (under )?(−?[\d.]+(?:·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(?:\u00a0%)?)")


def equations(sum_: str) -> list[tuple[float, float]]:
    """Both sides of each, of "0.45 × 2.13 = 0.95. All 16: 2.23 + 3.45 = 5.68"."""
    found = [EQUATION.match(part) for part in sum_.split(". ")]
    return [(value_of(each[1]), 0.0 if each[2] else value_of(each[3])) for each in found if each]


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_arithmetic_that_is_written_out_comes_true(name, tmp_path):
    runs = runs_of(name, 3)
    several = {"score": 2, "softmax": 2, "chances": 2, "norm": 2}
    for said in in_node(name, runs, tmp_path):
        for step in said["steps"]:
            sides = equations(step["sum"])
            if not (step["kind"] == "embedding" and name == "gpt"):  # a row as it is
                assert len(sides) >= several.get(step["kind"], 1), step["sum"]
            for one, other in sides:  # each of their numbers is rounded
                assert one == pytest.approx(other, abs=0.05, rel=0.02), (step["id"], step["sum"])


@pytest.mark.thorough
def test_a_bias_that_is_large_is_in_the_arithmetic_too(tmp_path):
    """The model's own are so small that a sum without them comes nearly true."""
    state = model_of("language-model").state_dict()
    of_sums = ("in_proj_bias", "out_proj.bias", "widen.bias", "narrow.bias", "word.bias", "norm.bias")
    large = {name: each for name, each in state.items() if name.endswith(of_sums)}
    set_ = [
        {"name": name, "row": row, "value": 3} for name, each in large.items() for row in range(len(each))
    ]
    run = runs_of("language-model", 1)[0] | {"numbers": set_}
    found = []
    for step in in_node("language-model", [run], tmp_path)[0]["steps"]:
        if step["kind"] in ("norm", "query", "output", "widen", "narrow", "logits"):
            found.append(step["kind"])
            for one, other in equations(step["sum"]):
                assert one == pytest.approx(other, abs=0.1, rel=0.02), (step["id"], step["sum"])
    assert len(found) == 14


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "change"), [*((name, {}) for name in NAMES), *CHANGES])
def test_sentences_are_whole(name, change, tmp_path):
    choice = {"where": 0.5, "layer": 0, "part": 0, "head": 0, "key": None}
    for step in in_node(name, [runs_of(name, 1)[0] | change | {"choice": choice}], tmp_path)[0]["steps"]:
        for words in (step["sentence"], step["sum"], step["subject"]):
            assert words
            assert not re.search(r"undefined|NaN|null|Infinity|\[object", words), (step["id"], words)
        assert step["sentence"].endswith((".", ")"))
        assert len(step["sentence"].split()) < 70


@pytest.mark.thorough
def test_what_is_off_or_hidden_is_said(tmp_path):
    choice = {"where": 0.99, "layer": 0, "part": 0, "head": 0, "key": 0}
    run = runs_of("language-model", 1)[0] | {"choice": choice}
    off = run | {"off": ["layers.0.self_attention 0"], "hidden": ["text 0", "text 1"]}
    said = {step["id"]: step for step in in_node("language-model", [off], tmp_path)[0]["steps"]}
    assert said["0.0.query"]["sentence"].endswith("(Head 1 is off: what it finds is not used.)")
    assert said["0.0.mix"]["sentence"] == "Head 1 is off: in the place of what it finds stand zeros."
    assert "You have hidden 2 words." in said["0.0.softmax"]["sentence"]
    assert said["0.0.softmax"]["sum"] == "hidden: its share is 0"
    places = run | {"positions": False}
    said = {step["id"]: step for step in in_node("language-model", [places], tmp_path)[0]["steps"]}
    assert said["positions"]["sentence"].startswith("Places are off: nothing is added")
