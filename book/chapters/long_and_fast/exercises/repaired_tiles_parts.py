"""What `check_repaired_tiles` asks with, in parts that can be mistaken."""

import math

import torch
from torch import Tensor

from attnlab.shapes import Keys, Queries, Values
from bookkit.checking.mistakes import Part


def _hidden(rows: int, columns: int, top: int, left: int) -> Tensor:
    """Of one tile, whose first query and key are `top` and `left`."""
    return torch.ones(rows, columns, dtype=torch.bool, device="cpu").triu(top - left + 1)


def _kept(before: Tensor, highest: Tensor) -> Tensor:
    return (before - highest).exp()


def _tiled(
    query: Queries,
    key: Keys,
    value: Values,
    tile: int,
    causal: bool,
    *,
    hidden: Part = _hidden,
    kept: Part = _kept,
    total: Part = lambda kept, total, weights: kept * total + weights.sum(1, keepdim=True),
    mixed: Part = lambda kept, mixed, weights, values: kept * mixed + weights @ values,
    fill: float = -math.inf,
    causal_always: bool = False,
) -> Tensor:
    n, outputs = len(query), []
    for top in range(0, n, tile):
        queries = query[top : top + tile]
        highest = query.new_full((len(queries), 1), -math.inf)
        summed, blend = torch.zeros_like(highest), value.new_zeros(len(queries), value.shape[-1])
        for left in range(0, n, tile):
            scores = queries @ key[left : left + tile].T / math.sqrt(query.shape[-1])  # (tile, tile)
            if causal or causal_always:
                scores = scores.masked_fill(hidden(*scores.shape, top, left), fill)
            before, highest = highest, torch.maximum(highest, scores.amax(1, keepdim=True))
            weights, factor = (scores - highest).exp(), kept(before, highest)
            summed = total(factor, summed, weights)
            blend = mixed(factor, blend, weights, value[left : left + tile])
        outputs.append(blend / summed)
    return torch.cat(outputs)  # (n, d_v)
