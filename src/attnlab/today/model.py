"""The block that most open models are made of today, as in Llama, with its cache."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.attention import Cache
from attnlab.layers import RMSNorm, start
from attnlab.masks import causal, for_heads
from attnlab.shapes import Keys, Mask, Queries, Vectors


def turned(vectors: Queries | Keys, angles: Tensor) -> Tensor:
    """`turned(query, angles)` turns columns i and i + d_k/2 of (…, T, d_k) by angles (…, T, d_k/2)."""
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    x, y = vectors.chunk(2, dim=-1)  # (…, T, d_k/2) each
    return torch.cat([x * cos - y * sin, y * cos + x * sin], dim=-1)


class GroupedAttention(nn.Module):
    """`GroupedAttention(d_model=96, heads=6, groups=2)`: three heads each share their keys and values."""

    def __init__(self, d_model: int, heads: int, groups: int) -> None:
        super().__init__()
        require.groups(groups, heads, d_model)
        self.heads, self.groups, d_k = heads, groups, d_model // heads
        self.query, self.write = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(d_model, groups * d_k, bias=False) for _ in range(2))

    def forward(self, inputs: Vectors, angles: Tensor, visible: Mask | None, cache: Cache | None) -> Vectors:
        """`attention(inputs, angles, visible, cache)` is (B, T, d_model); no mask means: all before it."""
        query = turned(self.split(self.query(inputs), self.heads), angles)  # (B, heads, T, d_k)
        key = turned(self.split(self.key(inputs), self.groups), angles)  # (B, groups, T, d_k)
        value = self.split(self.value(inputs), self.groups)  # (B, groups, T, d_k)
        if cache is not None:
            key, value = cache.extended(key, value)  # (B, groups, all so far, d_k), turned already
        mask = None if visible is None else for_heads(visible)
        found = F.scaled_dot_product_attention(
            query, key, value, mask, is_causal=mask is None, enable_gqa=self.groups < self.heads
        )
        return self.write(found.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def split(self, vectors: Vectors, heads: int) -> Tensor:
        """`attention.split(vectors, heads)` makes (B, heads, T, d_k) of (B, T, heads · d_k)."""
        return vectors.view(*vectors.shape[:2], heads, -1).transpose(1, 2)


class SwiGLU(nn.Module):
    """`SwiGLU(d_model=96, hidden=256)`: one matrix says what, another how much of it goes on."""

    def __init__(self, d_model: int, hidden: int) -> None:
        super().__init__()
        self.gate, self.widen = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.narrow = nn.Linear(hidden, d_model, bias=False)

    def forward(self, inputs: Vectors) -> Vectors:
        """`network(inputs)` has the shape of inputs, (…, d_model)."""
        return self.narrow(F.silu(self.gate(inputs)) * self.widen(inputs))  # type: ignore[no-any-return]


class Block(nn.Module):
    """`Block(d_model=96, heads=6, groups=2, hidden=256)` reads the stream twice, and adds to it twice."""

    def __init__(self, d_model: int, heads: int, groups: int, hidden: int) -> None:
        super().__init__()
        self.before_attention, self.before_network = RMSNorm(d_model), RMSNorm(d_model)
        self.attention, self.network = GroupedAttention(d_model, heads, groups), SwiGLU(d_model, hidden)

    def forward(self, stream: Vectors, angles: Tensor, visible: Mask | None, cache: Cache | None) -> Vectors:
        """`block(stream, angles, visible, cache)` has the shape of stream, (B, T, d_model)."""
        stream = stream + self.attention(self.before_attention(stream), angles, visible, cache)
        return stream + self.network(self.before_network(stream))  # type: ignore[no-any-return]


class Today(nn.Module):
    """`Today(2048, d_model=96, heads=6, groups=2, hidden=256, layers=3, longest=128)(ids)` are logits."""

    def __init__(
        self, vocabulary: int, d_model: int, heads: int, groups: int, hidden: int, layers: int, longest: int,
        tied: bool = True, base: float = 10000.0, spread: float = 0.02,
    ) -> None:  # fmt: skip
        super().__init__()
        require.at_least(1, vocabulary=vocabulary, hidden=hidden, layers=layers, longest=longest)
        self.pieces, self.longest = nn.Embedding(vocabulary, d_model), longest
        self.blocks = nn.ModuleList(Block(d_model, heads, groups, hidden) for _ in range(layers))
        self.norm = RMSNorm(d_model)
        self.next = None if tied else nn.Linear(d_model, vocabulary, bias=False)
        d_k = d_model // heads
        # Radians a place, (d_k/2,). No buffer: `model.bfloat16()` would round it to 3 digits. Numbers also
        # where weights are to come from a file, and have none yet.
        self.frequencies = base ** (-torch.arange(0, d_k, 2, device="cpu") / d_k)
        start(self, spread, layers)

    def forward(
        self, ids: Tensor, caches: list[Cache] | None = None, visible: Mask | None = None,
        places: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """`model(ids, caches)` goes on behind what caches hold, `[Cache() for _ in model.blocks]` at first.

        `visible` (B or 1, T, all so far) says what each may see, `places` (B or 1, T) where each stands.
        """
        before = 0 if caches is None else caches[0].length
        if places is None:
            places = torch.arange(before, before + ids.shape[-1], device=ids.device)[None]  # (1, T)
        require.ids(ids, len(self.pieces.weight), self.longest)
        require.places(places, ids, self.longest)
        if visible is None and before:  # is_causal would line up the first query with the first key
            visible = causal(ids.shape[1], before + ids.shape[1], ids.device)
        angles = (places[..., None] * self.frequencies.to(ids.device))[:, None]  # (B or 1, 1, T, d_k/2)
        stream = self.pieces(ids)  # (B, T, d_model)
        of_blocks = [None] * len(self.blocks) if caches is None else caches
        for block, cache in zip(self.blocks, of_blocks, strict=True):
            stream = block(stream, angles, visible, cache)
        return F.linear(self.norm(stream), (self.next or self.pieces).weight)  # (B, T, vocabulary)
