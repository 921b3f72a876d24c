"""The numbers of each step of book/_static/bench/steps.js, of what PyTorch's modules gave on the way."""

import math
from typing import Any

import torch
from script_and_pytorch import Trace
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.transformer import GPT

Numbers = dict[str, Tensor]
LAYERS = {"read": "encoder", "written": "decoder", "text": "layers"}
PARTS = ("self_attention", "feed_forward")
PARTS_OF = {"read": PARTS, "written": ("self_attention", "cross_attention", "feed_forward"), "text": PARTS}
ENDS = {"read": "encoder_norm", "written": "decoder_norm", "text": "norm"}


class Way:
    """One word's way through a stack: `model` is changed as the run was, `traces` are what it gave."""

    def __init__(self, model: nn.Module, traces: dict[str, Trace], stack: str, place: int) -> None:
        self.model, self.traces, self.stack, self.place = model, traces, stack, place
        self.trace = traces[stack]
        self.of_gpt = isinstance(model, GPT)
        self.layers = "blocks" if self.of_gpt else LAYERS[stack]

    def at(self, name: str) -> Tensor:
        return self.trace[name][0, self.place]

    def weight(self, name: str) -> Tensor:
        return self.model.get_parameter(name).detach()

    # ---- names ----

    def names(self, layer: int, part: int) -> dict[str, str]:
        """Of a part of a layer: its module, its norm, the last of its modules, and the stream behind it."""
        prefix = f"{self.layers}.{layer}"
        if self.of_gpt:
            attention = {"part": f"{prefix}.attention", "output": f"{prefix}.attention.write"}
            network = {"part": prefix, "output": f"{prefix}.narrow", "after": prefix}
            norms = [f"{prefix}.before_attention", f"{prefix}.before_network"]
            return [attention | {"after": f"{prefix}.after_attention"}, network][part] | {"norm": norms[part]}
        kind = PARTS_OF[self.stack][part]
        around = f"{prefix}.around_{kind}"
        last = "narrow" if kind == "feed_forward" else "out_proj"
        module = f"{prefix}.{kind}"
        return {"part": module, "norm": f"{around}.norm", "output": f"{module}.{last}", "after": around}

    def stream(self, layer: int | None, part: int | None) -> Tensor:
        """What this part is given, or what the last norm is."""
        if layer is None:
            return self.at(f"{self.layers}.{len(self.model.get_submodule(self.layers)) - 1}")
        if part:
            return self.at(self.names(layer, part - 1)["after"])
        return self.at(f"{self.layers}.{layer - 1}" if layer else "positions")

    # ---- numbers ----

    def numbers(self, step: dict[str, Any]) -> Numbers:
        kind, layer, part = (step[name] for name in ("kind", "layer", "part"))
        if kind in ("embedding", "positions"):
            return self.goes_in(kind)
        norm = ENDS[self.stack] if layer is None else self.names(layer, part)["norm"]
        if kind == "norm":
            return self.normed(norm, self.stream(layer, part))
        if kind in ("logits", "chances"):
            logits = self.at("logits" if self.of_gpt else "word")
            return {"logits": logits} | (
                {"given": self.at(norm)} if kind == "logits" else {"chances": logits.softmax(-1)}
            )
        names, stream = self.names(layer, part), self.stream(layer, part)
        if kind in ("widen", "narrow"):
            return self.network(kind, names, stream)
        return self.attention(names, stream, step["head"], step["key"])[kind]

    def goes_in(self, kind: str) -> Numbers:
        name = "pieces" if self.of_gpt else {"text": "embedding"}.get(self.stack, self.stack)
        result, position = self.at(name), self.at("positions")
        if kind == "positions":
            return {"given": result, "position": position - result, "result": position}
        return {"row": result / (1 if self.of_gpt else math.sqrt(len(result))), "result": result}

    def normed(self, name: str, given: Tensor) -> Numbers:
        deviation = (given.var(unbiased=False) + 1e-5).sqrt()
        return {
            "given": given,
            "mean": given.mean(),
            "deviation": deviation,
            "normal": (given - given.mean()) / deviation,
            "gain": self.weight(f"{name}.weight"),
            "bias": self.weight(f"{name}.bias"),
            "result": self.at(name),
        }

    def attention(self, names: dict[str, str], stream: Tensor, head: int, key: int) -> dict[str, Numbers]:
        part, given = names["part"], self.trace[names["norm"]][0]
        memory = self.traces["read"]["encoder_norm"][0] if part.endswith("cross_attention") else given
        heads = self.model.get_submodule(part).heads
        d_k = given.shape[-1] // heads
        share = slice(head * d_k, (head + 1) * d_k)
        queries, keys, values = (self.trace[f"{part}.{each}"][0] for each in ("queries", "keys", "values"))
        query, keys, values = queries[self.place, share], keys[:, share], values[:, share]
        weights, mixed = self.trace[f"{part}.weights"][0, head, self.place], self.at(f"{part}.mixed")
        products, scale = query * keys[key], math.sqrt(d_k)
        columns = self.weight(f"{names['output']}.weight").unflatten(1, (heads, d_k))  # (d_model, heads, d_k)
        scored = {"products": products, "sum": products.sum(), "divisor": torch.tensor(scale)}
        return {
            "query": {"given": given[self.place], "query": query, "other": memory[key], "key": keys[key]},
            "score": {"query": query, "key": keys[key], "score": products.sum() / scale} | scored,
            "softmax": {"scores": keys @ query / scale, "visible": (weights > 0).float(), "weights": weights},
            "mix": {"weights": weights, "values": values, "mix": mixed[share]},
            "output": {
                "given": stream,
                "heads": torch.einsum("dhk,hk->hd", columns, mixed.unflatten(0, (heads, d_k))),
                "bias": self.weight(f"{names['output']}.bias"),
                "more": self.at(names["output"]),
                "result": self.at(names["after"]),
            },
        }

    def network(self, kind: str, names: dict[str, str], stream: Tensor) -> Numbers:
        wide = self.at(f"{names['part']}.widen")
        active = F.gelu(wide, approximate="tanh") if self.of_gpt else wide.relu()
        output = names["output"]
        shared = {"active": active, "strengths": active.abs() * self.weight(f"{output}.weight").norm(dim=0)}
        if kind == "widen":
            return {"given": self.at(names["norm"]), "wide": wide} | shared
        added = {"bias": self.weight(f"{output}.bias"), "more": self.at(output)}
        return {"given": stream, "result": self.at(names["after"])} | added | shared
