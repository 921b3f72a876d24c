"""Attention in parts that can be mistaken: what a soft look-up and kernel regression have in common."""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.mistakes import mixed
from bookkit.checking.mistakes.weighing import softmax


def _squared_distance(query: Queries, key: Keys) -> Scores:
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)  # (…, n, m, d)
    return difference.square().sum(-1)


def _attention(
    query: Queries,
    key: Keys,
    value: Values,
    number: float | Tensor,
    *,
    compare: Callable[..., Scores],
    score: Callable[..., Scores],
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    """What both functions do, in parts that can be mistaken; the number is what the scores depend on."""
    return mixed(weigh(score(compare(query, key), number)), value)


_regression = partial(
    _attention,
    compare=_squared_distance,
    score=lambda squared, bandwidth: -squared / (2 * bandwidth**2),
)
