"""The whole model in parts, each of which can be mistaken."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Part
from bookkit.checking.mistakes.causal import causal_weights
from bookkit.checking.mistakes.norms import normed
from bookkit.checking.mistakes.wirings import wired
from chapters.the_transformer.exercises.filled import _WIDTH
from chapters.the_transformer.exercises.language_model_parts import _LINEARS

_NORMS = ("norm_1", "norm_2")


class _Block(nn.Module):
    """What one layer is made of."""

    def __init__(self, d_model: int, hidden: int) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in _LINEARS)
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model) for _ in _NORMS)
        self.widen, self.narrow = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)


def _looked_up(model: Any, words: Tensor) -> Tensor:
    return model.embedding(words) * math.sqrt(_WIDTH)  # type: ignore[no-any-return]


def _table(length: int, exponents: Tensor | None = None, start: int = 0, base: float = 10000.0) -> Tensor:
    """Angles, (length, pairs): of each position with each pair's frequency."""
    pairs = torch.arange(0, _WIDTH, 2, device="cpu") / _WIDTH if exponents is None else exponents
    positions = torch.arange(start, start + length, device="cpu")[:, None]
    return positions / base**pairs


def _woven(evens: Tensor, odds: Tensor) -> Tensor:
    return torch.stack([evens, odds], dim=-1).flatten(-2)


def _placed(length: int) -> Tensor:
    angles = _table(length)
    return _woven(angles.sin(), angles.cos())


def _fed(layer: Any, x: Tensor) -> Tensor:
    return layer.narrow(layer.widen(x).relu())  # type: ignore[no-any-return]


def _written_onto(x: Tensor, attend: Part, feed: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x += attend(norm_1(x))
    x += feed(norm_2(x))
    return x


def _projected(layer: Any, x: Tensor) -> tuple[Tensor, ...]:
    return layer.W_Q(x), layer.W_K(x), layer.W_V(x)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)  # (B, heads, T, d_k)


class _Model(nn.Module):
    """The whole model in parts, each of which can be mistaken."""

    def __init__(
        self,
        words: int,
        d_model: int,
        heads: int,
        hidden: int,
        layers: int,
        *,
        hold: Part = nn.ModuleList,
        keep: Part = lambda model: None,
        embed: Part = _looked_up,
        table: Part = _placed,
        place: Part = lambda vectors, table: vectors + table,
        go: Part = list,
        wire: Part = wired,
        norm: Part = normed,
        project: Part = _projected,
        split: Part = _split,
        divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
        weigh: Part = causal_weights,
        join: Part = lambda found: found.transpose(1, 2).flatten(2),
        finish: Part = lambda layer, joined: layer.W_O(joined),
        feed: Part = _fed,
        end: Part = lambda model, x, norm: model.word(norm(x)),
        answer: Part = lambda logits: logits,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(words, d_model)
        self.layers = hold(_Block(d_model, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.word = nn.Linear(d_model, words)
        self.parts = embed, table, place, go, wire, norm, feed, end, answer
        self.parts_of_attention = project, split, divisor, weigh, join, finish
        keep(self)

    def forward(self, words: Tensor) -> Any:
        embed, table, place, go, wire, norm, feed, end, answer = self.parts
        x = place(embed(self, words), table(words.shape[1]))  # (B, T, d_model)
        for layer in go(self.layers):
            x = wire(
                x,
                partial(self._attend, layer),
                partial(feed, layer),
                *(partial(norm, norm=getattr(layer, name)) for name in _NORMS),
            )
        return answer(end(self, x, partial(norm, norm=self.norm)))

    def _attend(self, layer: _Block, x: Tensor) -> Tensor:
        project, split, divisor, weigh, join, finish = self.parts_of_attention
        query, key, value = (split(part, self.heads) for part in project(layer, x))
        weights = weigh(query @ key.mT / divisor(query, key))
        return finish(layer, join(weights @ value))  # type: ignore[no-any-return]
