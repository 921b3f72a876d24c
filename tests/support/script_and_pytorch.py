"""The same sentences through the scripts of book/_static and PyTorch: each tensor on the way, by its name."""

import base64
import copy
import inspect
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from node import printed
from torch import Tensor, nn
from torch.nn import functional as F

from _ext.playground import script
from attnlab.attention import MultiHeadAttention, masked_softmax
from attnlab.corpora import agreement, grammar
from attnlab.runtime import generator
from attnlab.transformer import GPT, Block, SelfAttention, Transformer
from bookkit.playground import openable
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import models as gpt
from chapters.looking_inside import models as looking_inside
from chapters.the_transformer.models import WORDS
from chapters.translating_with_attention.models import START, sentences

Trace = dict[str, Tensor]
# What each run is given: the words as numbers, and what is changed, as model.js says.
Run = dict[str, Any]

# What stands before each program: a model's numbers in base64.
PACKING = """
const packed = (tensor) => {
  const rows = tensor[0] instanceof Float32Array ? tensor : tensor.flat();
  const bytes = rows.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength));
  return Buffer.concat(bytes).toString("base64");
};
const packedAll = (traces) => Object.values(traces).map((trace) =>
  Object.fromEntries(Object.entries(trace).map(([name, tensor]) => [name, packed(tensor)])));
"""
# For each of the runs that are given the traces of its stacks, and what came back.
RUNNING = """
return given.map(({ read, changes: { off = [], hidden = [], ...others } = {} }) => {
  model.changes = { ...noChanges(), off: new Set(off), hidden: new Set(hidden), ...others };
  let result;
  try {
    result = finished(model.running(read));
  } catch (error) {
    return { error: error.message };
  }
  const translation = data.kind === "Transformer" && result;
  return { traces: packedAll(model.traces), translation, logits: packed(model.logits) };
});"""


# ---- what is read ----


def translations(count: int) -> list[Run]:
    """Sentences for the translator."""
    read = sentences(grammar.pairs(count, generator(5)))
    return [
        {"read": source[:length].tolist()} for source, length in zip(read.source, read.lengths, strict=True)
    ]


def texts(count: int) -> list[Run]:
    """Sentences for the language model, whose start they are given."""
    drawn = agreement.sentences(count, generator(5))
    return [{"read": [START, *map(WORDS.index, words)]} for words in drawn]


def rounds(count: int) -> list[Run]:
    """Words that come again, for the models of *Looking inside*."""
    words, periods = looking_inside.repeated(count, generator(5))
    return [
        {"read": row[: min(2 * int(period), 48)].tolist()} for row, period in zip(words, periods, strict=True)
    ]


def docstrings(count: int) -> list[Run]:
    """Beginnings of docstrings, for the GPT."""
    pieces, draw = gpt.pieces(), generator(5)
    beginnings = [str(inspect.getdoc(each)) for each in vars(torch).values() if callable(each)]
    long = [ids for text in dict.fromkeys(beginnings) if len(ids := pieces.encode(text[:500])) > 100]
    lengths = torch.randint(8, 100, (count,), generator=draw).tolist()
    return [{"read": [pieces.end, *ids[:length]]} for ids, length in zip(long[:count], lengths, strict=True)]


# ---- the models that a page can open ----


class InPage(NamedTuple):
    loaded: Callable[[], nn.Module]
    runs: Callable[[int], list[Run]]


RUNS = {"translator": translations, "language-model": texts, "induction": rounds, "gpt": docstrings}
IN_PAGE = {name: InPage(cache(openable()[name].load), runs) for name, runs in RUNS.items()}
SCRIPTS = ("model.js", "transformer.js", "gpt.js", "die.js", "bench/chances.js")


def in_node(name: str, runs: list[Run]) -> list[dict[str, Any]]:
    """What the scripts make of these runs, in Node."""
    return returned(name, runs, RUNNING)


def returned(name: str, given: Any, body: str, more: Iterable[str] = ()) -> Any:
    """What an async function of `model`, its `data` and `given` returns, with these scripts more."""
    scripts = [(BOOK / "_static" / each).read_text("utf-8") for each in (*SCRIPTS, *more)]
    setup = f"const data = stored[{json.dumps(name)}]; const given = {json.dumps(given)};"
    kinds = "{ Transformer, LanguageModel, Induction: LanguageModel, GPT }"
    call = f"""(async () => {{ {setup} const model = new ({kinds}[data.kind])(data); {body} }})()
      .then((value) => console.log(JSON.stringify(value)));"""
    return printed("\n".join([*scripts, PACKING, "const stored = {};", script(name), call]))


def unpacked(row: str) -> Tensor:
    return torch.from_numpy(np.frombuffer(base64.b64decode(row), "<f4").copy())


# ---- the same in PyTorch ----


class Spelled(nn.Module):
    """An attention of the book with a module for each step: hooks note what comes out, or change it."""

    def __init__(self, attention: MultiHeadAttention | SelfAttention) -> None:
        super().__init__()
        self.given, self.heads = [attention], attention.heads  # in a list it is no module beside these
        self.causal, self.hidden, self.off = False, set(), []
        for step in ("queries", "keys", "values", "weights", "mixed"):
            self.add_module(step, nn.Identity())
        for step in ("project", "write", "out_proj"):
            if hasattr(attention, step):
                self.add_module(step, getattr(attention, step))

    def forward(self, inputs: Tensor, memory: Tensor | None = None, **_: Any) -> Any:
        memory = inputs if memory is None else memory
        (given,) = self.given
        if isinstance(given, SelfAttention):
            projected = self.project(inputs).chunk(3, -1)
        else:
            weights, biases = given.in_proj_weight.chunk(3), given.in_proj_bias.chunk(3)
            projected = map(F.linear, (inputs, memory, memory), weights, biases)
        parts = [
            getattr(self, step)(x) for step, x in zip(("queries", "keys", "values"), projected, strict=True)
        ]
        query, key, value = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in parts)
        scores = query @ key.mT / math.sqrt(query.shape[-1])  # (1, heads, n, m)
        shown = torch.ones_like(scores, dtype=torch.bool)
        shown = shown.tril() if self.causal else shown
        shown[..., [place for place in self.hidden if place < shown.shape[-1]]] = False
        weights = self.weights(masked_softmax(scores, shown))
        found = (weights @ value).transpose(1, 2)  # (1, n, heads, d_k)
        found[:, :, self.off] = 0
        mixed = self.mixed(found.flatten(2))
        if isinstance(given, SelfAttention):
            return self.write(mixed)
        return self.out_proj(mixed), weights


class SpelledBlock(Block):
    def forward(self, stream: Tensor) -> Tensor:
        stream = self.after_attention(stream + self.attention(self.before_attention(stream)))
        wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")
        return stream + self.narrow(wide)


class SpelledGPT(GPT):
    def forward(self, ids: Tensor) -> Tensor:
        stream = self.positions(self.pieces(ids) + self.places(torch.arange(ids.shape[1])))
        for block in self.blocks:
            stream = block(stream)
        return self.logits(F.linear(self.norm(stream), self.pieces.weight))


@torch.no_grad()
def spelled(model: nn.Module, changes: Run) -> nn.Module:
    """`spelled(model, {"mask": False})` is a copy, changed in all but what is done to one run's tensors."""
    model = copy.deepcopy(model)
    for number in changes.get("numbers", []):
        place = [number["row"]] + ([number["column"]] if "column" in number else [])
        model.get_parameter(number["name"])[tuple(place)] = number["value"]
    if not changes.get("positions", True):
        table = model.places.weight if isinstance(model, GPT) else model.positions.table
        table.zero_()
    for name, module in list(model.named_modules()):
        if isinstance(module, MultiHeadAttention | SelfAttention):
            attention = Spelled(module)
            looked_at = "text" if not isinstance(model, Transformer) else "written"
            if name.startswith("encoder") or name.endswith("cross_attention"):
                looked_at = "read"
            attention.causal = changes.get("mask", True) and looked_at != "read"
            hidden = (place.split() for place in changes.get("hidden", []))
            attention.hidden = {int(place) for stack, place in hidden if stack == looked_at}
            off = (place.split() for place in changes.get("off", []))
            attention.off = [int(head) for place, head in off if place == name]
            model.set_submodule(name, attention)
        if isinstance(module, Block):
            module.__class__, module.after_attention = SpelledBlock, nn.Identity()
    if isinstance(model, GPT):
        model.__class__, model.positions, model.logits = SpelledGPT, nn.Identity(), nn.Identity()
    return model


@contextmanager
def carried(model: nn.Module, stack: str, changes: Run) -> Iterator[None]:
    """While that stack is computed, vectors stand where they were carried to."""

    def put(name: str, place: Any, vector: Any, head: int | None) -> None:
        def hook(_: nn.Module, __: Any, output: Any) -> Any:
            tensor = output[0] if isinstance(output, tuple) else output
            tensor = tensor.clone()
            width = tensor.shape[-1] // (1 if head is None else heads)
            start = (head or 0) * width
            tensor[:, place, start : start + width] = torch.as_tensor(vector)
            return (tensor, *output[1:]) if isinstance(output, tuple) else tensor

        hooks.append(model.get_submodule(name).register_forward_hook(hook))

    hooks: list[Any] = []
    heads = next(module.heads for module in model.modules() if isinstance(module, Spelled))
    for one in changes.get("carried", []):
        if one["stack"] == stack:
            put(one["name"], one["place"], one["vector"], one.get("head"))
    yield
    for hook in hooks:
        hook.remove()


@torch.no_grad()
def in_pytorch(model: nn.Module, run: Run, translation: list[int] | None = None) -> list[Trace]:
    """The outputs of all modules, for each stack. What a translator has written so far is its translation."""
    changes, read = run.get("changes", {}), torch.tensor([run["read"]])
    model = spelled(model, changes)
    if not isinstance(model, Transformer):
        return [traced(model, "text", changes, model, read)]
    visible = torch.ones(1, 1, read.shape[1], dtype=torch.bool)
    first = traced(model, "read", changes, model.encode, read, visible)
    written = torch.tensor([[START, *translation[:-1]]])
    return [first, traced(model, "written", changes, model.decode, written, first["encoder_norm"], visible)]


def traced(model: nn.Module, stack: str, changes: Run, compute: Any, *given: Any) -> Trace:
    found: Trace = {}
    hooks = []

    def note(name: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            found[name] = output[0] if isinstance(output, tuple) else output

        return hook

    with carried(model, stack, changes):
        for name, module in model.named_modules():
            if name and not isinstance(module, nn.Dropout | nn.ModuleList):
                hooks.append(module.register_forward_hook(note(name)))
        compute(*given)
    for hook in hooks:
        hook.remove()
    return found


def largest_difference(said: dict[str, Any], traces: list[Trace]) -> float:
    """Between all tensors of both; it must be the same ones that both have."""
    assert "error" not in said, said["error"]
    differences = []
    for ours, packed in zip(traces, said["traces"], strict=True):
        assert ours.keys() == packed.keys(), ours.keys() ^ packed.keys()
        for name, tensor in ours.items():
            theirs = unpacked(packed[name])
            assert theirs.numel() == tensor.numel(), name
            differences.append((theirs - tensor.flatten()).abs().max())
    last = traces[-1].get("logits", traces[-1].get("word"))
    differences.append((unpacked(said["logits"]) - last.flatten()).abs().max())
    return float(torch.stack(differences).max())
