"""The small GPT that every patient was before it fell ill: a letter in, the chances of the next one out."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.layers import start

D_MODEL, HEADS, LAYERS, CONTEXT = 48, 3, 2, 128


class Attention(nn.Module):
    """`Attention()(stream)` has the shape of stream, (B, T, d_model); no place sees a later one."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(D_MODEL, 3 * D_MODEL)
        self.write = nn.Linear(D_MODEL, D_MODEL)

    def forward(self, inputs: Tensor, cache: Cache | None = None) -> Tensor:
        """`attention(stream, cache)` also sees what the cache remembers, and adds to it."""
        parts = self.project(inputs).unflatten(-1, (3, HEADS, -1))  # (B, T, 3, heads, d_k)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (B, heads, T, d_k) each
        if cache is not None:
            key, value = cache.extended(key, value)  # (B, heads, m, d_k)
        found = self.weights(self.scores(query, key)) @ value  # (B, heads, T, d_k)
        mixed: Tensor = self.write(found.transpose(1, 2).flatten(2))  # (B, T, d_model)
        return mixed

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """`attention.scores(query, key)` are (B, heads, T, m)."""
        scores: Tensor = query @ key.mT / math.sqrt(query.shape[-1])
        return scores

    def weights(self, scores: Tensor) -> Tensor:
        """`attention.weights(scores)` sum to 1 over what each place may see."""
        before = scores.shape[-1] - scores.shape[-2]  # places that came from a cache
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 1)
        return scores.masked_fill(later, -math.inf).softmax(dim=-1)


class Block(nn.Module):
    """`Block(Attention())(stream)` reads the stream twice, and adds to it twice."""

    def __init__(self, attention: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(D_MODEL)
        self.attention = attention
        self.before_network = nn.LayerNorm(D_MODEL)
        self.widen = nn.Linear(D_MODEL, 4 * D_MODEL)
        self.narrow = nn.Linear(4 * D_MODEL, D_MODEL)
        self.dropout = nn.Dropout(dropout)

    def forward(self, stream: Tensor, cache: Cache | None = None) -> Tensor:
        """`block(stream, cache)` has the shape of stream, (B, T, d_model)."""
        stream = stream + self.dropout(self.attention(self.before_attention(stream), cache))
        wide = F.gelu(self.widen(self.before_network(stream)))  # (B, T, 4 · d_model)
        return stream + self.dropout(self.narrow(wide))  # type: ignore[no-any-return]


class Writer(nn.Module):
    """`Writer(letters=97)(ids)` are logits (B, T, 97) for the letter after each of ids (B, T)."""

    def __init__(self, letters: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, D_MODEL)
        self.places = nn.Embedding(CONTEXT, D_MODEL)
        self.blocks = self.stack(dropout)
        self.norm = nn.LayerNorm(D_MODEL)
        self.start()

    def stack(self, dropout: float) -> nn.ModuleList:
        """`model.stack(0.0)` are new blocks, one above the other."""
        return nn.ModuleList(Block(self.attention(), dropout) for _ in range(LAYERS))

    def attention(self) -> nn.Module:
        """`model.attention()` is a new one, for a block."""
        return Attention()

    def start(self) -> None:
        """`model.start()` draws all weights anew, with a spread of 0.1."""
        start(self, 0.1, LAYERS)

    def caches(self) -> list[Cache]:
        """`model.caches()` are empty, one for each block."""
        return [Cache() for _ in self.blocks]

    def forward(self, ids: Tensor, caches: list[Cache] | None = None) -> Tensor:
        """`model(ids, caches)` goes on behind what the caches remember, and remembers ids, too."""
        stream = self.letters(ids) + self.places(self.numbers(ids, caches))  # (B, T, d_model)
        for number, block in enumerate(self.blocks):
            stream = block(stream, None if caches is None else caches[number])
        return F.linear(self.norm(stream), self.letters.weight)  # (B, T, letters)

    def numbers(self, ids: Tensor, caches: list[Cache] | None) -> Tensor:
        """`model.numbers(ids, caches)` are the places at which ids stand, (T,)."""
        before = 0 if caches is None else caches[0].length
        return torch.arange(before, before + ids.shape[1])


def written(model: Writer, ids: Tensor, count: int, cached: bool = True) -> Tensor:
    """`written(model, ids, 40)` goes on with ids (B, T) by the 40 likeliest letters, (B, T + 40)."""
    caches, new = model.caches() if cached else None, ids
    with torch.no_grad():
        for _ in range(count):
            logits = model(new, caches) if cached else model(ids)
            new = logits[:, -1:].argmax(-1)  # (B, 1)
            ids = torch.cat([ids, new], dim=1)
    return ids
