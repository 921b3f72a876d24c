"""The small decoder that each of the eight patients has, with the habits that it may have fallen into."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.runtime import generator

D_MODEL, HEADS, BLOCKS, LONGEST = 32, 2, 2, 32
SPREAD, DROPOUT = 0.1, 0.1


@dataclass(frozen=True)
class Habits:
    """`Habits()` are those of somebody healthy: each is a way to do one thing otherwise."""

    mask_late: bool = False
    norm_on_stream: bool = False
    places_anew: bool = False
    one_unlisted: bool = False
    dropout_always: bool = False
    times_larger: float = 1.0
    padding_counts: bool = False
    parts_alike: bool = False


class Scores(nn.Module):
    """`Scores()(query, key)` are (B, heads, n, m)."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """`scores(query, key)` are products of (B, heads, n, d_k) and (B, heads, m, d_k)."""
        return query @ key.mT / math.sqrt(query.shape[-1])


class Look(nn.Module):
    """`Look(late=False)(scores)` are the weights, (B, heads, n, m)."""

    def __init__(self, late: bool) -> None:
        super().__init__()
        self._late = late

    def forward(self, scores: Tensor) -> Tensor:
        """`look(scores)` has the shape of scores."""
        rows, columns = scores.shape[-2:]
        seen = torch.ones(rows, columns, dtype=torch.bool, device=scores.device).tril(columns - rows)
        if self._late:
            return scores.softmax(-1) * seen
        return scores.masked_fill(~seen, -math.inf).softmax(-1)


class Drop(nn.Module):
    """`Drop(0.1)(stream)` is dropout; `drop.p = 0` switches it off."""

    def __init__(self, p: float, always: bool = False) -> None:
        super().__init__()
        self.p, self._always = p, always

    def forward(self, inputs: Tensor) -> Tensor:
        """`drop(stream)` has the shape of stream."""
        return F.dropout(inputs, self.p, self.training or self._always)

    def extra_repr(self) -> str:
        """`drop.extra_repr()` is what it shows of itself."""
        return f"p={self.p}"


class Attention(nn.Module):
    """`Attention(habits)(stream)` has two heads. Hooks on `scores` and `look` show what they give."""

    def __init__(self, habits: Habits) -> None:
        super().__init__()
        self.query, self.key, self.value, self.write = (nn.Linear(D_MODEL, D_MODEL) for _ in range(4))
        self.scores, self.look = Scores(), Look(habits.mask_late)

    def forward(self, inputs: Tensor, cache: Cache | None = None) -> Tensor:
        """`attention(stream, cache)` has the shape of stream, (B, T, d_model)."""
        query, key, value = (
            layer(inputs).unflatten(-1, (HEADS, -1)).transpose(1, 2)  # (B, heads, T, d_k)
            for layer in (self.query, self.key, self.value)
        )
        if cache is not None:
            key, value = cache.extended(key, value)  # (B, heads, m, d_k)
        found = self.look(self.scores(query, key)) @ value  # (B, heads, T, d_k)
        mixed: Tensor = self.write(found.transpose(1, 2).flatten(2))
        return mixed


class Block(nn.Module):
    """`Block(habits)(stream)` is attention and a network of two layers, each with a norm and a dropout."""

    def __init__(self, habits: Habits, unlisted: bool) -> None:
        super().__init__()
        self.before_attention, self.before_network = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.attention = Attention(habits)
        network = nn.Sequential(nn.Linear(D_MODEL, 64), nn.GELU(), nn.Linear(64, D_MODEL))
        if not unlisted:
            self.network = network
        self._steps = [network]  # a list: what stands in it alone is in no parameters()
        self.drop = Drop(DROPOUT, habits.dropout_always)
        self._norm_on_stream = habits.norm_on_stream

    def forward(self, stream: Tensor, cache: Cache | None = None) -> Tensor:
        """`block(stream, cache)` has the shape of stream, (B, T, d_model)."""
        network = self.network if hasattr(self, "network") else self._steps[0]
        if self._norm_on_stream:
            stream = self.before_attention(stream + self.drop(self.attention(stream, cache)))
            return self.before_network(stream + self.drop(network(stream)))  # type: ignore[no-any-return]
        stream = stream + self.drop(self.attention(self.before_attention(stream), cache))
        return stream + self.drop(network(self.before_network(stream)))  # type: ignore[no-any-return]


class Speaker(nn.Module):
    """`Speaker(36, Habits(), seed=0)(ids)` are logits (B, T, 36) for the word after each of ids (B, T)."""

    def __init__(self, words: int, habits: Habits, seed: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, D_MODEL), nn.Embedding(LONGEST, D_MODEL)
        self.blocks = nn.ModuleList(
            Block(habits, habits.one_unlisted and number == BLOCKS - 1) for number in range(BLOCKS)
        )
        self.norm, self.word = nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, words)
        self._places_anew = habits.places_anew
        self._start(generator(seed), SPREAD * habits.times_larger)

    def _start(self, source: torch.Generator, spread: float) -> None:
        unlisted = [block._steps[0] for block in self.blocks if isinstance(block, Block)]
        layers = dict.fromkeys(each for part in (self, *unlisted) for each in part.modules())
        with torch.no_grad():
            for layer in layers:
                if isinstance(layer, (nn.Linear, nn.Embedding)):
                    drawn = torch.randn(layer.weight.shape, generator=source, device="cpu")
                    layer.weight.copy_(spread * drawn)
                if isinstance(layer, nn.Linear):
                    layer.bias.zero_()

    def caches(self) -> list[Cache]:
        """`model.caches()` are empty, one for each block."""
        return [Cache() for _ in self.blocks]

    def forward(self, ids: Tensor, caches: list[Cache] | None = None) -> Tensor:
        """`model(ids, caches)` goes on behind what the caches remember, and remembers ids, too."""
        before = 0 if caches is None or self._places_anew else caches[0].length
        places = torch.arange(before, before + ids.shape[1], device=ids.device)
        stream = self.words(ids) + self.places(places)  # (B, T, d_model)
        for number, block in enumerate(self.blocks):
            stream = block(stream, None if caches is None else caches[number])
        return self.word(self.norm(stream))  # type: ignore[no-any-return]
