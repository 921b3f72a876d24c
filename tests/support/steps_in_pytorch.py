"""The numbers of each step of book/_static/bench/steps.js, by PyTorch: from hooks on attnlab's modules."""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from script_and_pytorch import Run
from torch import Tensor, nn
from torch.nn import functional as F

import attnlab.transformer
from attnlab.attention import MultiHeadAttention
from attnlab.inside import watched
from attnlab.layers import ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions
from attnlab.transformer import GPT, Transformer

Numbers = dict[str, Tensor]
GELU = {"approximate": "tanh"}


class Seen:
    """What each module of a model was given, and what came out, in one stack's run."""

    def __init__(self, model: nn.Module, compute: Callable[[], Tensor]) -> None:
        self.model = model
        self.given: dict[str, Tensor] = {}
        self.memory: dict[str, Tensor] = {}
        self.out: dict[str, Tensor] = {}
        hooks = [module.register_forward_hook(self.note(name)) for name, module in model.named_modules()]
        with watched(model) as self.weights:
            self.logits = compute()
        for hook in hooks:
            hook.remove()

    def note(self, name: str) -> Callable[..., None]:
        def hook(_: nn.Module, given: Any, output: Any) -> None:
            self.given[name], self.memory[name] = given[0], given[-1]
            self.out[name] = output[0] if isinstance(output, tuple) else output

        return hook


@torch.no_grad()
def seen(model: nn.Module, run: Run, written: list[int] | None) -> dict[str, Seen]:
    """Of each stack what was seen, with the parts changed that are changed in this run."""
    model = edited(model, run)
    read = torch.tensor([run["read"]])
    if not isinstance(model, Transformer):
        with changed(model, run, "text"):
            return {"text": Seen(model, lambda: model(read))}
    visible = torch.tensor([[[f"read {key}" not in run.get("hidden", []) for key in range(read.shape[1])]]])
    with changed(model, run, "read"):
        encoded = Seen(model, lambda: model.encode(read, visible))
    with changed(model, run, "written"):
        previous = torch.tensor([written])
        return {
            "read": encoded,
            "written": Seen(model, lambda: model.decode(previous, encoded.logits, visible)),
        }


@contextmanager
def changed(model: nn.Module, run: Run, stack: str) -> Iterator[None]:
    """The model with heads off, places hidden and tensors carried over as the run says."""
    hidden = [int(place.split()[1]) for place in run.get("hidden", []) if place.split()[0] == stack]

    def mask(*sizes: Any, **options: Any) -> Tensor:
        visible = causal(*sizes, **options).clone()
        if not run.get("mask", True):
            visible[:] = True
        visible[..., hidden] = False
        return visible

    with ExitStack() as kept, torch.no_grad():
        kept.enter_context(patch.object(attnlab.transformer, "causal", mask))
        for name, number in (head.split() for head in run.get("off", [])):
            nothing = torch.zeros(model.get_submodule(name).d_model // model.get_submodule(name).heads)  # type: ignore[operator]
            hooked(kept, model, f"{name}.mixed", None, int(number), nothing)
        for each in run.get("carried", []):
            if each["stack"] == stack:
                hooked(
                    kept, model, each["name"], each["place"], each.get("head"), torch.tensor(each["vector"])
                )
        yield


@torch.no_grad()
def edited(model: nn.Module, run: Run) -> nn.Module:
    """A copy whose weights are set as the run says, where it does."""
    if "numbers" not in run:
        return model
    model = copy.deepcopy(model)
    for each in run["numbers"]:
        place = (each["row"], each["column"]) if "column" in each else each["row"]
        model.get_parameter(each["name"])[place] = each["value"]
    return model


def hooked(
    kept: ExitStack, model: nn.Module, name: str, place: int | None, head: int | None, vector: Tensor
) -> None:
    """What comes out under that name is this vector, at one place or all, whole or in one head's share."""

    def put(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        share = slice(None) if head is None else slice(head * len(vector), (head + 1) * len(vector))
        tensor[:, slice(None) if place is None else place, share] = vector
        return tensor

    if name.endswith(".mixed"):
        attention = model.get_submodule(name.removesuffix(".mixed"))
        output = attention.out_proj if isinstance(attention, MultiHeadAttention) else attention.write
        kept.callback(output.register_forward_pre_hook(lambda _, given: put(given[0])).remove)
    else:
        kept.callback(model.get_submodule(name).register_forward_hook(lambda _, __, out: put(out)).remove)


@torch.no_grad()
def numbers_of(step: dict[str, Any], run: Run, stacks: dict[str, Seen]) -> Numbers:
    """What the step of that kind, layer and part must have, by name."""
    found = stacks[step["stack"]]
    make = {"embedding": embedding, "positions": positions, "norm": norm, "logits": ends, "chances": ends}
    make |= {
        "query": attention,
        "score": attention,
        "softmax": attention,
        "mix": attention,
        "output": attention,
    }
    make |= {"widen": network, "narrow": network}
    return make[step["kind"]](found, step, run)


# ---- names ----


def of_gpt(found: Seen) -> bool:
    return isinstance(found.model, GPT)


def layer_of(step: dict[str, Any], found: Seen) -> str:
    prefix = {"read": "encoder", "written": "decoder", "text": "blocks" if of_gpt(found) else "layers"}
    return f"{prefix[step['stack']]}.{step['layer']}"


def part_of(step: dict[str, Any], found: Seen) -> str:
    if of_gpt(found):
        return ["attention", "network"][step["part"]]
    parts = ["self_attention", "feed_forward"]
    return (["self_attention", "cross_attention", "feed_forward"] if step["stack"] == "written" else parts)[
        step["part"]
    ]


def norm_of(step: dict[str, Any], found: Seen) -> str:
    if step["layer"] is None:
        return {"read": "encoder_norm", "written": "decoder_norm", "text": "norm"}[step["stack"]]
    if of_gpt(found):
        return f"{layer_of(step, found)}.before_{part_of(step, found)}"
    return f"{layer_of(step, found)}.around_{part_of(step, found)}.norm"


# ---- what goes in, and what comes out ----


def embedding(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    name = {"read": "read", "written": "written", "text": "pieces" if of_gpt(found) else "embedding"}[
        step["stack"]
    ]
    module = found.model.get_submodule(name)
    row = module.weight[found.given[name][0, step["place"]]]  # type: ignore[index]
    assert isinstance(module, ScaledEmbedding | nn.Embedding)
    return {"row": row, "result": found.out[name][0, step["place"]]}


def positions(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    given = embedding(found, step, run)["result"]
    if of_gpt(found):
        position, result = found.out["places"][step["place"]], found.given["blocks.0"][0, step["place"]]
        return {"given": given, "position": position, "result": result}
    module: Any = found.model.positions
    table = module.rows(0, 200) if isinstance(module, SinusoidalPositions) else module.table
    return {
        "given": given,
        "position": table[step["place"]],
        "result": found.out["positions"][0, step["place"]],
    }


def norm(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    name = norm_of(step, found)
    given = found.given[name][0, step["place"]]
    module: Any = found.model.get_submodule(name)
    deviation = (given.var(unbiased=False) + 1e-5).sqrt()
    return {
        "given": given,
        "mean": given.mean(),
        "deviation": deviation,
        "normal": (given - given.mean()) / deviation,
        "gain": module.weight,
        "bias": module.bias,
        "result": found.out[name][0, step["place"]],
    }


def ends(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    logits = found.logits[0, step["place"]]
    if step["kind"] == "chances":
        return {"logits": logits, "chances": logits.softmax(-1)}
    return {"given": found.out[norm_of(step, found)][0, step["place"]], "logits": logits}


# ---- the parts of a layer ----


def attention(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    name, place, head, key = (
        f"{layer_of(step, found)}.{part_of(step, found)}",
        step["place"],
        step["head"],
        step["key"],
    )
    module: Any = found.model.get_submodule(name)
    given = found.out[norm_of(step, found)][0]
    if of_gpt(found):
        memory, output, d_model = given, "write", module.write.in_features
        query, keys, values = found.out[f"{name}.project"][0].chunk(3, -1)
        weights = causal_weights(query, keys, module.heads)
        result = found.given[f"{layer_of(step, found)}.before_network"][0, place]
    else:
        memory, output, d_model = found.memory[name][0], "out_proj", module.d_model
        query, keys, values = (
            F.linear(side, weight, bias)
            for side, weight, bias in zip(
                (given, memory, memory),
                module.in_proj_weight.chunk(3),
                module.in_proj_bias.chunk(3),
                strict=True,
            )
        )
        weights = found.weights[name][0]
        result = found.out[name.replace(part_of(step, found), f"around_{part_of(step, found)}")][0, place]
    d_k = d_model // module.heads
    share = slice(head * d_k, (head + 1) * d_k)
    query, keys, values, weights = query[place, share], keys[:, share], values[:, share], weights[head, place]
    mixed = found.given[f"{name}.{output}"][0, place]
    columns = getattr(module, output).weight.unflatten(1, (module.heads, d_k))  # (d_model, heads, d_k)
    products = query * keys[key]
    return {
        "query": {"given": given[place], "query": query, "other": memory[key], "key": keys[key]},
        "score": {
            "query": query,
            "key": keys[key],
            "products": products,
            "sum": products.sum(),
            "divisor": torch.tensor(math.sqrt(d_k)),
            "score": products.sum() / math.sqrt(d_k),
        },
        "softmax": {
            "scores": keys @ query / math.sqrt(d_k),
            "visible": (weights > 0).float(),
            "weights": weights,
        },
        "mix": {"weights": weights, "values": values, "mix": mixed[share]},
        "output": {
            "given": found.given[norm_of(step, found)][0, place],
            "heads": torch.einsum("dhk,hk->hd", columns, mixed.unflatten(0, (module.heads, d_k))),
            "bias": getattr(module, output).bias,
            "more": found.out[f"{name}.{output}"][0, place],
            "result": result,
        },
    }[step["kind"]]


def causal_weights(query: Tensor, keys: Tensor, heads: int) -> Tensor:
    """What PyTorch's fused attention keeps for itself, of queries and keys (T, d_model): (heads, T, T)."""
    query, keys = (side.unflatten(-1, (heads, -1)).transpose(0, 1) for side in (query, keys))
    scores = query @ keys.mT / math.sqrt(query.shape[-1])
    return scores.masked_fill(scores.new_ones(scores.shape[-2:]).triu(1) > 0, -math.inf).softmax(-1)


def network(found: Seen, step: dict[str, Any], run: Run) -> Numbers:
    layer, place = layer_of(step, found), step["place"]
    name = layer if of_gpt(found) else f"{layer}.feed_forward"
    given = norm_of(step, found)
    wide = found.out[f"{name}.widen"][0, place]
    narrow: Any = found.model.get_submodule(f"{name}.narrow")
    active = F.gelu(wide, **GELU) if of_gpt(found) else wide.relu()
    strengths = active.abs() * narrow.weight.norm(dim=0)
    if step["kind"] == "widen":
        return {"given": found.out[given][0, place], "wide": wide, "active": active, "strengths": strengths}
    return {
        "given": found.given[given][0, place],
        "active": active,
        "strengths": strengths,
        "bias": narrow.bias,
        "more": found.out[f"{name}.narrow"][0, place],
        "result": found.out[layer if of_gpt(found) else f"{layer}.around_feed_forward"][0, place],
    }
