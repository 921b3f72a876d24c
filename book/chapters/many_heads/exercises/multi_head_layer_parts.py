"""What `check_multi_head_layer` asks with, in parts that can be mistaken."""

import math
from typing import Any

from torch import Tensor, nn

from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.mistakes import Part
from bookkit.checking.mistakes.weighing import softmax
from chapters.many_heads.exercises.heads import _NAMES, _join, _projected, _split


def _for_all_heads(mask: Mask) -> Tensor:
    return mask.unsqueeze(1)  # (B, 1, n, m)


def _hidden(scores: Scores, mask: Tensor | None) -> Weights:
    return softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf))


class _Layer(nn.Module):
    """The whole layer in parts, each of which can be mistaken."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        refuse: Part = lambda d_model, heads: d_model % heads,
        project: Part = _projected,
        split: Part = _split,
        divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
        for_heads: Part = _for_all_heads,
        weigh: Part = _hidden,
        join: Part = _join,
        finish: Part = lambda layer, joined, query: layer.W_O(joined),
        answer: Part = lambda output, weights: (output, weights),
    ) -> None:
        super().__init__()
        if refuse(d_model, heads):
            raise ValueError("heads must divide d_model")
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in _NAMES)
        self.parts = project, split, divisor, for_heads, weigh, join, finish, answer

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None = None) -> Any:
        project, split, divisor, for_heads, weigh, join, finish, answer = self.parts
        queries, keys, values = (split(x, self.heads) for x in project(self, query, key, value))
        weights = weigh(queries @ keys.mT / divisor(queries, keys), None if mask is None else for_heads(mask))
        return answer(finish(self, join(weights @ values), query), weights)
