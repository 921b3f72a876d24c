"""Attention tile by tile: the table of scores is never there as a whole, forward or on the way back."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnlab import require
from attnlab.shapes import Keys, Queries, Scores, Values


def tiled(query: Queries, key: Keys, value: Values, tile: int = 128, causal: bool = False) -> Tensor:
    """`tiled(query, key, value)` is the output of attention, (…, n, d_v), from 128 × 128 scores at a time.

    >>> query, key, value = torch.tensor([[9.0], [0.0]]), torch.tensor([[9.0], [-9.0]]), torch.eye(2)
    >>> tiled(query, key, value, tile=1).tolist()
    [[1.0, 0.0], [0.5, 0.5]]

    With `causal` the queries are the last n of the m positions, as in attnlab.masks. The way back makes the
    weights anew, and is closed to second derivatives and to vmap.
    """
    require.at_least(1, tile=tile)
    leading = require.leading_axes(query=query, key=key, value=value)
    require.axes("key", key, "…", m=None, d_k=query.shape[-1])
    require.axes("value", value, "…", m=key.shape[-2], d_v=None)
    require.full_precision(query=query, key=key, value=value)
    if causal:
        require.last_positions(query.shape[-2], key.shape[-2])
    batch = math.prod(leading)
    flat = (
        each.expand(*leading, *each.shape[-2:]).reshape(batch, *each.shape[-2:])
        for each in (query, key, value)
    )
    output: Tensor = _Tiled.apply(*flat, tile, causal)  # type: ignore[no-untyped-call]  # (batch, n, d_v)
    return output.view(*leading, *output.shape[-2:])


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Queries, key: Keys, value: Values, tile: int, causal: bool) -> Tensor:
        (batch, n, d_k), m, d_v = query.shape, key.shape[1], value.shape[-1]
        output = query.new_empty(batch, n, d_v)
        sums = query.new_empty(batch, n, 1)  # for each query the logarithm of its sum of exponentials
        for rows, all_columns in _tiles(n, m, tile, causal):
            queries = query[:, rows] / math.sqrt(d_k)  # (batch, tile, d_k)
            # What is known so far: the highest score, the sum of exponentials, and the values mixed by them.
            highest = torch.full_like(sums[:, rows], -math.inf)  # (batch, tile, 1)
            total, mixed = torch.zeros_like(highest), torch.zeros_like(output[:, rows])  # (batch, tile, d_v)
            for columns in all_columns:
                scores = _scores(queries, key[:, columns], rows, columns, m - n if causal else None)
                before, highest = highest, torch.maximum(highest, scores.amax(-1, keepdim=True))
                weights = scores.sub_(highest).exp_()  # (batch, tile, tile)
                kept = before.sub_(highest).exp_()  # what was summed is too large by this factor
                total.mul_(kept).add_(weights.sum(-1, keepdim=True))
                mixed.mul_(kept).baddbmm_(weights, value[:, columns])
            # The highest alone makes it 1, so that nothing is clamped but the 0 of no keys at all.
            output[:, rows] = mixed.div_(total.clamp_(min=1))
            sums[:, rows] = total.log_().add_(highest)
        ctx.save_for_backward(query, key, value, output, sums)
        ctx.tile, ctx.causal = tile, causal
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        require.create_graph_off("tiled")
        query, key, value, output, sums = ctx.saved_tensors
        (_, n, d_k), m = query.shape, key.shape[1]
        of_query, of_key, of_value = (torch.zeros_like(each) for each in (query, key, value))
        # Weights sum to 1: pulling at one pushes the others, by what all of them together were pulled.
        together = (gradient * output).sum(-1, keepdim=True)  # (batch, n, 1)
        for rows, all_columns in _tiles(n, m, ctx.tile, ctx.causal):
            queries, pulled = query[:, rows] / math.sqrt(d_k), gradient[:, rows]
            for columns in all_columns:
                keys, ahead = key[:, columns], m - n if ctx.causal else None
                weights = _scores(queries, keys, rows, columns, ahead).sub_(sums[:, rows]).exp_()
                of_value[:, columns].baddbmm_(weights.mT, pulled)
                of_weights = torch.bmm(pulled, value[:, columns].mT)  # (batch, tile, tile)
                of_scores = of_weights.sub_(together[:, rows]).mul_(weights)
                of_query[:, rows].baddbmm_(of_scores, keys)
                of_key[:, columns].baddbmm_(of_scores.mT, queries)
        return of_query.div_(math.sqrt(d_k)), of_key, of_value, None, None


def _tiles(n: int, m: int, tile: int, causal: bool) -> Iterator[tuple[slice, list[slice]]]:
    """Slices of the queries, each with those slices of the keys in which it sees any."""
    for start in range(0, n, tile):
        stop = min(start + tile, n)
        end = stop + m - n if causal else m
        yield slice(start, stop), [slice(left, min(left + tile, end)) for left in range(0, end, tile)]


def _scores(queries: Queries, keys: Keys, rows: slice, columns: slice, ahead: int | None) -> Scores:
    """One tile of the table; query i sees the keys up to i + ahead, and all where that is None."""
    scores = torch.bmm(queries, keys.mT)  # (batch, tile, tile)
    if ahead is not None and columns.stop > rows.start + ahead + 1:
        hidden = torch.ones(scores.shape[1:], dtype=torch.bool, device=scores.device)
        scores.masked_fill_(hidden.triu_(rows.start + ahead + 1 - columns.start), -math.inf)
    return scores
