"""Rotate each column with the one half a width further."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.where_am_i.exercises.waves import _radian


def _turned_halves(
    vectors: Tensor,
    *,
    places: Callable[[int], Tensor] = lambda length: torch.arange(length, device="cpu"),
    apart: Callable[[Tensor], tuple[Tensor, ...]] = lambda vectors: vectors.chunk(2, dim=-1),
    turn: Callable[..., tuple[Tensor, Tensor]] = lambda x, y, sin, cos: (
        x * cos - y * sin,
        x * sin + y * cos,
    ),
    together: Callable[[tuple[Tensor, Tensor]], Tensor] = lambda pair: torch.cat(pair, dim=-1),
    **radian: Callable[..., Any],
) -> Tensor:
    """Rotary in parts that can be mistaken; what is left over are the parts of `_radian`."""
    length, d_k = vectors.shape[-2:]
    columns = torch.arange(
        0, d_k, 2, device="cpu", dtype=torch.float64
    )  # the first of each pair, in the paper
    angle = places(length).unsqueeze(-1) / _radian(columns, d_k, 10000.0, **radian)  # (T, d_k / 2)
    sin, cos = angle.sin().to(vectors.dtype), angle.cos().to(vectors.dtype)
    return together(turn(*apart(vectors), sin, cos))


_NEIGHBOURS: Mistakes = {
    "neighbours": (
        "This turns neighbours, as the paper does. Here column i turns with column i + d_k/2: take the "
        "vectors apart in the middle.",
        lambda vectors: _turned_halves(
            vectors,
            apart=lambda vectors: (vectors[..., 0::2], vectors[..., 1::2]),
            together=lambda pair: torch.stack(pair, dim=-1).flatten(-2),
        ),
    ),
    "halves woven": (
        "The halves are turned rightly, and then woven like neighbours. Put them back side by side.",
        lambda vectors: _turned_halves(vectors, together=lambda pair: torch.stack(pair, dim=-1).flatten(-2)),
    ),
    "neighbours side by side": (
        "This turns neighbours and puts the results side by side. The columns must come back where they "
        "were: take the vectors apart in the middle.",
        lambda vectors: _turned_halves(
            vectors, apart=lambda vectors: (vectors[..., 0::2], vectors[..., 1::2])
        ),
    ),
}


check_rotated_halves = Exercise(
    "rotated_halves",
    difficulty=2,
    minutes=10,
    takes=("vectors",),
    returns=("turned",),
    reference=_turned_halves,
    cases=(
        # A single row stands at position 0, where nothing turns.
        Case("right for a single vector", *draw(51, (1, 4))),
        Case("right for one pair of columns", *draw(52, (3, 2))),
        Case("right for several pairs", *draw(53, (5, 8))),
        Case("right for a batch with heads", *draw(54, (2, 3, 4, 8))),
        Case("right in float64", *draw(55, (2, 6, 4), dtype=torch.float64)),
    ),
    mistakes=_NEIGHBOURS
    | in_parts(
        _turned_halves,
        turn={
            "turned back": (
                "The vectors turn the other way round: it is x·cos − y·sin, and x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos + y * sin, y * cos - x * sin),
            ),
            "a sign lost": (
                "One sign is wrong, so that lengths change: it is x·cos − y·sin, and x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos + y * sin, x * sin + y * cos),
            ),
            "added": (
                "This adds the table to the vectors. Rotary adds nothing: it turns.",
                lambda x, y, sin, cos: (x + sin, y + cos),
            ),
            "multiplied": (
                "Each half is multiplied by one wave alone. Both parts of a pair mix: x·cos − y·sin, and "
                "x·sin + y·cos.",
                lambda x, y, sin, cos: (x * cos, y * sin),
            ),
        },
        places={
            "positions from 1": (
                "The positions begin with 1. The first vector stands at 0, and does not turn.",
                lambda length: torch.arange(1, length + 1, device="cpu"),
            ),
        },
        exponent={
            "exponent doubled": (
                "The exponent is twice too large. Pair i has 2i / d_k; arange(0, d_k, 2) is 2i already.",
                lambda column, d_k: 2 * column / d_k,
            ),
            "exponent halved": (
                "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is 2i / "
                "d_k.",
                lambda column, d_k: column / 2 / d_k,
            ),
        },
        power={
            "power upside down": (
                "The power is upside down: later pairs turn more slowly, not faster.",
                lambda base, exponent: base**-exponent,
            ),
            "one angle for all": (
                "All pairs turn alike. Each has its own frequency, 10000 to the power of −2i / d_k.",
                lambda base, exponent: torch.ones_like(exponent),
            ),
        },
    ),
)
