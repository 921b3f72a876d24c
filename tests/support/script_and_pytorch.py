"""The same sentences through the scripts of book/_static and PyTorch: each tensor on the way, by its name."""

import base64
import copy
import json
import math
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from _ext.javascript import NODE
from attnlab.attention import MultiHeadAttention
from attnlab.corpora import agreement, grammar
from attnlab.inside import watched
from attnlab.runtime import generator
from attnlab.transformer import GPT, LanguageModel, SelfAttention, Transformer
from chapters.the_transformer.models import WORDS
from chapters.the_transformer.playground import loaded
from chapters.translating_with_attention.models import PADDING, START, sentences

Trace = dict[str, Tensor]
# What each run is given: the words as numbers (a translator reads some and has written others), and switches.
Run = dict[str, Any]

# A function of a model's name and runs: for each run its traces, and, where it asks for one, a translation.
IN_JAVASCRIPT = """([name, runs]) => {
  const data = stored[name];
  const kinds = {
    Transformer: () => new Transformer(data),
    LanguageModel: () => new LanguageModel(data),
    GPT: () => new GPT(data),
  };
  const model = kinds[data.kind]();
  const packed = (tensor) => {
    const numbers = tensor[0] instanceof Float32Array ? tensor : tensor.flat();
    const bytes = numbers.map((row) => String.fromCharCode(...new Uint8Array(row.buffer.slice(
      row.byteOffset, row.byteOffset + row.byteLength))));
    return btoa(bytes.join(""));
  };
  const trace = (compute) => {
    model.trace = {};
    const result = compute();
    const tensors = Object.entries(model.trace).map(([name, tensor]) => [name, packed(tensor)]);
    return [Object.fromEntries(tensors), result];
  };
  return runs.map(({ read, written, off = [], mask = true, positions = true }) => {
    model.switches = { off: new Set(off), mask, positions };
    model.remember?.(0);
    if (!written) return { traces: [trace(() => model.forward(read))[0]] };
    const [first, memory] = trace(() => model.encode(read));
    const [second] = trace(() => model.decode(written, memory));
    const translation = model.translate(read, data.start, data.end, data.longest);
    return { traces: [first, second], translation };
  });
}"""


def translations(count: int) -> list[Run]:
    """Sentences for the translator, with the right words in place of its own."""
    read = sentences(grammar.pairs(count, generator(5)))
    return [
        {"read": source[:length].tolist(), "written": [word for word in previous.tolist() if word != PADDING]}
        for source, length, previous in zip(read.source, read.lengths, read.previous, strict=True)
    ]


def texts(count: int) -> list[Run]:
    """Sentences for the language model, whose start they are given."""
    drawn = agreement.sentences(count, generator(5))
    return [{"read": [START, *map(WORDS.index, words)]} for words in drawn]


def everything(n: int, m: int | None = None, device: object = None) -> Tensor:
    """In the place of `causal`: a mask that hides nothing."""
    return torch.ones(1, n, m or n, dtype=torch.bool)


def in_node(scripts: Sequence[str], name: str, runs: list[Run], folder: Path) -> list[dict[str, Any]]:
    """What the scripts, one after the other, make of these runs, in Node."""
    program = folder / "program.js"
    call = f"console.log(JSON.stringify(({IN_JAVASCRIPT})({json.dumps([name, runs])})));"
    program.write_text("\n".join([*scripts, call]), "utf-8")
    done = subprocess.run([NODE, str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@torch.no_grad()
def in_pytorch(model: nn.Module, run: Run) -> list[Trace]:
    """The outputs of all modules that compute, and what is in each attention, by the scripts' names."""
    read = torch.tensor([run["read"]])
    if isinstance(model, LanguageModel | GPT):
        return [traced(model, lambda: model(read))]
    assert isinstance(model, Transformer)
    visible = torch.ones(1, 1, read.shape[1], dtype=torch.bool)
    memory = model.encode(read, visible)
    return [
        traced(model, lambda: model.encode(read, visible)),
        traced(model, lambda: model.decode(torch.tensor([run["written"]]), memory, visible)),
    ]


def traced(model: nn.Module, compute: Callable[[], object]) -> Trace:
    found: Trace = {}
    hooks = []

    def note(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, given: Any, output: Any) -> None:
            found[name] = output[0] if isinstance(output, tuple) else output
            if name.endswith(("out_proj", "attention.write")):
                found[f"{name.rpartition('.')[0]}.mixed"] = given[0]
            if isinstance(module, MultiHeadAttention):
                sides = (given[0], given[-1], given[-1])
                weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
                for part, side, weight, bias in zip(
                    ("queries", "keys", "values"), sides, weights, biases, strict=True
                ):
                    found[f"{name}.{part}"] = F.linear(side, weight, bias)
            if isinstance(module, SelfAttention):
                found[f"{name}.weights"] = causal_weights(found[f"{name}.project"], module.heads)

        return hook

    for name, module in model.named_modules():
        # Dropout does nothing here, and the whole model's output is that of its last part, but for a GPT.
        if isinstance(model, GPT) and not name:
            hooks.append(module.register_forward_hook(note("logits")))
        if name and not isinstance(module, nn.Dropout | nn.ModuleList):
            hooks.append(module.register_forward_hook(note(name)))
    with watched(model) as looks:
        compute()
    found |= {f"{name}.weights": weights for name, weights in looks.items()}
    for hook in hooks:
        hook.remove()
    return found


def causal_weights(projected: Tensor, heads: int) -> Tensor:
    """What PyTorch's fused attention keeps for itself, of queries, keys and values (1, T, 3 · d_model)."""
    query, key, _ = projected.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)  # (1, heads, T, d_k) each
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return scores.masked_fill(scores.new_ones(scores.shape[-2:]).triu(1) > 0, -math.inf).softmax(-1)


def largest_difference(run: Run, said: dict[str, Any], model: nn.Module) -> float:
    """Between all tensors of both; it must be the same ones that both have."""
    differences = []
    for ours, packed in zip(in_pytorch(model, run), said["traces"], strict=True):
        assert ours.keys() == packed.keys(), ours.keys() ^ packed.keys()
        for name, tensor in ours.items():
            theirs = torch.from_numpy(np.frombuffer(base64.b64decode(packed[name]), "<f4").copy())
            assert theirs.numel() == tensor.numel(), name
            differences.append((theirs - tensor.flatten()).abs().max())
    return float(torch.stack(differences).max())


def switched(name: str, run: Run) -> nn.Module:
    """A copy of the stored model without the heads, and the positions, that are off in this run."""
    model = copy.deepcopy(loaded(name))
    for head in run.get("off", []):
        place, number = head.split()
        attention = model.get_submodule(place)
        d_k = attention.d_model // attention.heads
        with torch.no_grad():
            attention.out_proj.weight[:, int(number) * d_k : (int(number) + 1) * d_k] = 0
    if not run.get("positions", True):
        model.positions.table.zero_()
    return model
