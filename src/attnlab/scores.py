"""How well a query matches a key: five scores, each from (…, n, d) and (…, m, d) to (…, n, m)."""

import math
from functools import partial
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attnlab import require
from attnlab.shapes import Keys, Queries, Scores

Chunk: TypeAlias = int | Literal["auto"] | None

# The lean additive score holds about this many hidden numbers at a time: 1 MB in float32, which stays in a
# core's own cache while it is written, squashed and summed.
CHUNK_ELEMENTS = 2**18


def dot(query: Queries, key: Keys) -> Scores:
    """`dot(query, key)` multiplies every query by every key: (…, n, d_k) and (…, m, d_k) give (…, n, m).

    >>> dot(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[11.0, 17.0]]
    """
    require.matching(query, key)
    return query @ key.transpose(-2, -1)  # (…, n, m)


def scaled_dot(query: Queries, key: Keys) -> Scores:
    """`scaled_dot(query, key)` is `dot(query, key)` divided by the root of d_k, here by 2.

    >>> scaled_dot(torch.ones(1, 4), torch.ones(2, 4)).tolist()
    [[2.0, 2.0]]
    """
    # Scaling the queries is n·d_k divisions in place of n·m, and keeps float16 scores in range.
    return dot(query / math.sqrt(query.shape[-1]), key)


def general(query: Queries, key: Keys, weight: Tensor) -> Scores:
    """`general(query, key, weight)` is Luong's queryᵀ W key, so that query and key may differ in width.

    >>> query, key = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0, 3.0]])
    >>> general(query, key, torch.ones(2, 3)).tolist()
    [[12.0]]
    """
    require.leading_axes(query=query, key=key)
    require.axes("weight", weight, d_query=query.shape[-1], d_key=key.shape[-1])
    return dot(query @ weight, key)  # (…, n, d_query) @ (d_query, d_key), then (…, n, m)


def concat(query: Queries, key: Keys, weight: Tensor, vector: Tensor) -> Scores:
    """`concat(query, key, weight, vector)` is Luong's vᵀ tanh(W [query; key]), one W for the two end to end.

    The left columns of W meet only the query and the right ones only the key: this is the additive score with
    its two matrices side by side, and nothing has to be concatenated.

    >>> query, key = torch.tensor([[0.5]]), torch.tensor([[-0.5], [9.5]])
    >>> concat(query, key, torch.ones(1, 2), torch.ones(1)).tolist()
    [[0.0, 1.0]]
    """
    require.leading_axes(query=query, key=key)
    d_query, d_key = query.shape[-1], key.shape[-1]
    require.axes("weight", weight, hidden=vector.numel(), d_query_and_d_key=d_query + d_key)
    return additive(query, key, weight[:, :d_query], weight[:, d_query:], vector)


def additive(
    query: Queries, key: Keys, query_weight: Tensor, key_weight: Tensor, vector: Tensor, chunk: Chunk = None
) -> Scores:
    """`additive(query, key, query_weight, key_weight, vector)` is Bahdanau's vᵀ tanh(W query + U key).

    W is (hidden, d_query), U is (hidden, d_key) and v is (hidden,). By default the whole (…, n, m, hidden)
    tensor is built. With chunk=16 it is built for 16 queries at a time, and again on the way back, which
    gives the same scores and gradients in far less memory; chunk="auto" chooses the number. The way back
    through chunks is closed to vmap, and so to `ManySeeds`.

    >>> query, key = torch.tensor([[0.5]]), torch.tensor([[-0.5], [9.5]])
    >>> one = torch.ones(1, 1)
    >>> additive(query, key, one, one, torch.ones(1)).tolist()
    [[0.0, 1.0]]
    """
    leading = require.leading_axes(query=query, key=key)
    hidden = vector.numel()
    require.axes("vector", vector, hidden=hidden)
    require.axes("query_weight", query_weight, hidden=hidden, d_query=query.shape[-1])
    require.axes("key_weight", key_weight, hidden=hidden, d_key=key.shape[-1])
    require.chunk(chunk)
    query = query @ query_weight.T  # (…, n, hidden)
    key = key @ key_weight.T  # (…, m, hidden)
    if chunk is None:
        return _pair_by_pair(query, key, vector)  # (…, n, m)
    if chunk == "auto":
        elements = leading.numel() * key.shape[-2] * hidden  # for one query of each example
        # Without keys there is nothing to divide by, and nothing to hold.
        chunk = max(1, CHUNK_ELEMENTS // max(1, elements))
    # Each call keeps its inputs alone, and computes the rest again on the way back. Nothing in it is random.
    lean = partial(checkpoint, _pair_by_pair, use_reentrant=False, preserve_rng_state=False)
    return torch.cat([lean(some, key, vector) for some in torch.split(query, chunk, dim=-2)], dim=-2)


def _pair_by_pair(query: Tensor, key: Tensor, vector: Tensor) -> Scores:
    """`_pair_by_pair(query, key, vector)` is vᵀ tanh(query + key): (…, n, h) and (…, m, h) to (…, n, m)."""
    # In place: the sum is not needed again, and a second tensor of this size would double the peak.
    hidden = (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh_()  # (…, n, m, h)
    return hidden @ vector


class General(nn.Module):
    """`General(d_query=2, d_key=3)` holds the (2, 3) matrix of `general`."""

    def __init__(self, d_query: int, d_key: int) -> None:
        super().__init__()
        self.weight = _drawn_as_linear(d_query, d_key)

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`General(2, 3)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return general(query, key, self.weight)


class Concat(nn.Module):
    """`Concat(d_query=2, d_key=3, hidden=8)` holds the (8, 5) matrix and the vector of `concat`."""

    def __init__(self, d_query: int, d_key: int, hidden: int) -> None:
        super().__init__()
        self.weight = _drawn_as_linear(hidden, d_query + d_key)
        self.vector = _drawn_as_linear(hidden)

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`Concat(2, 3, 8)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return concat(query, key, self.weight, self.vector)


class Additive(nn.Module):
    """`Additive(d_query=2, d_key=3, hidden=8)` holds the two matrices and the vector of `additive`."""

    def __init__(self, d_query: int, d_key: int, hidden: int, chunk: Chunk = None) -> None:
        super().__init__()
        self.query_weight = _drawn_as_linear(hidden, d_query)
        self.key_weight = _drawn_as_linear(hidden, d_key)
        self.vector = _drawn_as_linear(hidden)
        self.chunk = chunk

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`Additive(2, 3, 8)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return additive(query, key, self.query_weight, self.key_weight, self.vector, self.chunk)


def _drawn_as_linear(*shape: int) -> nn.Parameter:
    """`_drawn_as_linear(8, 4)` lies between -1/2 and 1/2, as nn.Linear draws what reads 4 numbers."""
    bound = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
