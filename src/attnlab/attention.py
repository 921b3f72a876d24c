"""Attention: a mix of the values, weighted by how well a query matches their keys."""

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import require
from attnlab.masks import for_heads
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Mask, Queries, Scores, Values, Vectors, Weights

Score: TypeAlias = Callable[[Queries, Keys], Scores]


def gate(features: Tensor, attention: Tensor) -> Tensor:
    """`gate(features, attention)` lets through, of each feature, the share that its attention says.

    Each share, from 0 to 1, stands alone: unlike the weights of `attend` they need not sum to 1, and nothing
    is mixed.

    >>> gate(torch.tensor([4.0, 2.0]), torch.tensor([0.5, 1.0])).tolist()
    [2.0, 2.0]
    """
    require.same_shape("attention must have the shape of features,", attention, features.shape)
    return attention * features


def attend(
    query: Queries,
    key: Keys,
    value: Values,
    score: Score = scaled_dot,
    mask: Mask | None = None,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Tensor, Weights | None]:
    """`attend(query, key, value)` mixes the values for each query, (…, n, d_v), by weights, (…, n, m).

    >>> query, key, value = torch.tensor([[9.0], [0.0]]), torch.tensor([[9.0], [-9.0]]), torch.eye(2)
    >>> output, weights = attend(query, key, value)
    >>> weights.tolist()
    [[1.0, 0.0], [0.5, 0.5]]

    The mask has as many axes as the scores. A query that may attend to nothing gets zero weights and a zero
    output. What is hidden has a weight of exactly 0, yet must be finite, because 0 · NaN is NaN.

    `dropout` is the share of the weights that is dropped before they mix the values (0 when not training);
    the weights returned are whole. With need_weights=False they are None, and the scaled dot product goes
    through F.scaled_dot_product_attention, whose fused kernels never hold all of them at once.
    """
    require.leading_axes(query=query, key=key, value=value)
    require.axes("value", value, "…", m=key.shape[-2], d_v=None)
    require.dropout(dropout)
    if score is scaled_dot and not need_weights:
        require.axes("key", key, "…", m=None, d_k=query.shape[-1])
        if mask is not None:
            require.mask_fits(mask, _scores_shape(query, key), query.device)
        return _fused(query, key, value, mask, dropout), None
    scores = score(query, key)  # (…, n, m)
    require.same_shape("score must give (…, n, m) =", scores, _scores_shape(query, key))
    weights = masked_softmax(scores, mask)
    del scores  # as large as the weights: freed before the values are mixed
    output = F.dropout(weights, dropout) @ value  # (…, n, d_v)
    return output, weights if need_weights else None


def masked_softmax(scores: Scores, mask: Mask | None = None) -> Weights:
    """`masked_softmax(scores, mask)` sums to 1 over the keys that a query may see, and is 0 on the others.

    >>> mask = torch.tensor([[True, True, False], [False, False, False]])
    >>> masked_softmax(torch.zeros(2, 3), mask).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    if mask is None:
        return scores.softmax(-1)
    require.mask_fits(mask, scores.shape, scores.device)
    # As bytes: to look for True among booleans takes PyTorch as long as the softmax.
    visible = mask.view(torch.uint8).any(-1, keepdim=True).bool()  # (…, n, 1)
    # -inf, because every finite number is too large for some type, or too small for some scores. But a row of
    # nothing else has no softmax (0 / 0), so a query that sees nothing keeps its scores until the end.
    drop = torch.where(visible, -math.inf, 0.0).to(scores.dtype)  # (…, n, 1)
    if mask.shape == scores.shape:
        lowered = torch.where(mask, scores, drop)  # (…, n, m)
    else:  # heads share a mask: what is added is small, and adding is free on the way back
        lowered = scores + torch.where(mask, 0.0, drop)  # (…, n, m)
    return lowered.softmax(-1) * visible.to(scores.dtype)


def _fused(query: Queries, key: Keys, value: Values, mask: Mask | None, dropout: float) -> Tensor:
    # The fused kernels are for four axes. Given three, PyTorch would build all the weights after all.
    if query.dim() == key.dim() == value.dim() == 3:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)  # (B, 1, length, width)
        return _fused(query, key, value, None if mask is None else for_heads(mask), dropout).squeeze(1)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)


class Cache:
    """`cache = Cache()` remembers the keys and values of the words so far, for one attention.

    Under a causal mask a later word changes nothing for those before it, so theirs can be kept.

    >>> cache = Cache()
    >>> for word in torch.randn(3, 1, 2, 1, 4):  # each (B, heads, 1, d_k)
    ...     keys, values = cache.extended(word, word)
    >>> keys.shape, cache.length
    (torch.Size([1, 2, 3, 4]), 3)
    """

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    @property
    def length(self) -> int:
        """`cache.length` is how many words are remembered."""
        return 0 if self.keys is None else self.keys.shape[-2]

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        """`keys, values = cache.extended(keys, values)` are all so far, with these at the end."""
        if self.keys is not None and self.values is not None:
            require.same_rows(keys, self.keys)
            keys = torch.cat([self.keys, keys], dim=-2)  # (B, heads, m, d_k)
            values = torch.cat([self.values, values], dim=-2)  # (B, heads, m, d_v)
        self.keys, self.values = keys, values
        return keys, values

    def cut(self, length: int) -> None:
        """`cache.cut(3)` forgets all words but the first 3, as if the others had never come."""
        require.kept(length, self.length)
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[..., :length, :], self.values[..., :length, :]


class MultiHeadAttention(nn.Module):
    """`MultiHeadAttention(d_model=512, heads=8)` attends in 8 ways at once, each in 64 dimensions of its own.

    Its parameters are named and shaped as in nn.MultiheadAttention, so that each loads the other's
    state_dict: the matrices for queries, keys and values stand one above the other in `in_proj_weight`.

    All heads share the score, which is given (B, heads, n, d_k) and (B, heads, m, d_k). It may be a module,
    such as `General(64, 64)`: what that learns is then learned, moved and saved with the rest.
    """

    def __init__(self, d_model: int, heads: int, dropout: float = 0.0, score: Score = scaled_dot) -> None:
        super().__init__()
        require.divisor(heads, d_model)
        require.dropout(dropout)
        self.d_model = d_model
        self.heads = heads
        self.dropout = dropout
        self.score = score
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Vectors,
        key: Vectors | None = None,
        value: Vectors | None = None,
        mask: Mask | None = None,
        need_weights: bool = True,
        cache: Cache | None = None,
    ) -> tuple[Vectors, Weights | None]:
        """`attention(x)` is self-attention, and `attention(x, memory)` cross-attention.

        Without a key the query is the key, and without a value the key is the value. The mask is (B, n, m),
        with 1 in place of B or n where all see alike, as attnlab.masks makes it. The weights are
        (B, heads, n, m). With a cache, what it remembers stands before the keys and values given.
        """
        key = query if key is None else key
        value = key if value is None else value
        for name, x in {"query": query, "key": key, "value": value}.items():
            require.axes(name, x, batch=None, length=None, d_model=self.d_model)
        query_weight, key_weight, value_weight = self.in_proj_weight.chunk(3)
        query_bias, key_bias, value_bias = self.in_proj_bias.chunk(3)
        keys = self._split(F.linear(key, key_weight, key_bias))
        values = self._split(F.linear(value, value_weight, value_bias))
        if cache is not None:
            keys, values = cache.extended(keys, values)
        output, weights = attend(
            self._split(F.linear(query, query_weight, query_bias)),
            keys,
            values,
            score=self.score,
            mask=None if mask is None else for_heads(mask),
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
        )
        output = output.transpose(1, 2).flatten(2)  # (B, n, heads, d_k), then (B, n, d_model)
        return self.out_proj(output), weights

    def _split(self, x: Vectors) -> Tensor:
        """`_split(x)` is (B, heads, length, d_k): each head has d_k neighbours of the d_model numbers."""
        x = x.view(*x.shape[:2], self.heads, -1)  # (B, length, heads, d_k)
        # A view straight to (B, heads, length, d_k) would have the right shape, and mix the tokens.
        return x.transpose(1, 2)


def _scores_shape(query: Queries, key: Keys) -> tuple[int, ...]:
    return (*require.leading_axes(query=query, key=key), query.shape[-2], key.shape[-2])
