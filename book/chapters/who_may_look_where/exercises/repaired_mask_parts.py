"""What `check_repaired_mask` asks with, in parts that can be mistaken."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Mask, Queries, Scores, Values, Weights
from bookkit.checking.mistakes import mixed
from bookkit.checking.mistakes.weighing import softmax
from chapters.who_may_look_where.exercises.masks_in_parts import Table, _ones


def _hidden(
    scores: Scores, hidden: Mask, value: float = -math.inf, weigh: Callable[[Scores], Weights] = softmax
) -> Weights:
    return weigh(scores.masked_fill(hidden, value))


def _decoder(
    query: Queries,
    key: Keys,
    value: Values,
    lengths: Lengths,
    *,
    future: Table = lambda n: _ones(n).triu(1),
    filler: Table = lambda places, lengths: places >= lengths[:, None],
    join: Table = lambda future, filler: future | filler[:, None],
    hide: Callable[..., Weights] = _hidden,
) -> tuple[Tensor, Weights]:
    n = query.shape[-2]
    hidden = join(future(n), filler(torch.arange(n, device="cpu"), lengths))  # (B, n, n)
    return mixed(hide(scaled_dot(query, key), hidden), value)
