"""The additive score in parts that can be mistaken, and inputs for it: what two exercises share."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.shapes import Keys, Queries, Scores
from bookkit.checking.inputs import draw


def _scores(
    query: Queries,
    key: Keys,
    query_weight: Tensor,
    key_weight: Tensor,
    vector: Tensor,
    *,
    project: Callable[..., Tensor] = lambda vectors, weight: vectors @ weight.mT,
    join: Callable[..., Tensor] = lambda asked, offered: (asked + offered).tanh(),
    finish: Callable[..., Tensor] = lambda hidden, vector: hidden @ vector,
) -> Scores:
    """The additive score in parts, each of which can be mistaken."""
    asked, offered = project(query, query_weight), project(key, key_weight)
    # (…, n, 1, h) and (…, 1, m, h) -> (…, n, m, h) -> (…, n, m)
    return finish(join(asked.unsqueeze(-2), offered.unsqueeze(-3)), vector)


def _sized(seed: int, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Drawn inputs; the two weights are smaller, so that tanh is not at its ends."""
    *others, query_weight, key_weight, vector = draw(seed, *shapes, dtype=dtype)
    return [*others, query_weight / 4, key_weight / 4, vector]
