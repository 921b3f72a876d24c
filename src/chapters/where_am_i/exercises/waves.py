"""Angles, sines and cosines of positions, in parts that can be mistaken."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes


def _pair_start(column: Any) -> Any:
    """The first column of the pair that a column, or each of a tensor of them, belongs to."""
    return column - column % 2


def _radian(
    column: Any,
    d_model: int,
    base: float,
    *,
    exponent: Callable[..., Any] = lambda column, d_model: _pair_start(column) / d_model,
    power: Callable[..., Any] = pow,
) -> Any:
    """How many positions it takes a column, or each of a tensor of them, to turn by 1."""
    return power(base, exponent(column, d_model))


_EXPONENTS: Mistakes = {
    "exponent doubled": (
        "The exponent is twice too large. Pair i has 2i / d_model; where i goes 0, 2, 4, … it is 2i already.",
        lambda column, d_model: 2 * _pair_start(column) / d_model,
    ),
    "exponent halved": (
        "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is 2i / d_model.",
        lambda column, d_model: column // 2 / d_model,
    ),
    "an angle for each column": (
        "Right for even columns; but the odd ones have an angle of their own. Sine and cosine come in pairs "
        "that share one: columns 0 and 1, columns 2 and 3.",
        lambda column, d_model: column / d_model,
    ),
    "column doubled": (
        "The exponent is twice too large, and odd columns have one of their own. i numbers the pairs: "
        "columns 6 and 7 are pair 3, and 2i is 6.",
        lambda column, d_model: 2 * column / d_model,
    ),
    "pairs from column 1": (
        "Your pairs are one column off. Columns are counted from 0: 0 and 1 are the first pair.",
        lambda column, d_model: _pair_start(column + 1) / d_model,
    ),
    "last pair at the base": (
        "Your exponents go from 0 to 1, so that the last pair reaches the base. Other code does that, too; "
        "here pair i has 2i / d_model, and the last one stops short of 1.",
        lambda column, d_model: column // 2 / max(d_model // 2 - 1, 1),
    ),
}


_POWERS: Mistakes = {
    "power upside down": (
        "The power is upside down: later pairs of columns turn more slowly, so that their waves are longer.",
        lambda base, exponent: base**-exponent,
    ),
    "10000 for every base": (
        "Right for base 10000. But the base is an input, and the code does not use it.",
        lambda base, exponent: 10000.0**exponent,
    ),
    "base 1000": (
        "The numbers fit a base that is ten times smaller than the one given.",
        lambda base, exponent: (base / 10) ** exponent,
    ),
}


def _waves(angles: Tensor) -> Tensor:
    return torch.stack((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1).flatten(-2)


def _table(
    length: int,
    d_model: int,
    base: float,
    *,
    places: Callable[[int], Tensor] = lambda length: torch.arange(length, device="cpu"),
    wave: Callable[[Tensor], Tensor] = _waves,
    **turn: Callable[..., Any],
) -> Tensor:
    """The table in parts, each of which can be mistaken; what is left over are the parts of `_radian`."""
    columns = torch.arange(d_model, device="cpu", dtype=torch.float64)
    # An angle for each column, though pairs share theirs: (length, 1) / (d_model,) -> (length, d_model)
    return wave(places(length).unsqueeze(-1) / _radian(columns, d_model, base, **turn)).float()


_PLACES: Mistakes = {
    "positions from 1": (
        "The positions begin with 1. The first word stands at 0, and its row is 0, 1, 0, 1, …",
        lambda length: torch.arange(1, length + 1, device="cpu"),
    ),
}


_WAVES: Mistakes = {
    "sine in every column": (
        "Both columns of each pair are sines. The odd ones hold the cosine of the same angle; without it row "
        "0 is all zeros.",
        torch.sin,
    ),
    "cosine in every column": (
        "Both columns of each pair are cosines. The even ones hold the sine of the same angle.",
        torch.cos,
    ),
    "sine and cosine swapped": (
        "Sines and cosines have changed places: column 0 is a sine, so row 0 begins 0, 1.",
        lambda angles: torch.stack((angles[:, 0::2].cos(), angles[:, 1::2].sin()), dim=-1).flatten(-2),
    ),
    "all sines first": (
        "All sines stand in the left half and all cosines in the right. Other libraries do that, too, but "
        "here sine and cosine of one angle are neighbours.",
        lambda angles: torch.cat((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1),
    ),
    "angles alone": (
        "These are the angles, each one twice. Take the sine of one and the cosine of the other.",
        lambda angles: angles,
    ),
}
