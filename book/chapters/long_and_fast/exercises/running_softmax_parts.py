"""What `check_running_softmax` asks with, in parts that can be mistaken."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.shapes import Keys, Values
from bookkit.checking.mistakes import Part


class _State(NamedTuple):
    """What is known of the keys so far."""

    highest: Tensor  # () score
    total: Tensor  # () sum of exponentials
    mixed: Tensor  # (d_v,) values, mixed by them


def _scores(query: Tensor, keys: Keys) -> Tensor:
    return keys @ query / math.sqrt(len(query))  # (m,)


def _highest(before: Tensor, scores: Tensor) -> Tensor:
    return torch.maximum(before, scores.max())


def _kept(before: Tensor, highest: Tensor) -> Tensor:
    return (before - highest).exp()


def _nothing(query: Tensor, values: Values) -> _State:
    zero = query.new_zeros(())
    return _State(zero - math.inf, zero, values.new_zeros(values.shape[-1]))


def _running_softmax(
    query: Tensor,
    chunks: list[tuple[Keys, Values]],
    *,
    start: Part = _nothing,
    scored: Part = _scores,
    highest: Part = _highest,
    power: Part = torch.exp,
    kept: Part = _kept,
    total: Part = lambda kept, total, weights: kept * total + weights.sum(),
    mixed: Part = lambda kept, mixed, weights, values: kept * mixed + weights @ values,
    divided: Part = lambda state: state.mixed / state.total,
) -> Tensor:
    """What attention gives one query whose keys and values come chunk by chunk: (d_v,)."""
    state = start(query, chunks[0][1])
    for keys, values in chunks:
        if len(keys) == 0:
            continue
        scores = scored(query, keys)
        now = highest(state.highest, scores)
        weights, factor = power(scores - now), kept(state.highest, now)
        state = _State(now, total(factor, state.total, weights), mixed(factor, state.mixed, weights, values))
    output: Tensor = divided(state)
    return output
