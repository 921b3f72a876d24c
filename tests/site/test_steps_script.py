"""One word's way, step by step, in Node: every number of every step is PyTorch's."""

import json
import math
import random
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

SCRIPTS = ["model.js", "transformer.js", "gpt.js", "bench/anatomy.js", "bench/steps.js"]
# For each run: the words that were written, and of each stack's way the steps.
IN_JAVASCRIPT = """(data, runs) => runs.map((run) => {
  const model = new { Transformer, LanguageModel, GPT }[data.kind](data);
  const { off = [], hidden = [], mask = true, positions = true, carried = [], numbers = [] } = run;
  model.changes = { off: new Set(off), hidden: new Set(hidden), mask, positions, carried, numbers };
  const result = finished(model.running(run.read));
  const stacks = anatomy(model);
  const { traces, logits } = model;
  const plain = (tensor) => (tensor.length === undefined ? tensor : Array.from(tensor, plain));
  const ways = stacks.map((stack) => {
    const places = traces[stack.name][stack.embedding].length;
    const place = Math.floor(run.choice.where * places);
    const choice = { ...run.choice, stack: stack.name, place };
    return stepping.stepsOf({ model, stacks, traces, logits, choice }).map((step) => ({
      id: step.id, kind: step.kind, layer: step.layer, part: step.part, head: step.head, key: step.key,
      carried: step.carried, off: step.off, stack: stack.name, place,
      numbers: Object.fromEntries(Object.entries(step.numbers).map(([name, tensor]) => [name, plain(tensor)])),
    }));
  });
  return { words: data.kind === "Transformer" ? [data.start, ...result.slice(0, -1)] : null, steps: ways.flat() };
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
    """So many sentences, and which place, head and key is followed in each: any, and sometimes the strongest."""
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


@pytest.mark.thorough
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
