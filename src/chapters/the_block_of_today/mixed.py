"""A decoder in which each change from the block of 2017 to that of today can be made alone."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.layers import LayerNorm, RMSNorm, start
from attnlab.positions import sinusoidal
from attnlab.shapes import Vectors
from attnlab.today.model import turned

LONGEST = 128


class Kind(NamedTuple):
    """`Kind()` is the block of 2017, `Kind(rotary=True)` has one change, `TODAY` has them all."""

    norm_first: bool = False
    rms: bool = False
    gated: bool = False
    rotary: bool = False
    grouped: bool = False
    biased: bool = True
    tied: bool = True


# What today's models agree on. Whether the table is tied, they don't.
TODAY = Kind(norm_first=True, rms=True, gated=True, rotary=True, grouped=True, biased=False)
KINDS = {
    "2017": Kind(),
    "norm first": Kind(norm_first=True),
    "RMSNorm": Kind(rms=True),
    "SwiGLU": Kind(gated=True),
    "rotary": Kind(rotary=True),
    "2 groups": Kind(grouped=True),
    "no biases": Kind(biased=False),
    "untied": Kind(tied=False),
    "today": TODAY,
    "today, norm behind": TODAY._replace(norm_first=False),
    "today, untied": TODAY._replace(tied=False),
}


def normed(d_model: int, kind: Kind) -> nn.Module:
    """`normed(96, Kind(rms=True))` is an RMSNorm, which has no bias that one could leave out."""
    norm = RMSNorm(d_model) if kind.rms else LayerNorm(d_model)
    if isinstance(norm, LayerNorm):
        norm.bias.requires_grad_(kind.biased)  # one that stays 0 is none
    return norm


class Attention(nn.Module):
    """`Attention(96, heads=6, kind=TODAY)(inputs, angles)` is (B, T, d_model); no place sees a later one."""

    def __init__(self, d_model: int, heads: int, kind: Kind) -> None:
        super().__init__()
        self.kind, self.d_k = kind, d_model // heads
        narrow = self.d_k * (2 if kind.grouped else heads)
        self.query, self.write = (nn.Linear(d_model, d_model, kind.biased) for _ in range(2))
        self.key, self.value = (nn.Linear(d_model, narrow, kind.biased) for _ in range(2))

    def forward(self, inputs: Vectors, angles: Tensor) -> Vectors:
        """`attention(inputs, angles)` uses the angles (T, d_k/2) only if it is rotary."""
        query, key, value = (
            layer(inputs).unflatten(-1, (-1, self.d_k)).transpose(1, 2)  # (B, heads or groups, T, d_k)
            for layer in (self.query, self.key, self.value)
        )
        if self.kind.rotary:
            query, key = turned(query, angles), turned(key, angles)
        found = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=self.kind.grouped
        )
        return self.write(found.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class Network(nn.Module):
    """`Network(96, hidden=384, kind=Kind())` drops what is negative; a gated one lets through a share."""

    def __init__(self, d_model: int, hidden: int, kind: Kind) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, hidden, kind.biased) if kind.gated else None
        self.widen = nn.Linear(d_model, hidden, kind.biased)
        self.narrow = nn.Linear(hidden, d_model, kind.biased)

    def forward(self, inputs: Vectors) -> Vectors:
        """`network(inputs)` has the shape of inputs, (…, d_model)."""
        wide = self.widen(inputs)  # (…, hidden)
        wide = F.silu(self.gate(inputs)) * wide if self.gate else wide.relu()
        return self.narrow(wide)  # type: ignore[no-any-return]


class Block(nn.Module):
    """`Block(96, heads=6, hidden=384, kind=Kind())` reads the stream twice, and adds to it twice."""

    def __init__(self, d_model: int, heads: int, hidden: int, kind: Kind) -> None:
        super().__init__()
        self.norm_first = kind.norm_first
        self.before_attention, self.before_network = normed(d_model, kind), normed(d_model, kind)
        self.attention, self.network = Attention(d_model, heads, kind), Network(d_model, hidden, kind)

    def forward(self, stream: Vectors, angles: Tensor) -> Vectors:
        """`block(stream, angles)` has the shape of stream, (B, T, d_model)."""
        if self.norm_first:
            stream = stream + self.attention(self.before_attention(stream), angles)
            return stream + self.network(self.before_network(stream))  # type: ignore[no-any-return]
        stream = self.before_attention(stream + self.attention(stream, angles))  # in 2017 it came behind
        return self.before_network(stream + self.network(stream))  # type: ignore[no-any-return]


class Mixed(nn.Module):
    """`Mixed(2048, d_model=96, heads=6, hidden=384, layers=3, kind=Kind())(ids)` are logits (B, T, 2048)."""

    def __init__(
        self, vocabulary: int, d_model: int, heads: int, hidden: int, layers: int, kind: Kind, spread: float
    ) -> None:
        super().__init__()
        self.kind, self.pieces = kind, nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(Block(d_model, heads, hidden, kind) for _ in range(layers))
        self.norm = normed(d_model, kind) if kind.norm_first else nn.Identity()
        self.next = None if kind.tied else nn.Linear(d_model, vocabulary, bias=False)
        d_k = d_model // heads
        frequencies = 10000.0 ** (-torch.arange(0, d_k, 2) / d_k)  # radians a place, (d_k/2,)
        self.angles = torch.arange(LONGEST)[:, None] * frequencies  # (LONGEST, d_k/2)
        self.table = sinusoidal(LONGEST, d_model)
        start(self, spread, layers)

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` turns queries and keys by where they stand, or adds the table of 2017."""
        stream, length = self.pieces(ids), ids.shape[1]  # (B, T, d_model)
        if not self.kind.rotary:
            stream = stream * math.sqrt(stream.shape[-1]) + self.table[:length].to(ids.device)
        angles = self.angles[:length].to(ids.device)  # (T, d_k/2)
        for block in self.blocks:
            stream = block(stream, angles)
        return F.linear(self.norm(stream), (self.next or self.pieces).weight)  # (B, T, vocabulary)


def weights_in(model: nn.Module) -> int:
    """`weights_in(model)` is how many numbers can learn."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def fitted(kind: Kind, vocabulary: int, d_model: int, heads: int, layers: int, spread: float) -> Mixed:
    """`fitted(kind, 2048, 96, 6, 3, 0.06)` is as wide inside as gives it the weights of 2017's, about."""

    def of(kind: Kind, hidden: int) -> Mixed:
        return Mixed(vocabulary, d_model, heads, hidden, layers, kind, spread)

    wanted, narrow, wider = (
        weights_in(of(some, hidden)) for some, hidden in ((Kind(), 4 * d_model), (kind, 1), (kind, 2))
    )
    return of(kind, 1 + round((wanted - narrow) / (wider - narrow)))
