"""How many values come back by their keys, out of a state of 16 × 16 numbers."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator

PAIRS = (4, 8, 16, 32, 64)
SEEDS, TEXTS = 5, 40  # of each seed

Way = Callable[[Tensor, Tensor, Tensor], Tensor]


@cache
def texts() -> dict[int, list[Tensor]]:
    """`keys, values = texts()[8]` are (200, 8, 16), and twice as many values, all of length 1."""
    dice, drawn = generator(2), {}
    for n in PAIRS:
        both = [torch.randn(SEEDS * TEXTS, times * n, 16, generator=dice) for times in (1, 2)]
        drawn[n] = [F.normalize(each, dim=-1) for each in both]
    return drawn


def right(way: Way, n: int, times: int = 1) -> Tensor:
    """`right(by_delta, 16, times=2)` is the share of keys whose newest value comes back, by seed (5,)."""
    key, value = texts()[n][0], texts()[n][1][:, : times * n]
    found = way(key, key.repeat(1, times, 1), value)  # (200, n, 16)
    asked = torch.arange(n) + (times - 1) * n  # the newest value of each key
    each = ((found @ value.mT).argmax(-1) == asked).float().mean(-1)  # of each text
    return each.view(SEEDS, TEXTS).mean(1)


def by_decay(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`by_decay(query, key, value)` finds less of what is longer ago."""
    left = 0.95 ** torch.arange(key.shape[-2] - 1, -1, -1)[:, None]
    return query @ ((left * key).mT @ value)


def by_delta(query: Tensor, key: Tensor, value: Tensor, share: float = 0.5) -> Tensor:
    """`by_delta(query, key, value)` has written only what was missing, or a share of that."""
    state = torch.zeros(len(key), key.shape[-1], value.shape[-1])
    for k, v in zip(key.split(1, dim=1), value.split(1, dim=1), strict=True):
        state = state + share * k.mT @ (v - k @ state)
    return query @ state


def by_features(query: Tensor, key: Tensor, value: Tensor, longer: float = 1000) -> Tensor:
    """`by_features(query, key, value)` makes keys and queries longer, and all their numbers positive."""
    query, key = (F.elu(longer * each) + 1 for each in (query, key))
    # To divide changes no direction, and so not what is nearest.
    return query @ (key.mT @ value)
