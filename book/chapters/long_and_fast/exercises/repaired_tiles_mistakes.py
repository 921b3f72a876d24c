"""The mistakes that `check_repaired_tiles` knows by name."""

from functools import partial

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.long_and_fast.exercises.repaired_tiles_parts import _hidden, _tiled


def _not_rescaled(before: Tensor, highest: Tensor) -> Tensor:
    """The colleague's: what was before is what is now."""
    return torch.ones_like(highest)


def _in_each_tile(rows: int, columns: int, top: int, left: int) -> Tensor:
    """The colleague's: places are counted from the tile's corner."""
    return _hidden(rows, columns, 0, 0)


def _on_the_diagonal(rows: int, columns: int, top: int, left: int) -> Tensor:
    return _hidden(rows, columns, 0, 0) if top == left else torch.zeros(rows, columns, device="cpu").bool()


def _whole_tiles(rows: int, columns: int, top: int, left: int) -> Tensor:
    return torch.full((rows, columns), left > top, device="cpu")


_BOTH: Mistakes = {
    "still broken": (
        "Both faults are still there. Which maximum is `before` when the factor is made? And where in the "
        "whole table does a tile begin?",
        partial(_tiled, kept=_not_rescaled, hidden=_in_each_tile),
    ),
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
        ),
    },
    mixed={
        "output not rescaled": (
            "The sum is rescaled, and the mixed values are not. Both were made with the old maximum.",
            lambda kept, mixed, weights, values: mixed + weights @ values,
        ),
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
        "the past hidden": (
            "The wrong corner is hidden: a tile is moved by top − left, and you move it by left − top.",
            lambda rows, columns, top, left: _hidden(rows, columns, left, top),
        ),
        "the next one shown": (
            "Each query sees the next key, too. Hide from the first diagonal above: `triu(top - left + 1)`.",
            lambda rows, columns, top, left: _hidden(rows, columns, top + 1, left),
        ),
        "transposed": (
            "Hidden is the lower corner: each query sees itself and what comes later.",
            lambda rows, columns, top, left: (
                torch.ones(rows, columns, device="cpu").tril(top - left - 1).bool()
            ),
        ),
    },
    fill={
        "0 in the place of −∞": (
            "What is hidden gets a score of 0, and so some weight. Give it a score of −∞.",
            0.0,  # type: ignore[dict-item]
        ),
    },
    causal_always={
        "always causal": (
            "It hides what comes later where nobody asked for it: `causal` may be False.",
            True,  # type: ignore[dict-item]
        ),
    },
)
