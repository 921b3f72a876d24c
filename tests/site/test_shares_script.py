"""The word so far, and each part's share in one logit against another: as in the page, and as in PyTorch."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from script_and_pytorch import in_pytorch, spelled, texts, translations
from torch import Tensor, nn
from torch.nn import functional as F

from _ext import playground
from _ext.javascript import NODE
from attnlab.runtime import generator
from attnlab.transformer import GPT, LanguageModel, Transformer
from bookkit.playground import openable
from bookkit.registry import BOOK

SCRIPTS = ["model.js", "transformer.js", "gpt.js", "bench/anatomy.js", "bench/shares.js"]
IN_JAVASCRIPT = """
const model = new { Transformer, LanguageModel, GPT }[data.kind](data);
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


# ---- the same in PyTorch ----


class Reference:
    """What PyTorch's own modules gave on the way, and what a change of the last stream does to a difference.

    The gradient of the difference, with the last deviation held, is what a number of the stream is worth. It
    does not come from a formula here, but from autograd.
    """

    def __init__(self, model: nn.Module, run: dict[str, Any], translation: list[int] | None) -> None:
        self.model, self.rivals = spelled(model, run.get("changes", {})), run["rivals"]
        self.trace = in_pytorch(model, run, translation)[-1]
        # The names of the embedding, of the layers, of what each has, and of the last norm.
        self.names = {
            Transformer: ("written", "decoder", ("self_attention", "cross_attention", "feed_forward")),
            LanguageModel: ("embedding", "layers", ("self_attention", "feed_forward")),
            GPT: ("pieces", "blocks", ("attention", "narrow")),
        }[type(model)]
        self.last = "decoder_norm" if isinstance(model, Transformer) else "norm"
        self.norm = self.model.get_submodule(self.last)
        self.table = None if isinstance(model, GPT) else self.model.word
        self.worth = self._worth()

    def logits(self, stream: Tensor, deviation: Tensor | None = None) -> Tensor:
        """Of the stream at any station; its deviation may be held."""
        if deviation is None:
            normed = self.norm(stream)
        else:
            normed = (stream - stream.mean(-1, keepdim=True)) / deviation * self.norm.weight + self.norm.bias
        return F.linear(normed, self.model.pieces.weight) if self.table is None else self.table(normed)

    def difference(self, logits: Tensor) -> Tensor:
        a, b = self.rivals
        return logits[..., a] - logits[..., b]

    def _worth(self) -> Tensor:
        stream = self.stream().clone().requires_grad_()
        deviation = (stream.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt().detach()
        (gradient,) = torch.autograd.grad(self.difference(self.logits(stream, deviation)).sum(), stream)
        return gradient[None]

    def parts(self) -> list[tuple[str, int, int]]:
        """Each part's name, layer and place in it."""
        _, layers, kinds = self.names
        every = range(len(self.model.get_submodule(layers)))
        return [
            (f"{layers}.{layer}.{kind}", layer, part) for layer in every for part, kind in enumerate(kinds)
        ]

    def output_of(self, name: str) -> str:
        """The module whose output a part adds to the stream."""
        last = {"feed_forward": ".narrow", "attention": ".write", "narrow": ""}
        return name + last.get(name.rpartition(".")[2], ".out_proj")

    def stream(self, station: str | None = None) -> Tensor:
        """The stream at a station, or where the last norm reads it."""
        _, layers, _ = self.names
        return self.trace[station or f"{layers}.{len(self.model.get_submodule(layers)) - 1}"][0]

    @torch.no_grad()
    def shares(self) -> dict[str, Tensor]:
        """By the names that the script gives them, of all places."""
        added = {
            "embedding,,,,": self.trace[self.names[0]],
            "positions,,,,": self.trace["positions"] - self.trace[self.names[0]],
        }
        for name, layer, part in self.parts():
            output = self.model.get_submodule(self.output_of(name))
            if name.endswith("attention"):
                mixed = self.trace[f"{name}.mixed"]
                for head in range(self.heads(name)):
                    alone = self.alone(mixed, head, self.heads(name))
                    added[f"head,{layer},{part},{head},"] = output(alone) - output.bias
            else:
                added[f"network,{layer},{part},,"] = self.trace[self.output_of(name)] - output.bias
            bias = f"bias,{layer},{part},,{self.output_of(name)}"
            added[bias] = output.bias.expand(self.worth.shape)
        found = {name: (each * self.worth).sum(-1)[0] for name, each in added.items()}
        nothing = torch.zeros(self.worth.shape[1], self.worth.shape[2])
        without = F.linear(nothing + self.norm.bias, self.matrix())
        found[f"bias,,,,{self.last}"] = self.difference(without)
        if self.table is not None:
            found["bias,,,,word"] = self.difference(self.table.bias).expand(len(nothing))
        return found

    def matrix(self) -> Tensor:
        return self.model.pieces.weight if self.table is None else self.table.weight

    def heads(self, name: str) -> int:
        return int(self.model.get_submodule(name).heads)

    def alone(self, mixed: Tensor, head: int, heads: int) -> Tensor:
        """One head's numbers, and zeros for the others."""
        width = mixed.shape[-1] // heads
        kept = torch.zeros_like(mixed)
        kept[..., head * width : (head + 1) * width] = mixed[..., head * width : (head + 1) * width]
        return kept

    @torch.no_grad()
    def brought(self, name: str, head: int) -> Tensor:
        """By each place that is looked at (columns), for each that looks (rows)."""
        output = self.model.get_submodule(self.output_of(name))
        values = self.trace[f"{name}.values"]
        written = F.linear(self.alone(values, head, self.heads(name)), output.weight)  # (1, m, d_model)
        return self.trace[f"{name}.weights"][0, head] * (self.worth[0] @ written[0].T)


def largest_differences(name: str, runs: list[dict[str, Any]], folder: Path) -> dict[str, float]:
    """Between script and PyTorch, over all places of these runs, and between sums and what they come to."""
    model = openable()[name].load()
    found: dict[str, float] = {}

    def compare(what: str, ours: Any, theirs: Any) -> None:
        gap = (
            (torch.as_tensor(ours, dtype=torch.float) - torch.as_tensor(theirs, dtype=torch.float))
            .abs()
            .max()
        )
        found[what] = max(found.get(what, 0.0), float(gap))

    for run, said in zip(runs, in_node(name, runs, folder), strict=True):
        reference = Reference(model, run, said["translation"])
        shares, logits = reference.shares(), reference.logits(reference.stream()).detach()
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
                so_far = reference.logits(reference.stream(station)[place]).detach()
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
    """One sentence, changed: a head off, no positions, a weight set, what a head or a place has carried in."""
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


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_so_they_are_for_many_sentences(name, tmp_path):
    found = largest_differences(name, given(name, 20 if name == "gpt" else 50), tmp_path)
    assert max(found.values()) < 1e-4, found
