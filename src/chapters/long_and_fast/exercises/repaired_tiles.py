"""Repair attention in tiles that forgets to rescale, and hides by places in the tile."""

import math
from functools import partial

import torch
from torch import Tensor

from attnlab.shapes import Keys, Queries, Values
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, Part, in_parts


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
    root: Part = lambda query, keys: math.sqrt(query.shape[-1]),
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
            keys = key[left : left + tile]
            scores = queries @ keys.T / root(query, keys)  # (tile, tile)
            if causal or causal_always:
                scores = scores.masked_fill(hidden(*scores.shape, top, left), fill)
            before, highest = highest, torch.maximum(highest, scores.amax(1, keepdim=True))
            weights, factor = (scores - highest).exp(), kept(before, highest)
            summed = total(factor, summed, weights)
            blend = mixed(factor, blend, weights, value[left : left + tile])
        outputs.append(blend / summed)
    return torch.cat(outputs)  # (n, d_v)


def _not_rescaled(before: Tensor, highest: Tensor) -> Tensor:
    """The colleague's: what was before is what is now."""
    return torch.ones_like(highest)


def _in_each_tile(rows: int, columns: int, top: int, left: int) -> Tensor:
    """The colleague's: places are counted from the tile's corner."""
    return _hidden(rows, columns, 0, 0)


def _on_the_diagonal(rows: int, columns: int, top: int, left: int) -> Tensor:
    return _hidden(rows, columns, 0, 0) if top == left else torch.zeros(rows, columns, device="cpu").bool()


def _diagonal_too(rows: int, columns: int, top: int, left: int) -> Tensor:
    hidden = _hidden(rows, columns, top, left)
    return torch.ones_like(hidden) if top == left > 0 else hidden


def _whole_tiles(rows: int, columns: int, top: int, left: int) -> Tensor:
    return torch.full((rows, columns), left > top, device="cpu")


_BOTH: Mistakes = {
    "still broken": (
        "Both faults are still there. Which maximum is `before` when the factor is made? And where in the "
        "whole table does a tile begin?",
        partial(_tiled, kept=_not_rescaled, hidden=_in_each_tile),
    )
}
MISTAKES: Mistakes = _BOTH | in_parts(
    _tiled,
    kept={
        "not rescaled": (
            "Causal tiles are right now. Still, nothing is rescaled: `before` must be the maximum from "
            "before this tile was seen.",
            _not_rescaled,
        ),
        "rescaled the wrong way": (
            "The exponent has the wrong sign: what was summed grows when the maximum rises. The factor is "
            "exp(old − new), at most 1.",
            lambda before, highest: torch.where(before.isinf(), 0.0, (highest - before).exp()),
        ),
    },
    total={
        "sum not rescaled": (
            "The mixed values are rescaled, and the sum is not. Both were made with the old maximum.",
            lambda kept, total, weights: total + weights.sum(1, keepdim=True),
        )
    },
    mixed={
        "output not rescaled": (
            "The sum is rescaled, and the mixed values are not. Both were made with the old maximum.",
            lambda kept, mixed, weights, values: mixed + weights @ values,
        )
    },
    hidden={
        "hidden by places in the tile": (
            "The rescaling is right now. Still, each tile hides its own upper corner, wherever it stands. "
            "Query top + i may see key left + j where that is not later.",
            _in_each_tile,
        ),
        "hidden on the diagonal alone": (
            "Tiles right of the diagonal hide nothing, and there every key is later than every query. Leave "
            "these tiles out, or hide all of them.",
            _on_the_diagonal,
        ),
        "hidden by whole tiles": (
            "Tiles right of the diagonal are hidden, and those on it show all: there a query still sees keys "
            "that come later.",
            _whole_tiles,
        ),
        "tiles on the diagonal left out": (
            "But for the first, tiles on the diagonal are left out. There a query sees itself.",
            _diagonal_too,
        ),
        "the past hidden": (
            "The wrong corner is hidden: a tile is moved by top − left, and you move it by left − top.",
            lambda rows, columns, top, left: _hidden(rows, columns, left, top),
        ),
        "moved by the row alone": (
            "You move what is hidden by the tile's row alone. Its column counts as well: by top − left.",
            lambda rows, columns, top, left: _hidden(rows, columns, top, 0),
        ),
        "moved by the column alone": (
            "You move what is hidden by the tile's column alone. Its row counts as well: by top − left.",
            lambda rows, columns, top, left: _hidden(rows, columns, 0, left),
        ),
        "the next one shown": (
            "Each query sees the next key, too. Hide from the first diagonal above: `triu(top - left + 1)`.",
            lambda rows, columns, top, left: _hidden(rows, columns, top + 1, left),
        ),
        "itself hidden, too": (
            "No query sees itself, and the first sees nothing. Hide from the diagonal above: `+ 1`.",
            lambda rows, columns, top, left: _hidden(rows, columns, top - 1, left),
        ),
        "transposed": (
            "Hidden is the lower corner: each query sees itself and what comes later.",
            lambda rows, columns, top, left: (
                torch.ones(rows, columns, device="cpu").tril(top - left - 1).bool()
            ),
        ),
    },
    root={
        "root of the tile": (
            "The scores are divided by the root of the number of keys in a tile. It is √d_k, in every tile.",
            lambda query, keys: math.sqrt(len(keys)),
        ),
    },
    fill={
        "0 in the place of −∞": (
            "What is hidden gets a score of 0, and so some weight. Give it a score of −∞.",
            0.0,  # type: ignore[dict-item]
        )
    },
    causal_always={
        "always causal": (
            "It hides what comes later where nobody asked for it: `causal` may be False.",
            True,  # type: ignore[dict-item]
        )
    },
)


# Each query's best key is the first: so none of a later tile has a higher score.
_QUERIES = exact([2, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0])
_FALLING = exact([4, 0, 0, 0], [3, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0])
_VALUES = exact([8, 0], [0, 1], [2, 2], [4, -2])


def _drawn(label: str, seed: int, n: int, tile: int, *, causal: bool) -> Case:
    return Case(label, *draw(seed, (n, 4), (n, 4), (n, 3)), tile, causal)


check_repaired_tiles = Exercise(
    "repaired_tiles",
    difficulty=3,
    minutes=25,
    takes=("query", "key", "value", "tile", "causal"),
    returns=("output",),
    reference=_tiled,
    cases=(
        _drawn("right with one tile", 1, 4, 4, causal=False),
        _drawn("right with one causal tile", 4, 4, 5, causal=True),
        Case("right where the first tile scores highest", _QUERIES, _FALLING, _VALUES, 2, False),
        Case("right where a later tile scores higher", _QUERIES, _FALLING.flip(0), _VALUES, 2, False),
        Case("right in causal tiles", _QUERIES, _FALLING, _VALUES, 2, True),
        _drawn("right where tiles do not divide it", 7, 7, 3, causal=False),
        _drawn("right in all of this", 10, 8, 3, causal=True),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
