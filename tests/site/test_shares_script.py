"""The word so far, and each part's share in one logit against another, as the page and as PyTorch computes them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from script_and_pytorch import texts, traced, translations
from torch import Tensor, nn
from torch.nn import functional as F

from _ext import playground
from _ext.javascript import NODE
from attnlab.runtime import generator
from attnlab.transformer import GPT, Transformer
from bookkit.playground import openable
from bookkit.registry import BOOK

SCRIPTS = ["transformer.js", "gpt.js", "bench/anatomy.js", "bench/shares.js"]
IN_JAVASCRIPT = """
const model = new { Transformer, LanguageModel, GPT }[data.kind](data);
const stacks = anatomy(model);
const finished = (running) => {
  for (;;) {
    const { done, value } = running.next();
    if (done) return value;
  }
};
console.log(JSON.stringify(given.map(({ read, off = [], rivals }) => {
  model.changes = { ...noChanges(), off: new Set(off) };
  const result = finished(model.running(read));
  const { traces } = model;
  const stack = stackWithWords(stacks);
  const each = traces[stack.name][stack.norm].map((_, place) => {
    const { total, shares: parts } = shares(model, stacks, traces, place, rivals);
    const heads = parts.filter(({ kind }) => kind === "head");
    return {
      total,
      parts: parts.map(({ kind, layer, part, head, name, share }) => [[kind, layer, part, head, name].join(), share]),
      so: soFar(model, stacks, traces, place, rivals).map(({ chances, difference }) => [[...chances], difference]),
      brings: heads.map((head) => brought(model, stacks, traces, place, rivals, head)),
    };
  });
  return { written: data.kind === "Transformer" && [data.start, ...result.slice(0, -1)], each };
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

    def __init__(self, model: nn.Module, run: dict[str, Any], written: list[int]) -> None:
        self.model, self.rivals = model, run["rivals"]
        read = torch.tensor([run["read"]])
        with torch.no_grad():
            if isinstance(model, Transformer):
                visible = torch.ones(1, 1, read.shape[1], dtype=torch.bool)
                memory = model.encode(read, visible)
                words = torch.tensor([written])
                self.trace = traced(model, lambda: model.decode(words, memory, visible))
                self.layers, self.norm, self.table = model.decoder, model.decoder_norm, model.word
                self.embedding, self.summed = "written", "positions"
            else:
                self.trace = traced(model, lambda: model(read))
                self.layers = model.blocks if isinstance(model, GPT) else model.layers
                self.norm = model.norm
                self.table = None if isinstance(model, GPT) else model.word
                self.embedding, self.summed = "embedding", "positions"
            if isinstance(model, GPT):
                self.embedding = "pieces"
                self.trace["positions"] = self.trace["pieces"] + self.trace["places"]
        self.first = {"decoder_norm": "decoder", "norm": "layers"}.get(
            "decoder_norm" if isinstance(model, Transformer) else "norm"
        )
        if isinstance(model, GPT):
            self.first = "blocks"
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
        stream = self.streams()[-1].clone().requires_grad_()
        deviation = (stream.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt().detach()
        (gradient,) = torch.autograd.grad(self.difference(self.logits(stream, deviation)).sum(), stream)
        return gradient

    def parts(self) -> list[tuple[str, int, int]]:
        """Each part's name, layer and place in it."""
        kinds = ["self_attention", "feed_forward"]
        if isinstance(self.model, Transformer):
            kinds.insert(1, "cross_attention")
        if isinstance(self.model, GPT):
            kinds = ["attention", "narrow"]
        layers = range(len(self.layers))
        return [
            (f"{self.first}.{layer}.{kind}", layer, part)
            for layer in layers
            for part, kind in enumerate(kinds)
        ]

    def output_of(self, name: str) -> str:
        """The module whose output a part adds to the stream."""
        last = {"feed_forward": ".narrow", "attention": ".write", "narrow": ""}
        return name + last.get(name.rpartition(".")[2], ".out_proj")

    @torch.no_grad()
    def streams(self) -> list[Tensor]:
        """The stream at each station, summed up again from what was added to it."""
        found = [self.trace[self.embedding], self.trace[self.summed]]
        for name, _, _ in self.parts():
            found.append(found[-1] + self.trace[self.output_of(name)])
        return found

    @torch.no_grad()
    def shares(self) -> dict[str, Tensor]:
        """By the names that the script gives them, of all places."""
        added = {
            "embedding,,,,": self.trace[self.embedding],
            "positions,,,,": self.trace[self.summed] - self.trace[self.embedding],
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
        norm = next(name for name, module in self.model.named_modules() if module is self.norm)
        found[f"bias,,,,{norm}"] = self.difference(without)
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
        if isinstance(self.model, GPT):
            values = self.trace[f"{name}.project"].chunk(3, -1)[2]
        else:
            values = self.trace[f"{name}.values"]
        written = F.linear(self.alone(values, head, self.heads(name)), output.weight)  # (1, m, d_model)
        return self.trace[f"{name}.weights"][0, head] * (self.worth[0] @ written[0].T)


def largest_differences(name: str, runs: list[dict[str, Any]], folder: Path) -> dict[str, float]:
    """Between script and PyTorch, over all places of these runs; and between sums and what they must come to."""
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
        reference = Reference(model, run, said["written"])
        shares = reference.shares()
        stations = [reference.logits(stream)[0].detach() for stream in reference.streams()]
        heads = [
            reference.brought(part, head)
            for part, _, _ in reference.parts()
            if part.endswith("attention")
            for head in range(reference.heads(part))
        ]
        for place, each in enumerate(said["each"]):
            parts = dict(each["parts"])
            assert parts.keys() == shares.keys()
            compare("shares", [*parts.values()], [float(shares[part][place]) for part in parts])
            compare("their sum", sum(parts.values()), each["total"])
            compare("total", each["total"], reference.difference(stations[-1][place]))
            for logits, (chances, difference) in zip(stations, each["so"], strict=True):
                compare("chances so far", chances, logits[place].softmax(-1))
                compare("difference so far", difference, reference.difference(logits[place]))
            for brought, theirs in zip(heads, each["brings"], strict=True):
                compare("brought", theirs, brought[place, : len(theirs)])
            own = [share for part, share in parts.items() if part.startswith("head")]
            compare("brought, summed", [sum(each) for each in each["brings"]], own)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_shares_add_up_and_are_pytorchs(name, tmp_path):
    found = largest_differences(name, given(name, 5 if name != "gpt" else 2), tmp_path)
    assert max(found.values()) < 1e-4, found
    assert len(found) == 7


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_so_they_are_for_many_sentences(name, tmp_path):
    found = largest_differences(name, given(name, 20 if name == "gpt" else 50), tmp_path)
    assert max(found.values()) < 1e-4, found
