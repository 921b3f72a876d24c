"""The word so far, and each part's share in one logit against another: as in the page, and as in PyTorch."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from script_and_pytorch import texts, translations
from share_reference import Reference

from _ext import playground
from _ext.javascript import NODE
from attnlab.runtime import generator
from attnlab.transformer import GPT
from bookkit.playground import openable
from bookkit.registry import BOOK

SCRIPTS = ["model.js", "transformer.js", "gpt.js", "bench/anatomy.js", "bench/shares.js"]
IN_JAVASCRIPT = """
const kinds = { Transformer, LanguageModel, Induction: LanguageModel, GPT };
const model = new kinds[data.kind](data);
const stacks = anatomy(model);
const named = ["kind", "layer", "part", "head", "name"];
console.log(JSON.stringify(given.map(({ read, rivals, changes = {} }) => {
  model.changes = { ...noChanges(), ...changes, off: new Set(changes.off) };
  const result = finished(model.running(read));
  const { traces } = model;
  const { name, norm } = stackWithWords(stacks);
  const each = traces[name][norm].map((_, place) => {
    const { total, shares: parts } = shares(model, stacks, traces, place, rivals);
    const heads = parts.filter(({ kind }) => kind === "head");
    return {
      total,
      parts: parts.map((each) => [named.map((key) => each[key]).join(), each.share]),
      so: soFar(model, stacks, traces, place, rivals).map((it) => [it.name, [...it.chances], it.difference]),
      brings: heads.map((head) => brought(model, stacks, traces, place, rivals, head)),
    };
  });
  return { translation: data.kind === "Transformer" ? result : null, each };
})));
"""


def in_node(name: str, runs: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    scripts = [(BOOK / "_static" / script).read_text("utf-8") for script in SCRIPTS]
    given = f"const data = stored[{json.dumps(name)}];\nconst given = {json.dumps(runs)};"
    program = folder / "program.js"
    lines = [*scripts, "const stored = {};", playground.script(name), given, IN_JAVASCRIPT]
    program.write_text("\n".join(lines), "utf-8")
    done = subprocess.run([NODE, str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def docstrings(count: int) -> list[dict[str, Any]]:
    """Pieces for the GPT, drawn without regard for what they mean: the sums must hold for these, too."""
    source = generator(5)
    lengths = torch.randint(2, 40, (count,), generator=source).tolist()
    return [{"read": torch.randint(1024, (length,), generator=source).tolist()} for length in lengths]


def rounds(count: int) -> list[dict[str, Any]]:
    """Symbols for the model of Looking inside: one round of eight, and some of the next."""
    source = generator(5)
    first = [torch.randperm(64, generator=source)[:8].repeat(2)[: 9 + i % 8] for i in range(count)]
    return [{"read": ids.tolist()} for ids in first]


RUNS = {"translator": translations, "language-model": texts, "gpt": docstrings, "induction": rounds}
NAMES = [name for name in RUNS if name in openable()]


def given(name: str, count: int) -> list[dict[str, Any]]:
    """Sentences, and for each two words to be held against each other."""
    source, model = generator(6), openable()[name].load()
    words = len(model.pieces.weight if isinstance(model, GPT) else model.word.weight)
    return [
        {"read": run["read"], "rivals": torch.randperm(words, generator=source)[:2].tolist()}
        for run in RUNS[name](count)
    ]


def largest_differences(name: str, runs: list[dict[str, Any]], folder: Path) -> dict[str, float]:
    """Between script and PyTorch, over all places of these runs, and between sums and what they come to."""
    model = openable()[name].load()
    found: dict[str, float] = {}

    def compare(what: str, ours: Any, theirs: Any) -> None:
        gap = torch.as_tensor(ours, dtype=torch.float) - torch.as_tensor(theirs, dtype=torch.float)
        found[what] = max(found.get(what, 0.0), float(gap.abs().max()))

    for run, said in zip(runs, in_node(name, runs, folder), strict=True):
        reference = Reference(model, run, said["translation"])
        shares, logits = reference.shares(), reference.said()
        looking = [(part, each) for part, *each in reference.parts() if part.endswith("attention")]
        heads = {
            f"head,{layer},{place},{head},": reference.brought(part, head)
            for part, (layer, place) in looking
            for head in range(reference.heads(part))
        }
        silent = [part for part, share in shares.items() if part in heads and not share.any()]
        for place, each in enumerate(said["each"]):
            parts = dict(each["parts"])
            own = {part: share for part, share in parts.items() if not part.startswith("carried")}
            assert own.keys() == shares.keys()
            compare("shares", [*own.values()], [float(shares[part][place]) for part in own])
            compare("their sum", sum(share for _, share in each["parts"]), each["total"])
            compare("total", each["total"], reference.difference(logits[place]))
            for station, chances, difference in each["so"]:
                so_far = reference.said(station)[place]
                compare("chances so far", chances, so_far.softmax(-1))
                compare("difference so far", difference, reference.difference(so_far))
            for head, brings in zip(heads, each["brings"], strict=True):
                compare("brought", brings, heads[head][place])
                if head not in silent and not run.get("changes", {}).get("carried"):
                    compare("brought, summed", sum(brings), own[head])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_shares_add_up_and_are_pytorchs(name, tmp_path):
    found = largest_differences(name, given(name, 5 if name != "gpt" else 2), tmp_path)
    assert max(found.values()) < 1e-4, found
    assert len(found) == 7


# An attention of each model, the matrix behind its heads, and the stream in which it is added up.
ATTENTION = {
    "translator": ("decoder.0.self_attention", "out_proj", "decoder.0.around_self_attention"),
    "language-model": ("layers.0.self_attention", "out_proj", "layers.0.around_self_attention"),
    "induction": ("layers.0.self_attention", "out_proj", "layers.0.around_self_attention"),
    "gpt": ("blocks.0.attention", "write", "blocks.0.after_attention"),
}


def changed(name: str) -> list[dict[str, Any]]:
    """One sentence, changed: a head off, no positions, a weight set, what a head or a place has carried."""
    attention, matrix, stream = ATTENTION[name]
    module = openable()[name].load().get_submodule(attention)
    width, source = getattr(module, matrix).out_features, generator(7)
    place = {"stack": "written" if name == "translator" else "text", "place": 1}
    head = {
        "name": f"{attention}.mixed",
        "head": 1,
        "vector": torch.randn(width // module.heads, generator=source),
    }
    whole = {"name": stream, "vector": torch.randn(width, generator=source)}
    changes = [
        {"off": [f"{attention} 1"]},
        {"positions": False},
        {"numbers": [{"name": f"{attention}.{matrix}.weight", "row": 3, "column": 2, "value": 2.5}]},
        *({"carried": [place | each | {"vector": each["vector"].tolist()}]} for each in (head, whole)),
    ]
    return [given(name, 1)[0] | {"changes": each} for each in changes]


@pytest.mark.parametrize("name", NAMES)
def test_so_they_are_when_something_is_changed(name, tmp_path):
    found = largest_differences(name, changed(name), tmp_path)
    assert max(found.values()) < 1e-4, found


@pytest.mark.weekly
@pytest.mark.parametrize("name", NAMES)
def test_so_they_are_for_many_sentences(name, tmp_path):
    found = largest_differences(name, given(name, 20 if name == "gpt" else 50), tmp_path)
    assert max(found.values()) < 1e-4, found
