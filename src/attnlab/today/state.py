"""Layers that keep a state in the place of a cache: the delta rule, with gates that each word sets anew."""

from collections.abc import Collection

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.attention import Cache
from attnlab.layers import start
from attnlab.shapes import Keys, Mask, Queries, Values, Vectors
from attnlab.today.model import SwiGLU, Today

REACH = 4  # words that a query, key or value is made of: its own, and three before


def gated_delta(query: Queries, key: Keys, value: Values, kept: Tensor, share: Tensor) -> Tensor:
    """`gated_delta(query, key, value, kept, share)` is what each word finds in the state, (…, T, d_v).

    At each word S ← kept · S, and then S ← S + share · kᵀ(v - k S); its query finds q S. Here all is
    found at once: what a word writes depends on what those before it wrote, a triangle of equations. Both
    kept, how much of the state a word leaves, and share, how much of what is missing it writes, are (…, T).

    >>> query, key = torch.eye(2)[[0, 0, 0]], torch.eye(2)[[0, 1, 0]]
    >>> value, half = torch.tensor([[4.0], [9.0], [6.0]]), torch.full((3,), 0.5)
    >>> gated_delta(query, key, value, kept=torch.ones(3), share=half).tolist()
    [[2.0], [2.0], [4.0]]
    """
    require.same_words(query, key, value)
    logs = kept.log().cumsum(-1)
    # Words still to come are hidden before the power: else it overflows, and gradients are NaN.
    left = (logs[..., :, None] - logs[..., None, :]).tril().exp().tril()  # (…, T, T)
    others = (share[..., None] * left * (key @ key.mT)).tril(-1)  # what a word finds of what they wrote
    written = torch.linalg.solve_triangular(
        others + torch.eye(key.shape[-2], device=key.device), share[..., None] * value, upper=False
    )  # (…, T, d_v)
    found: Tensor = (left * (query @ key.mT)) @ written
    return found


class State(nn.Module):
    """`State(d_model=96, heads=6)` stands where attention stood: a head keeps 16 × 16 numbers, and no keys.

    Each word sets its gates. A query, key or value may be mixed from the last four words: so what is written
    under one word's key can be the word that came behind it.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        require.divisor(heads, d_model)
        self.heads = heads
        self.query, self.key, self.value, self.write = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )
        self.gates = nn.Linear(d_model, 2 * heads)
        self.near = nn.Parameter(torch.zeros(3 * d_model, REACH))
        # Before anything is learned, the first head keeps 0.73 of its state at a word, the last one 0.993.
        self.slow = torch.linspace(1, 5, heads)

    def forward(
        self, inputs: Vectors, angles: Tensor | None = None, visible: Mask | None = None,
        cache: Cache | None = None,
    ) -> Vectors:  # fmt: skip
        """`state(inputs)` is (B, T, d_model), of whole texts. Angles it needs none: what fades is far."""
        if visible is not None or cache is not None:
            raise ValueError("visible and cache must be None: a state has read all before, and keeps no keys")
        made = torch.cat([self.query(inputs), self.key(inputs), self.value(inputs)], -1).mT
        mixed = F.conv1d(F.pad(made, (REACH - 1, 0)), self.near[:, None], groups=len(self.near))
        query, key, value = (
            each.reshape(*inputs.shape[:2], self.heads, -1).transpose(1, 2)  # (B, heads, T, d_k)
            for each in (made + mixed).mT.chunk(3, -1)
        )
        query, key = (F.normalize(F.silu(each), dim=-1) for each in (query, key))
        kept, share = self.gates(inputs).mT.chunk(2, 1)  # (B, heads, T) each
        kept = (kept + self.slow.to(kept.device)[:, None]).sigmoid()
        found = gated_delta(query, key, value, kept, share.sigmoid())
        return self.write(found.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def with_states(model: Today, layers: Collection[int], heads: int, hidden: int, spread: float) -> Today:
    """`with_states(model, (0, 1), heads=6, hidden=269, spread=0.06)` has states in these, and starts anew.

    Beside a state a block's network is as wide as hidden says.
    """
    d_model = model.pieces.weight.shape[1]
    for block in (model.blocks[layer] for layer in layers):
        block.attention = State(d_model, heads)
        block.network = SwiGLU(d_model, hidden)
    start(model, spread, len(model.blocks))
    return model
